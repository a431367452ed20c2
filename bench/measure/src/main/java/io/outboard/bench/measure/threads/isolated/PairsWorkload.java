package io.outboard.bench.measure.threads.isolated;

import io.outboard.bench.measure.threads.ThreadSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;

/** Producers allocate and consumers free; see {@code ThreadProfile.PAIRS}. Workers with even numbers are producers. */
final class PairsWorkload extends Workload {

    private final List<Ring> rings = new ArrayList<>();
    private final List<Draws> draws = new ArrayList<>();

    PairsWorkload(final ThreadSettings settings) {
        // The ring limits how many blocks are live: as many as a thread should have, or a little more.
        final int capacity = Math.max(2, Integer.highestOneBit(2 * settings.liveBlocks() - 1));
        for (int i = 0; i < settings.threads(); i++) {
            rings.add(new Ring(capacity));
            draws.add(new Draws(settings, 1, i + 1L));
        }
    }

    @Override
    int workers() {
        return 2 * rings.size();
    }

    @Override
    void work(final int worker, final Blocks blocks, final Round round, final Tally tally) {
        final Ring ring = rings.get(worker / 2);
        if (worker % 2 == 0) {
            produce(ring, draws.get(worker / 2), blocks, round, tally);
        } else {
            consume(ring, blocks, round, tally);
        }
    }

    private static void produce(
            final Ring ring, final Draws draws, final Blocks blocks, final Round round, final Tally tally) {
        // The count is in a local variable, since tallies of neighbours may share a cache line.
        long operations = 0;
        while (!round.isOver()) {
            final long address = blocks.allocate(Draws.bytes(draws.next()));
            operations++;
            boolean offered = ring.offer(address);
            for (int waits = 0; !offered && !round.isOver(); waits++) {
                Round.pause(waits);
                offered = ring.offer(address);
            }
            if (!offered) {
                // The consumer has stopped, so there will be no room.
                blocks.free(address);
            }
        }
        tally.operations = operations;
    }

    private static void consume(final Ring ring, final Blocks blocks, final Round round, final Tally tally) {
        long operations = 0;
        int waits = 0;
        while (!round.isOver()) {
            final long address = ring.poll();
            if (address == Blocks.NO_BLOCK) {
                Round.pause(waits++);
            } else {
                waits = 0;
                blocks.free(address);
                operations++;
            }
        }
        tally.operations = operations;
    }

    @Override
    void forEachLeft(final LongConsumer address) {
        for (final Ring ring : rings) {
            for (long left = ring.poll(); left != Blocks.NO_BLOCK; left = ring.poll()) {
                address.accept(left);
            }
        }
    }
}
