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
import org.openjdk.jcstress.infra.results.JJ_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** What threads do to an arena without its lock: end a block of it, send it home, and read its counters. */
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
            starts.set(256, 256);
        }

        @Actor
        public void first(final ZZ_Result result) {
            result.r1 = starts.clear(256) != 0;
        }

        @Actor
        public void second(final ZZ_Result result) {
            result.r2 = starts.clear(256) != 0;
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
            starts.set(256, 256);
        }

        @Actor
        public void freeing() {
            starts.clear(256);
        }

        @Actor
        public void taking() {
            starts.set(512, 256);
        }

        @Arbiter
        public void after(final ZZ_Result result) {
            result.r1 = starts.contains(256);
            result.r2 = starts.contains(512);
        }
    }

    /**
     * The first block in a page is freed by whoever was told of it, and a stranger finds the page whole or not at all.
     */
    @JCStressTest
    @Outcome(id = "true, false", expect = Expect.ACCEPTABLE, desc = "it starts here")
    @Outcome(id = "false, false", expect = Expect.ACCEPTABLE, desc = "not yet")
    @Outcome(expect = Expect.FORBIDDEN, desc = "something starts where nothing does")
    @State
    public static class FirstOfAPage {

        private final BlockStarts starts = new BlockStarts(0, 64 * 256, 256);

        @Actor
        public void taking() {
            starts.set(256, 512);
        }

        @Actor
        public void asking(final ZZ_Result result) {
            result.r1 = starts.contains(256);
            result.r2 = starts.contains(512);
        }
    }

    private static Arenas arenas() {
        return new Arenas(true, UNIT, UNIT, 2);
    }

    private static Segment segmentOf(final Arena arena, final long address) {
        final Region region = new Region(address, UNIT);
        final Segment segment =
                new Segment(arena, region, new OneBlockProvider().create(region, StrategyOptions.DEFAULTS), null, 1, 1);
        arena.add(segment);
        return segment;
    }

    private static RemoteFrees.Batch batchOf(final Segment segment, final long address) {
        segment.strategy.allocate(1);
        final RemoteFrees.Batch batch = new RemoteFrees.Batch();
        batch.add(segment.id, address, UNIT);
        return batch;
    }

    /** Two threads send a batch while the owner unpacks: each block is freed once, now or later. */
    @JCStressTest
    @Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "nothing is in use any more")
    @Outcome(expect = Expect.FORBIDDEN, desc = "a batch was lost")
    @State
    public static class Inbox {

        private final Arena arena = arenas().all()[1];
        private final Segment[] segments = {segmentOf(arena, UNIT), segmentOf(arena, 2 * UNIT)};
        private final RemoteFrees.Batch one = batchOf(segments[0], UNIT);
        private final RemoteFrees.Batch other = batchOf(segments[1], 2 * UNIT);

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
            arena.trySettle();
        }

        @Arbiter
        public void after(final I_Result result) {
            arena.trySettle();
            for (final Segment segment : segments) {
                result.r1 += segment.strategy.liveBlocks();
            }
        }
    }

    /**
     * Two threads free one block of a third one's arena, from homes of their own: one is refused, and it comes home
     * once.
     */
    @JCStressTest
    @Outcome(id = "1", expect = Expect.ACCEPTABLE, desc = "freed once")
    @Outcome(expect = Expect.FORBIDDEN, desc = "freed twice, or lost")
    @State
    public static class RemoteFreeOfOneBlock {

        private final Arenas arenas = new Arenas(true, UNIT, UNIT, 3);
        private final Segment segment = segmentOf(arenas.all()[0], UNIT);
        private final long address = arenas.all()[0].allocate(1, 1);
        private boolean byFirst;
        private boolean bySecond;

        @Actor
        public void first() {
            byFirst = arenas.all()[1].freeRemotely(segment, segment.starts, address) != Arena.NOT_FREED;
        }

        @Actor
        public void second() {
            bySecond = arenas.all()[2].freeRemotely(segment, segment.starts, address) != Arena.NOT_FREED;
        }

        @Arbiter
        public void after(final I_Result result) {
            arenas.settle();
            result.r1 = (byFirst ? 1 : 0) + (bySecond ? 1 : 0) + 2 * segment.strategy.liveBlocks();
        }
    }

    /** A number is whole, and one that was there: no half of it, and never less than before. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "both reads came first")
    @Outcome(id = "0, 4295032832", expect = Expect.ACCEPTABLE, desc = "the allocation came between")
    @Outcome(id = "4295032832, 4295032832", expect = Expect.ACCEPTABLE, desc = "the allocation came first")
    @Outcome(expect = Expect.FORBIDDEN, desc = "half a number, or one that goes back")
    @State
    public static class WholeNumbers {

        /** Has bits in both halves. */
        private static final long BYTES = 0x1_0001_0000L;

        private final Arena arena = arenas().all()[0];

        public WholeNumbers() {
            final Region region = new Region(UNIT, BYTES);
            arena.add(new Segment(
                    arena, region, new OneBlockProvider().create(region, StrategyOptions.DEFAULTS), null, 1, 1));
        }

        @Actor
        public void allocator() {
            arena.allocate(1, 1);
        }

        @Actor
        public void reader(final JJ_Result result) {
            result.r1 = arena.usedBytes();
            result.r2 = arena.usedBytes();
        }
    }
}
