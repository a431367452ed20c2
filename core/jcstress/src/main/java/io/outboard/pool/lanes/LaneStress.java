package io.outboard.pool.lanes;

import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;
import io.outboard.pool.OneBlockProvider;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** What threads do to a lane without its lock: end a block of it, and send it home. */
public final class LaneStress {

    private static final long UNIT = 1 << 20;

    private LaneStress() {}

    /** Two threads free one block: one of them is refused, at once. */
    @JCStressTest
    @Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "the first was faster")
    @Outcome(id = "false, true", expect = Expect.ACCEPTABLE, desc = "the second was faster")
    @Outcome(expect = Expect.FORBIDDEN, desc = "a block was freed twice, or by nobody")
    @State
    public static class TwoFrees {

        private final Starts starts = new Starts(0, 64 * 256, 256);

        public TwoFrees() {
            starts.set(256);
        }

        @Actor
        public void first(final ZZ_Result result) {
            result.r1 = starts.clear(256);
        }

        @Actor
        public void second(final ZZ_Result result) {
            result.r2 = starts.clear(256);
        }
    }

    /** The owner takes a block while another thread frees its neighbour, in the next byte: both are remembered. */
    @JCStressTest
    @Outcome(id = "false, true", expect = Expect.ACCEPTABLE, desc = "one ended, one is in use")
    @Outcome(expect = Expect.FORBIDDEN, desc = "one change overwrote the other")
    @State
    public static class Neighbours {

        private final Starts starts = new Starts(0, 64 * 256, 256);

        public Neighbours() {
            starts.set(256);
        }

        @Actor
        public void freeing() {
            starts.clear(256);
        }

        @Actor
        public void taking() {
            starts.set(512);
        }

        @Arbiter
        public void after(final ZZ_Result result) {
            result.r1 = starts.contains(256);
            result.r2 = starts.contains(512);
        }
    }

    private static Lane lane() {
        return new Lanes(LimboRules.NONE, 1, new ChunkStrategies(new OneBlockProvider(), StrategyOptions.DEFAULTS))
                .lane(1);
    }

    private static Parcel parcelOf(final Lane lane, final long address) {
        final Region region = new Region(address, UNIT);
        final Part part = Part.chunk(region, new OneBlockProvider().create(region, StrategyOptions.DEFAULTS), lane);
        lane.parts.add(part);
        part.strategy.allocate(1);
        final Parcel parcel = new Parcel();
        parcel.add(part, address);
        return parcel;
    }

    /** Two threads send a parcel while the owner unpacks: each block is freed once, now or later. */
    @JCStressTest
    @Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "nothing is in use any more")
    @Outcome(expect = Expect.FORBIDDEN, desc = "a parcel was lost")
    @State
    public static class Inbox {

        private final Lane lane = lane();
        private final Parcel one = parcelOf(lane, UNIT);
        private final Parcel other = parcelOf(lane, 2 * UNIT);
        private final Part[] parts = lane.parts.all();

        @Actor
        public void first() {
            lane.mail.receive(one);
        }

        @Actor
        public void second() {
            lane.mail.receive(other);
        }

        @Actor
        public void owner() {
            lane.tryUnpack();
        }

        @Arbiter
        public void after(final I_Result result) {
            lane.tryUnpack();
            for (final Part part : parts) {
                result.r1 += part.strategy.liveBlocks();
            }
        }
    }
}
