package io.outboard.pool;

import io.outboard.core.StrategyOptions;
import io.outboard.core.VirtualMemorySource;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** Two threads close a buffer: its block is freed once, which the pool would refuse a second time. */
@JCStressTest
@Outcome(id = "0, 0, 0", expect = Expect.ACCEPTABLE, desc = "freed once")
@Outcome(expect = Expect.FORBIDDEN, desc = "freed twice, or not at all")
@State
public class DeviceBufferStress {

    private final Pool pool = Pool.over(new VirtualMemorySource())
            .strategy("one-block", StrategyOptions.DEFAULTS)
            .firstRegionBytes(1 << 21)
            .build();
    private final DeviceBuffer buffer = pool.buffer(1);

    @Actor
    public void first(final III_Result result) {
        result.r1 = close();
    }

    @Actor
    public void second(final III_Result result) {
        result.r2 = close();
    }

    @Arbiter
    public void blocksInUse(final III_Result result) {
        result.r3 = (int) pool.statistics().liveBlocks();
    }

    private int close() {
        try {
            buffer.close();
            return 0;
        } catch (final RuntimeException e) {
            return 1;
        }
    }
}
