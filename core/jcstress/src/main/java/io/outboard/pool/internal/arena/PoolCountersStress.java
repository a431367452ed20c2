package io.outboard.pool.internal.arena;

import io.outboard.pool.PoolStatistics;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;
import org.openjdk.jcstress.infra.results.J_Result;

/** An arena's counters, read without its lock. */
public final class PoolCountersStress {

    private static final long BYTES = 0x1_0000_0001L;

    private PoolCountersStress() {}

    /** A number is whole, and one that was there: no half of it, and never less than before. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "both reads came first")
    @Outcome(id = "0, 4294967297", expect = Expect.ACCEPTABLE, desc = "the allocation came between")
    @Outcome(id = "4294967297, 4294967297", expect = Expect.ACCEPTABLE, desc = "the allocation came first")
    @Outcome(expect = Expect.FORBIDDEN, desc = "half a number, or one that goes back")
    @State
    public static class WholeNumbers {

        private final PoolCounters counters = new PoolCounters();

        @Actor
        public void allocator() {
            counters.allocated(BYTES);
        }

        @Actor
        public void reader(final JJ_Result result) {
            result.r1 = counters.usedBytes();
            result.r2 = counters.usedBytes();
        }
    }

    /** Numbers of one reading may be from different moments, yet what is computed from them stays in range. */
    @JCStressTest
    @Outcome(id = "4096", expect = Expect.ACCEPTABLE, desc = "before the allocation, or after the free")
    @Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "between; or in limbo and in use, each from another moment")
    @Outcome(expect = Expect.FORBIDDEN, desc = "more is free than the pool holds, or less than nothing")
    @State
    public static class FreeBytes {

        private final PoolCounters counters = new PoolCounters();

        @Actor
        public void allocator() {
            counters.allocated(4096);
            counters.freed(4096, 4096);
            counters.limbo(0);
        }

        @Actor
        public void reader(final J_Result result) {
            result.r1 = new PoolStatistics(
                            1, 4096, 4096, counters.usedBytes(), counters.limboBytes(), 0, 0, 0, 0, 0, 0, 0, 0)
                    .freeBytes();
        }
    }
}
