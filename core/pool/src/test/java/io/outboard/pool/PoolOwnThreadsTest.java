package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.outboard.core.VirtualMemorySource;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A pool asks its device on the threads that call the pool, and has no thread of its own for that. */
class PoolOwnThreadsTest {

    private static final long MIB = 1L << 20;

    /** A thread of the pool used to spin between questions, which took three times the program's CPU time. */
    @ParameterizedTest
    @EnumSource(value = ReusePolicy.class, names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldAskTheDeviceOnItsCallersThreadsAlone(final ReusePolicy policy) {
        final Set<Thread> askedBy = ConcurrentHashMap.newKeySet();
        final DeviceWork device = new SteadyDevice(true) {
            @Override
            public long mark() {
                askedBy.add(Thread.currentThread());
                return super.mark();
            }

            @Override
            public boolean isFinished(final long mark) {
                askedBy.add(Thread.currentThread());
                return super.isFinished(mark);
            }
        };
        final Pool pool = Pool.over(new VirtualMemorySource(64 * MIB))
                .name("own-threads-" + policy)
                .firstRegionBytes(64 * MIB)
                .reuse(policy, device)
                .build();

        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < 300; i++) {
                pool.free(pool.allocate(MIB / 8));
            }
            assertEquals(Set.of(), ownThreads());
        }
        pool.free(pool.allocate(60 * MIB));
        pool.close();

        assertEquals(Set.of(Thread.currentThread()), askedBy);
    }

    /** Returns the threads of this test's pools. Those of other tests give idle memory back or look for leaks. */
    private static Set<String> ownThreads() {
        final Set<String> names = new HashSet<>();
        for (final Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().contains("own-threads-") || thread.getName().contains("synchronizer")) {
                names.add(thread.getName());
            }
        }
        return names;
    }

    /**
     * On this device, a kernel always runs, and only ends when the program has done a step of its own. A thread that
     * waits for it waits forever.
     */
    private static final class Kernels extends IdleDevice {

        private long ended;
        private boolean over;

        void endOne() {
            ended++;
        }

        void endAll() {
            over = true;
        }

        @Override
        public long mark() {
            return ended;
        }

        @Override
        public long mark(final long stream) {
            return ended;
        }

        @Override
        public boolean isFinished(final long mark) {
            return over || ended > mark;
        }

        @Override
        public void await(final long mark) {
            if (!isFinished(mark)) {
                throw new AssertionError("waits for a kernel though it may grow");
            }
        }
    }

    /** As in the example KernelsInFlight, an allocation used to take as long as a kernel. */
    @ParameterizedTest
    @EnumSource(value = ReusePolicy.class, names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldNotWaitForKernelsWhilePoolsThatGrowAreSmall(final ReusePolicy policy) {
        final Kernels device = new Kernels();
        assertTimeoutPreemptively(Duration.ofSeconds(20), () -> {
            final Pool pool = Pool.over(new FailingMemorySource(1024 * MIB).growingInPlace())
                    .firstRegionBytes(64 * MIB)
                    .reuse(policy, device)
                    .build();
            final SplittableRandom random = new SplittableRandom(7);
            for (int step = 0; step < 100; step++) {
                final long[] buffers = new long[8];
                for (int i = 0; i < buffers.length; i++) {
                    buffers[i] = pool.allocate(random.nextLong(MIB, 4 * MIB));
                }
                for (final long buffer : buffers) {
                    pool.free(buffer);
                }
                device.endOne();
            }
            device.endAll();
            pool.close();
        });
    }

    @Test
    void shouldAskNobodyWithoutADevice() {
        final Pool pool = Pool.over(new VirtualMemorySource(64 * MIB)).build();

        for (int i = 0; i < 10_000; i++) {
            pool.free(pool.allocate(MIB));
        }

        assertEquals(0, pool.statistics().synchronizations());
        assertEquals(0, pool.statistics().limboBytes());
        pool.close();
    }
}
