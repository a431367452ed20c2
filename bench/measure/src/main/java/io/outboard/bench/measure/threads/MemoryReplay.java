package io.outboard.bench.measure.threads;

import io.outboard.bench.cli.trace.Trace;
import io.outboard.pool.Pool;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Several threads replay their parts of a sequence of operations on one pool, at about the same pace. No thread gets
 * much more than {@link #MOST_AHEAD} operations ahead of the slowest, so the bytes live at a time are those of the
 * trace, or a little more. The slowest never waits, so there is no deadlock. Confined to one thread, which waits for
 * the others.
 */
final class MemoryReplay {

    /**
     * The most operations that a thread may be ahead: a thousandth of a trace of the usual length, too little to change
     * the live bytes by much.
     */
    private static final long MOST_AHEAD = 1_000;

    /** One in this many of the first thread's operations warms the pool up. */
    private static final int EARLY_SHARE = 10;

    private static final int CHUNK = 50;
    private static final long PAUSE_NS = 20_000;

    private final Pool pool;
    private final List<Part> parts;
    private final AtomicLongArray progress;
    private final AtomicLong liveBytes = new AtomicLong();
    private final AtomicLong peakLiveBytes = new AtomicLong();
    private volatile long earlyMappings;
    private volatile boolean failed;

    /**
     * A part has one thread's operations: the number of slots that they use, the operations in the trace's layout, and
     * the ascending position of each in the whole sequence, by which the pace is measured.
     */
    static final class Part {
        final int slots;
        final long[] operations;
        final long[] positions;

        Part(final int slots, final long[] operations, final long[] positions) {
            this.slots = slots;
            this.operations = operations;
            this.positions = positions;
        }
    }

    /**
     * The result says how much memory the pool held, and how the pool came by it.
     *
     * @param heldBytes when all operations were done
     * @param peakLiveBytes the most bytes that were live at once, as requested
     * @param mappings how often the pool took, moved or returned memory
     * @param lateMappings of these, those after the first tenth of the operations
     */
    record Held(long heldBytes, long peakLiveBytes, long mappings, long lateMappings) {}

    MemoryReplay(final Pool pool, final List<Part> parts) {
        this.pool = pool;
        this.parts = parts;
        this.progress = new AtomicLongArray(parts.size());
    }

    /**
     * Deals a trace's operations to threads. Each block goes to one thread by its number, with its allocation and its
     * free, so no thread waits for another's block.
     */
    static List<Part> deal(final Trace trace, final int threads) {
        final long[] operations = trace.operations();
        final int[] threadOf = new int[trace.slots()];
        final int[] thread = new int[operations.length];
        final int[] counts = new int[threads];
        long block = 0;
        for (int i = 0; i < operations.length; i++) {
            final int slot = Trace.slot(operations[i]);
            if (!Trace.isFree(operations[i])) {
                threadOf[slot] = (int) (block++ % threads);
            }
            thread[i] = threadOf[slot];
            counts[thread[i]]++;
        }
        final List<Part> parts = new ArrayList<>();
        for (final int count : counts) {
            parts.add(new Part(trace.slots(), new long[count], new long[count]));
        }
        final int[] next = new int[threads];
        for (int i = 0; i < operations.length; i++) {
            final Part part = parts.get(thread[i]);
            final int at = next[thread[i]]++;
            part.operations[at] = operations[i];
            part.positions[at] = i;
        }
        return parts;
    }

    /** Makes a part for each trace. */
    static List<Part> each(final List<Trace> traces) {
        final List<Part> parts = new ArrayList<>();
        for (final Trace trace : traces) {
            final long[] positions = new long[trace.operationCount()];
            for (int i = 0; i < positions.length; i++) {
                positions[i] = i;
            }
            parts.add(new Part(trace.slots(), trace.operations(), positions));
        }
        return parts;
    }

    /** Makes one part from all traces, with an operation of each in turn. */
    static List<Part> interleaved(final List<Trace> traces) {
        final int length = traces.stream().mapToInt(Trace::operationCount).sum();
        final long[] operations = new long[length];
        final long[] positions = new long[length];
        int count = 0;
        for (int i = 0; count < length; i++) {
            int firstSlot = 0;
            for (final Trace trace : traces) {
                if (i < trace.operationCount()) {
                    final long operation = trace.operations()[i];
                    final int slot = firstSlot + Trace.slot(operation);
                    final long bytes = Trace.bytes(operation);
                    operations[count] =
                            Trace.isFree(operation) ? Trace.free(slot, bytes) : Trace.allocation(slot, bytes);
                    positions[count] = count;
                    count++;
                }
                firstSlot += trace.slots();
            }
        }
        return List.of(new Part(traces.stream().mapToInt(Trace::slots).sum(), operations, positions));
    }

    /**
     * Runs the parts, and frees the blocks that are left.
     *
     * @throws IllegalStateException if a thread fails
     */
    Held run() throws InterruptedException {
        final ExecutorService executor = Executors.newFixedThreadPool(parts.size());
        try {
            final List<Future<long[]>> results = new ArrayList<>();
            for (int i = 0; i < parts.size(); i++) {
                final int number = i;
                results.add(executor.submit(() -> work(number)));
            }
            final List<long[]> left = new ArrayList<>();
            for (final Future<long[]> result : results) {
                left.add(result.get());
            }
            final long heldBytes = pool.statistics().heldBytes();
            final long mappings = pool.statistics().mappings();
            for (final long[] addresses : left) {
                for (final long address : addresses) {
                    if (address != 0) {
                        pool.free(address);
                    }
                }
            }
            if (pool.statistics().liveBlocks() != 0) {
                throw new IllegalStateException("nothing must be in use when all has been freed");
            }
            return new Held(heldBytes, peakLiveBytes.get(), mappings, mappings - earlyMappings);
        } catch (final ExecutionException e) {
            throw new IllegalStateException("a thread failed: " + e.getCause(), e);
        } finally {
            executor.shutdownNow();
        }
    }

    /** Does one part, and returns the addresses by slot, 0 where no block is in use. */
    private long[] work(final int number) {
        final Part part = parts.get(number);
        final long[] addresses = new long[part.slots];
        boolean done = false;
        try {
            for (int i = 0; i < part.operations.length && !failed; i++) {
                if (i % CHUNK == 0) {
                    keepPace(number, part.positions[i]);
                }
                replay(part.operations[i], addresses);
                if (number == 0 && i == part.operations.length / EARLY_SHARE) {
                    earlyMappings = pool.statistics().mappings();
                }
            }
            done = true;
            return addresses;
        } finally {
            failed |= !done;
            // The other threads must not wait for a thread that has nothing left to do.
            progress.set(number, Long.MAX_VALUE);
        }
    }

    private void replay(final long operation, final long[] addresses) {
        final int slot = Trace.slot(operation);
        final long bytes = Trace.bytes(operation);
        if (Trace.isFree(operation)) {
            final long address = addresses[slot];
            addresses[slot] = 0;
            liveBytes.addAndGet(-bytes);
            pool.free(address);
        } else {
            addresses[slot] = pool.allocate(bytes);
            peakLiveBytes.accumulateAndGet(liveBytes.addAndGet(bytes), Math::max);
        }
    }

    private void keepPace(final int number, final long position) {
        progress.set(number, position);
        while (position - slowest() > MOST_AHEAD && !failed) {
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    private long slowest() {
        long slowest = Long.MAX_VALUE;
        for (int i = 0; i < progress.length(); i++) {
            slowest = Math.min(slowest, progress.get(i));
        }
        return slowest;
    }
}
