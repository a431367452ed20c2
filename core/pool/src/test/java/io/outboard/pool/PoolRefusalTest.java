package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Effort;
import io.outboard.core.VirtualMemorySource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A request is refused only if nothing could serve it. All blocks have one size, so nothing is fragmented, and there
 * are never more in use than there is room for. The device is busy, so much of the rest is in limbo. Then no request
 * may be refused, whichever thread overtakes another.
 */
@Timeout(120)
class PoolRefusalTest {

    private static final long MIB = 1L << 20;
    private static final int STREAMS = 4;
    private static final long NANOSECONDS = Effort.nanoseconds(2400);

    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final AtomicLong operations = new AtomicLong();

    /** The blocks that another thread will free. */
    private final Queue<Long> handed = new ConcurrentLinkedQueue<>();

    @ParameterizedTest
    @CsvSource({
        "STRICT, 2, 1024, 1.5, 0, true, false",
        "STRICT, 2, 1024, 1.5, 2, false, false",
        "STRICT, 8, 1024, 4, 0, false, false",
        "STRICT, 8, 1024, 4, 4, true, true",
        "STRICT, 16, 64, 2, 0, true, false",
        "STRICT, 16, 64, 2, 4, false, true",
        "TRACKED, 2, 1024, 1.5, 2, true, true",
        "TRACKED, 8, 1024, 4, 0, false, true",
        "TRACKED, 16, 64, 2, 4, true, false",
        "STREAM_ORDERED, 2, 1024, 1.5, 0, true, false",
        "STREAM_ORDERED, 2, 1024, 1.5, 2, false, true",
        "STREAM_ORDERED, 8, 1024, 4, 4, true, false",
        "STREAM_ORDERED, 16, 64, 2, 0, false, true",
        "STREAM_ORDERED, 16, 64, 2, 4, true, false"
    })
    void shouldRefuseNothingThatThereIsRoomFor(
            final ReusePolicy policy,
            final int threads,
            final long sizeKiB,
            final double factor,
            final int arenas,
            final boolean inPlace,
            final boolean othersFree)
            throws Exception {
        final int each = 10;
        final long sizeBytes = sizeKiB << 10;
        final long limitBytes = roundUp((long) ((double) threads * each * sizeBytes * factor));
        final BusyDevice device = new BusyDevice(STREAMS, 64, 40_000);
        final Pool pool = Pool.over(new VirtualMemorySource())
                .reuse(policy, device)
                .growInPlace(inPlace)
                .firstRegionBytes(limitBytes)
                .limitBytes(limitBytes)
                .spread(arenas)
                .build();
        final Semaphore permits = new Semaphore(threads * each);
        final long end = System.nanoTime() + NANOSECONDS;
        final List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            final Worker worker = new Worker(pool, device, permits, i, sizeBytes, othersFree);
            all.add(new Thread(() -> worker.runUntil(end)));
        }
        all.forEach(Thread::start);
        for (final Thread thread : all) {
            thread.join();
        }

        assertNull(failure.get(), () -> "after " + operations + " operations: " + failure.get());
        handed.forEach(pool::free);
        assertTrue(operations.get() > 100, operations::toString);
        assertEquals(0, pool.statistics().failures());
        device.close();
        assertEquals(0, pool.statistics().usedBytes());
        assertEquals(0, pool.trimTo(0));
        pool.close();
        assertEquals(0, device.marksOut());
        assertNull(device.wrongUse());
    }

    private static long roundUp(final long bytes) {
        return (bytes + 2 * MIB - 1) & -(2 * MIB);
    }

    /** A worker frees its oldest block, which a kernel may be using, and allocates a new one. */
    private final class Worker {

        private final Pool pool;
        private final BusyDevice device;
        private final Semaphore permits;
        private final SplittableRandom random;
        private final int stream;
        private final long sizeBytes;
        private final boolean othersFree;
        private final Queue<Long> live = new ArrayDeque<>();

        Worker(
                final Pool pool,
                final BusyDevice device,
                final Semaphore permits,
                final int number,
                final long sizeBytes,
                final boolean othersFree) {
            this.pool = pool;
            this.device = device;
            this.permits = permits;
            this.sizeBytes = sizeBytes;
            this.othersFree = othersFree;
            random = new SplittableRandom(number);
            stream = number % STREAMS;
        }

        void runUntil(final long end) {
            try {
                // On a busy machine, the time may be over before anything has happened.
                for (int round = 0; (round < 4 || System.nanoTime() < end) && failure.get() == null; round++) {
                    for (int i = 0; i < 64; i++) {
                        operate();
                    }
                    operations.addAndGet(64);
                }
                while (!live.isEmpty()) {
                    free();
                }
            } catch (final RuntimeException | Error e) {
                failure.compareAndSet(null, e);
            }
        }

        /** Frees a block and allocates one. Nearly always, as many blocks are in use as may be. */
        private void operate() {
            while (!permits.tryAcquire() && failure.get() == null) {
                if (random.nextInt(8) == 0) {
                    device.launch(stream);
                }
                free();
            }
            if (failure.get() != null) {
                return;
            }
            live.add(random.nextBoolean() ? pool.allocateAsync(sizeBytes, stream) : pool.allocate(sizeBytes));
        }

        private void free() {
            Long block = live.poll();
            if (othersFree && block != null) {
                handed.add(block);
            }
            if (othersFree || block == null) {
                block = handed.poll();
            }
            if (block == null) {
                // Other threads hold all blocks.
                Thread.onSpinWait();
                return;
            }
            if (!othersFree && random.nextBoolean()) {
                pool.freeAsync(block, stream);
            } else {
                pool.free(block);
            }
            permits.release();
        }
    }
}
