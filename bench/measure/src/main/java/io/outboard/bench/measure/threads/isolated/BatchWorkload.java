package io.outboard.bench.measure.threads.isolated;

import io.outboard.bench.measure.threads.ThreadSettings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;

/**
 * Threads pass batches of blocks through one queue; see {@code ThreadProfile.XMALLOC}. Workers with even numbers
 * allocate. There are twice as many batches as pairs of workers, full and empty ones together, so that neither half
 * gets far ahead.
 */
final class BatchWorkload extends Workload {

    private static final int BATCH = 64;

    private final int pairs;
    private final BatchQueue full;
    private final BatchQueue empty;
    private final List<Draws> draws = new ArrayList<>();

    BatchWorkload(final ThreadSettings settings) {
        pairs = settings.threads();
        full = new BatchQueue(2 * pairs);
        empty = new BatchQueue(2 * pairs);
        for (int i = 0; i < pairs; i++) {
            empty.put(new long[BATCH]);
            empty.put(new long[BATCH]);
            draws.add(new Draws(settings, 1, i + 1L));
        }
    }

    @Override
    int workers() {
        return 2 * pairs;
    }

    @Override
    void work(final int worker, final Blocks blocks, final Round round, final Tally tally) throws InterruptedException {
        final boolean allocates = worker % 2 == 0;
        final BatchQueue from = allocates ? empty : full;
        final BatchQueue to = allocates ? full : empty;
        while (!round.isOver()) {
            final long[] batch = from.take(round);
            if (batch == null) {
                return;
            }
            try {
                if (allocates) {
                    fill(batch, blocks, draws.get(worker / 2));
                } else {
                    drain(batch, blocks);
                }
            } finally {
                // A batch that is half full is put, too, so that its blocks are found.
                to.put(batch);
            }
            tally.operations += batch.length;
        }
    }

    private static void fill(final long[] batch, final Blocks blocks, final Draws draws) {
        for (int i = 0; i < batch.length; i++) {
            batch[i] = blocks.allocate(Draws.bytes(draws.next()));
        }
    }

    /**
     * Frees the blocks of a batch. A batch is half full if its thread failed; it must not make this thread fail as
     * well, since this thread would be blamed.
     */
    private static void drain(final long[] batch, final Blocks blocks) {
        for (int i = 0; i < batch.length && batch[i] != Blocks.NO_BLOCK; i++) {
            final long address = batch[i];
            batch[i] = Blocks.NO_BLOCK;
            blocks.free(address);
        }
    }

    @Override
    void forEachLeft(final LongConsumer address) {
        for (long[] batch = full.takeNow(); batch != null; batch = full.takeNow()) {
            Arrays.stream(batch).filter(left -> left != Blocks.NO_BLOCK).forEach(address);
            Arrays.fill(batch, Blocks.NO_BLOCK);
            empty.put(batch);
        }
    }
}
