package io.outboard.pool;

import io.outboard.core.MemorySource;
import io.outboard.core.StrategyOptions;
import io.outboard.core.VirtualMemorySource;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** What a pool answers without its lock, while another thread changes its regions; and closing, raced. */
public final class PoolStress {

    private PoolStress() {}

    /** As small as a pool can be: a region is one block, from a strategy of a few fields. */
    private static Pool pool(final MemorySource source) {
        return Pool.over(source)
                .strategy("one-block", StrategyOptions.DEFAULTS)
                .firstRegionBytes(1 << 21)
                .limitBytes(1 << 21)
                .build();
    }

    /** Regions are published whole: an address is the pool's or isn't, and stays so until it is closed. */
    @JCStressTest
    @Outcome(id = "false, false", expect = Expect.ACCEPTABLE, desc = "asked before the pool grew")
    @Outcome(id = "false, true", expect = Expect.ACCEPTABLE, desc = "it grew between")
    @Outcome(id = "true, true", expect = Expect.ACCEPTABLE, desc = "asked after it grew")
    @Outcome(id = "true, false", expect = Expect.FORBIDDEN, desc = "a region is forgotten again")
    @State
    public static class GrowthAndContains {

        private final Pool pool = pool(new VirtualMemorySource());

        @Actor
        public void allocator() {
            pool.allocate(1);
        }

        @Actor
        public void reader(final ZZ_Result result) {
            result.r1 = pool.contains(VirtualMemorySource.region(1).address());
            result.r2 = pool.contains(VirtualMemorySource.region(1).address());
        }
    }

    /** An allocation races close: it is served or refused, and no region stays out. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "served, then closed")
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "refused, since it is closed")
    @Outcome(expect = Expect.FORBIDDEN, desc = "a region stays out, or something else was thrown")
    @State
    public static class AllocateAndClose {

        private final VirtualMemorySource source = new VirtualMemorySource(1 << 21);
        private final Pool pool = pool(source);

        @Actor
        public void allocator(final II_Result result) {
            try {
                pool.free(pool.allocate(1));
                result.r1 = 1;
            } catch (final IllegalStateException e) {
                result.r1 = 0;
            } catch (final RuntimeException e) {
                result.r1 = -1;
            }
        }

        @Actor
        public void closer() {
            pool.close();
        }

        @Arbiter
        public void regionsOut(final II_Result result) {
            result.r2 = source.availableBytes() == 1 << 21 ? 0 : 1;
        }
    }

    /** Two threads close: regions are given back once, which the source would refuse a second time. */
    @JCStressTest
    @Outcome(id = "0, 0, 0", expect = Expect.ACCEPTABLE, desc = "given back once")
    @Outcome(expect = Expect.FORBIDDEN, desc = "given back twice, or not at all")
    @State
    public static class CloseTwice {

        private final VirtualMemorySource source = new VirtualMemorySource(1 << 21);
        private final Pool pool = pool(source);

        public CloseTwice() {
            pool.free(pool.allocate(1));
        }

        @Actor
        public void first(final III_Result result) {
            result.r1 = close();
        }

        @Actor
        public void second(final III_Result result) {
            result.r2 = close();
        }

        @Arbiter
        public void regionsOut(final III_Result result) {
            result.r3 = source.availableBytes() == 1 << 21 ? 0 : 1;
        }

        private int close() {
            try {
                pool.close();
                return 0;
            } catch (final RuntimeException e) {
                return 1;
            }
        }
    }
}
