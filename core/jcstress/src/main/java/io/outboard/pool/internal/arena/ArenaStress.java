package io.outboard.pool.internal.arena;

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

/** What threads do to an arena without its lock: end a block of it, and send it home. */
public final class ArenaStress {

    private static final long UNIT = 1 << 20;

    private ArenaStress() {}

    /** Two threads free one block: one of them is refused, at once. */
    @JCStressTest
    @Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "the first was faster")
    @Outcome(id = "false, true", expect = Expect.ACCEPTABLE, desc = "the second was faster")
    @Outcome(expect = Expect.FORBIDDEN, desc = "a block was freed twice, or by nobody")
    @State
    public static class TwoFrees {

        private final BlockStarts starts = new BlockStarts(0, 64 * 256, 256);

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

        private final BlockStarts starts = new BlockStarts(0, 64 * 256, 256);

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

    private static Arena arena() {
        return new Arenas(LimboRules.NONE, 1, new ChunkStrategies(new OneBlockProvider(), StrategyOptions.DEFAULTS))
                .arena(1);
    }

    private static RemoteFreeBatch parcelOf(final Arena arena, final long address) {
        final Region region = new Region(address, UNIT);
        final Segment part = Segment.chunk(region, new OneBlockProvider().create(region, StrategyOptions.DEFAULTS), arena);
        arena.parts.add(part);
        part.strategy.allocate(1);
        final RemoteFreeBatch batch = new RemoteFreeBatch();
        batch.add(part, address);
        return batch;
    }

    /** Two threads send a batch while the owner unpacks: each block is freed once, now or later. */
    @JCStressTest
    @Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "nothing is in use any more")
    @Outcome(expect = Expect.FORBIDDEN, desc = "a batch was lost")
    @State
    public static class Inbox {

        private final Arena arena = arena();
        private final RemoteFreeBatch one = parcelOf(arena, UNIT);
        private final RemoteFreeBatch other = parcelOf(arena, 2 * UNIT);
        private final Segment[] parts = arena.parts.all();

        @Actor
        public void first() {
            arena.remoteFrees.receive(one);
        }

        @Actor
        public void second() {
            arena.remoteFrees.receive(other);
        }

        @Actor
        public void owner() {
            arena.tryUnpack();
        }

        @Arbiter
        public void after(final I_Result result) {
            arena.tryUnpack();
            for (final Segment part : parts) {
                result.r1 += part.strategy.liveBlocks();
            }
        }
    }
}
