package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;
import io.outboard.core.VirtualMemorySource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One region grows and shrinks in place. {@link PoolGrowthTest} is about whole regions. */
class PoolGrowthInPlaceTest {

    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;

    private final FailingMemorySource source = new FailingMemorySource(GIB).growingInPlace();

    private PoolBuilder builder() {
        return Pool.over(source)
                .strategy("tlsf", new StrategyOptions(256, 1024))
                .firstRegionBytes(4 * MIB);
    }

    private static long heldMiB(final Pool pool) {
        return pool.statistics().heldBytes() / MIB;
    }

    @Test
    void shouldCommitInStepsAndPlaceBlocksOneAfterAnother() {
        final Pool pool = builder().build();

        final List<Long> held = new ArrayList<>();
        final List<Long> addresses = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            addresses.add(pool.allocate(3 * MIB));
            held.add(heldMiB(pool));
        }

        assertEquals(List.of(4L, 8L, 12L, 12L, 16L, 20L), held);
        for (int i = 0; i < 6; i++) {
            assertEquals(addresses.get(0) + 3 * MIB * i, addresses.get(i));
            assertEquals(3 * MIB, pool.sizeOf(addresses.get(i)));
        }
        assertEquals(1, pool.statistics().regions());
        assertEquals(0, source.takes());
    }

    @Test
    void shouldGrowByLittleForASmallBlock() {
        final Pool pool = builder().build();
        pool.allocate(640 * MIB);
        assertEquals(640, heldMiB(pool));

        pool.allocate(1);

        assertEquals(644, heldMiB(pool));
    }

    /** A steady program maps nothing, once the first tenth of its operations has shown how much it needs. */
    @Test
    void shouldMapNothingInASteadyProgram() {
        final Pool pool = Pool.over(source).firstRegionBytes(4 * MIB).build();
        final Random random = new Random(15);
        // The program could be a training step: it frees blocks in another order than it allocates them, some before
        // others are allocated.
        final long[] sizes = random.longs(64, 1, 8 * MIB).toArray();
        final long[] blocks = new long[sizes.length];
        final int[] order = IntStream.range(0, 2 * sizes.length)
                .boxed()
                .sorted(Comparator.comparingInt(i -> i < sizes.length ? 3 * i : 3 * ((i * 29) % sizes.length) + 50))
                .mapToInt(Integer::intValue)
                .toArray();
        long mappings = 0;
        long calls = 0;
        for (int step = 0; step < 1000; step++) {
            for (final int i : order) {
                final int slot = i < sizes.length ? i : (i * 29) % sizes.length;
                if (i < sizes.length) {
                    blocks[slot] = pool.allocate(sizes[slot]);
                } else {
                    pool.free(blocks[slot]);
                }
            }
            mappings = step == 99 ? pool.statistics().mappings() : mappings;
            calls = step == 99 ? source.calls() : calls;
        }
        assertTrue(mappings > 0);
        assertEquals(mappings, pool.statistics().mappings());
        assertEquals(calls, source.calls());
    }

    @Test
    void shouldServeOneBlockOfAllThatTheDeviceHas() {
        final Pool pool = builder().build();

        final long all = pool.allocate(GIB);

        assertEquals(0, source.availableBytes());
        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(1));
        pool.free(all);
        assertEquals(all, pool.allocate(GIB));
    }

    @Test
    void shouldTakeWholeRegionsIfToldTo() {
        final Pool pool = builder().growInPlace(false).build();

        pool.allocate(5 * MIB);

        assertEquals(1, source.takes());
        assertEquals(6, heldMiB(pool));
    }

    @Test
    void shouldGiveLimboBackBeforeItGrows() {
        final Pool pool = builder()
                .slackBytes(0)
                .reuse(ReusePolicy.STRICT, new SteadyDevice())
                .build();
        final long first = pool.allocate(4 * MIB);
        pool.trim(first, 4 * MIB);
        pool.free(first);

        assertEquals(first, pool.allocate(4 * MIB));

        assertEquals(4, heldMiB(pool));
    }

    /** The tail is only long enough after limbo is recycled, and only if more of the tail is committed. */
    @Test
    void shouldGrowAfterItWaitedForLimbo() {
        final Pool pool = builder()
                .firstRegionBytes(2 * MIB)
                .limitBytes(8 * MIB)
                .slackBytes(0)
                .reuse(ReusePolicy.STRICT, new SteadyDevice(true))
                .build();
        final long hole = pool.allocate(2 * MIB);
        final long wall = pool.allocate(256);
        final long last = pool.allocate(MIB / 2);
        assertEquals(4, heldMiB(pool));
        pool.free(hole);
        pool.free(last);

        final long block = pool.allocate(6 * MIB - MIB / 4);

        assertEquals(wall + 256, block);
        assertEquals(8, heldMiB(pool));
    }

    @Test
    void shouldCommitOnlyWhatIsNeededIfTheDeviceHasNoMore() {
        final VirtualMemorySource shared = new VirtualMemorySource(64 * MIB);
        final Pool pool = Pool.over(shared).firstRegionBytes(32 * MIB).build();
        final Region others = shared.take(50 * MIB);

        pool.allocate(9 * MIB);
        assertEquals(10, heldMiB(pool));
        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(6 * MIB));

        shared.giveBack(others);
        pool.allocate(6 * MIB);
        assertEquals(32, heldMiB(pool));
    }

    /** The tail that can't be committed fits best, so a strategy would choose it again and again. */
    @Test
    void shouldUseAHoleIfTheTailCannotBeCommitted() {
        final VirtualMemorySource shared = new VirtualMemorySource(64 * MIB);
        final Pool pool = Pool.over(shared).firstRegionBytes(2 * MIB).build();
        final long hole = pool.allocate(30 * MIB);
        final long wall = pool.allocate(18 * MIB);
        shared.take(shared.availableBytes());
        final long heldBytes = pool.statistics().heldBytes();
        pool.free(hole);

        final long block = pool.allocate(7 * MIB);

        assertEquals(hole, block);
        assertEquals(heldBytes, pool.statistics().heldBytes());
        pool.free(block);
        assertEquals(30 * MIB, pool.largestFreeBlockBytes());
        assertEquals(18 * MIB, pool.sizeOf(wall));
    }

    /** The hole is as large as the tail, and comes into the list of free blocks of that size behind the tail. */
    @ParameterizedTest
    @ValueSource(strings = {"tlsf", "segregated-fit", "pooled"})
    void shouldUseAHoleThatCameWhileTheTailCouldNotBeCommitted(final String strategy) {
        source.withAddresses(32 * MIB);
        final Pool pool = builder()
                .strategy(strategy, StrategyOptions.DEFAULTS)
                .slackBytes(0)
                .build();
        pool.allocate(15 * MIB);
        final long hole = pool.allocate(8 * MIB);
        pool.allocate(MIB);
        source.refuse(() -> {
            if (pool.statistics().usedBytes() == 24 * MIB) {
                pool.free(hole);
            }
            return DeviceOutOfMemoryException.ofDevice(1, 0, 1, "simulated");
        });

        assertEquals(hole, pool.allocate(8 * MIB));
    }

    /** A slab would lie in the tail, as none fits into a hole; but a block fits into a hole. */
    @Test
    void shouldUseAHoleIfASlabCannotBeCommitted() {
        final VirtualMemorySource shared = new VirtualMemorySource(64 * MIB);
        final Pool pool = Pool.over(shared)
                .strategy("pooled", StrategyOptions.DEFAULTS)
                .firstRegionBytes(2 * MIB)
                .build();
        shared.take(32 * MIB);
        final List<Long> blocks = new ArrayList<>();
        for (int i = 0; i < 128; i++) {
            blocks.add(pool.allocate(MIB / 4));
        }
        for (final long block : blocks) {
            pool.trim(block, MIB / 8);
        }

        for (int i = 0; i < 1000; i++) {
            assertTrue(pool.contains(pool.allocate(256L * (1 + i % 16))));
        }

        assertEquals(32, heldMiB(pool));
    }

    /** While the pool commits, another thread takes what was there, so the pool has to commit twice. */
    @Test
    void shouldCommitUpToTheLimitEvenInTheSecondRound() {
        final Pool pool = builder().limitBytes(8 * MIB).build();
        pool.allocate(2 * MIB);
        assertEquals(4, heldMiB(pool));
        source.failAt(1, () -> {
            pool.allocate(2 * MIB);
            return DeviceOutOfMemoryException.ofDevice(1, 0, 1, "simulated");
        });

        pool.allocate(3 * MIB);

        assertEquals(8, heldMiB(pool));
        assertEquals(7 * MIB, pool.statistics().usedBytes());
    }

    @Test
    void shouldGrowOnceTheDeviceHasMemoryAgain() {
        final Pool pool = builder().build();
        pool.allocate(4 * MIB);
        final long calls = source.calls();
        source.failAt(1, () -> DeviceOutOfMemoryException.ofDevice(1, 0, 1, "simulated"));

        pool.allocate(MIB);

        assertEquals(calls + 2, source.calls(), "the step, then what is needed");
        assertEquals(6, heldMiB(pool));
    }

    @Test
    void shouldCommitUpToTheLimitInWholeUnits() {
        final Pool pool = builder().limitBytes(7 * MIB + 100).build();
        pool.allocate(3 * MIB);
        pool.allocate(3 * MIB);

        assertEquals(6, heldMiB(pool));
        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(2 * MIB));
        assertTrue(pool.statistics().heldBytes() <= 7 * MIB + 100);
    }

    @Test
    void shouldTakeAWholeRegionIfTheLimitIsLessThanAUnit() {
        final Pool pool = Pool.over(new VirtualMemorySource()).limitBytes(MIB).build();

        pool.allocate(MIB);

        assertEquals(MIB, pool.statistics().heldBytes());
    }

    @Test
    void shouldCountRegionsThatFollowWhenTablesAreFull() {
        final Pool pool = builder()
                .strategy("tlsf", new StrategyOptions(256, 4))
                .limitBytes(8 * MIB)
                .build();

        for (int i = 0; i < 4; i++) {
            pool.allocate(256);
        }

        assertEquals(2, pool.statistics().regions());
        assertEquals(8, heldMiB(pool));
        assertEquals(0, pool.statistics().limitBytes() - pool.statistics().heldBytes());
    }

    @Test
    void shouldShowNothingOfWhatIsNotCommitted() {
        final Pool pool = builder().build();
        final long first = pool.allocate(MIB);

        final List<Long> sizes = new ArrayList<>();
        pool.forEachBlock((address, sizeBytes, free) -> sizes.add(free ? -sizeBytes : sizeBytes));

        assertEquals(List.of(MIB, -3 * MIB), sizes);
        assertEquals(3 * MIB, pool.largestFreeBlockBytes());
        assertTrue(pool.contains(first + 4 * MIB - 1));
        assertFalse(pool.contains(first + 4 * MIB));
        assertThrows(InvalidAddressException.class, () -> pool.free(first + 4 * MIB));
    }

    @Test
    void shouldCommitForABlockThatGrows() {
        final Pool pool = builder().limitBytes(64 * MIB).build();
        final long block = pool.allocate(MIB);

        assertTrue(pool.extend(block, 50 * MIB));

        assertEquals(50 * MIB, pool.sizeOf(block));
        assertEquals(50 * MIB, pool.statistics().usedBytes());
        assertEquals(50, heldMiB(pool));
        assertFalse(pool.extend(block, 64 * MIB + 1));
        assertEquals(50 * MIB, pool.sizeOf(block));
    }

    @Test
    void shouldLeaveABlockAsItIsIfNothingCanBeCommittedForIt() {
        final VirtualMemorySource shared = new VirtualMemorySource(64 * MIB);
        final Pool pool = Pool.over(shared).firstRegionBytes(2 * MIB).build();
        final long block = pool.allocate(MIB);
        shared.take(shared.availableBytes());

        assertFalse(pool.extend(block, 3 * MIB));

        assertEquals(MIB, pool.sizeOf(block));
        assertEquals(MIB, pool.statistics().usedBytes());
        assertTrue(pool.extend(block, 2 * MIB));
    }

    @Test
    void shouldGiveBackWhatLiesBehindTheLastBlock() {
        final Pool pool = builder().build();
        final List<Long> blocks = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            blocks.add(pool.allocate(4 * MIB));
        }
        pool.free(blocks.get(0));
        pool.free(blocks.get(6));
        pool.free(blocks.get(7));

        assertEquals(28 * MIB, pool.trimTo(28 * MIB));
        assertEquals(24 * MIB, pool.trimTo(24 * MIB));
        assertEquals(blocks.get(0), pool.allocate(4 * MIB));
        pool.free(blocks.get(0));
        assertEquals(20 * MIB, pool.trimTo(0), "five blocks are in use");

        assertEquals(GIB - 20 * MIB, source.availableBytes());
        assertEquals(blocks.get(6), pool.allocate(4 * MIB));
        assertEquals(blocks.get(7), pool.allocate(4 * MIB));
        assertEquals(28, heldMiB(pool));
    }

    @Test
    void shouldKeepMemoryOfBlocksInLimbo() {
        final Pool pool = builder()
                .reuse(ReusePolicy.STREAM_ORDERED, new SteadyDevice(true))
                .build();
        final long block = pool.allocate(8 * MIB);
        pool.freeAsync(block, 1);

        assertEquals(8 * MIB, pool.trimTo(0));

        assertEquals(8 * MIB, pool.statistics().limboBytes());
        assertTrue(pool.contains(block + 8 * MIB - 1));
    }

    @Test
    void shouldGiveAllBackAndGrowAgain() {
        final Pool pool = builder().build();
        final long first = pool.allocate(100 * MIB);
        pool.free(first);

        assertEquals(0, pool.trimTo(0));
        assertEquals(GIB, source.availableBytes());

        assertEquals(first, pool.allocate(MIB));
        assertEquals(4, heldMiB(pool));
    }

    @Test
    void shouldHoldWhatTheSourceStillHasIfShrinkingFails() {
        final Pool pool = builder().build();
        final long block = pool.allocate(8 * MIB);
        pool.free(block);
        source.failAt(1, () -> new IllegalStateException("the driver fails"));

        assertThrows(IllegalStateException.class, () -> pool.trimTo(0));

        assertEquals(GIB - source.availableBytes(), pool.statistics().heldBytes());
        assertEquals(8, heldMiB(pool));
        assertEquals(block, pool.allocate(8 * MIB));
        assertEquals(8, heldMiB(pool));
    }

    @Test
    void shouldGiveMemoryAndAddressesBackWhenItIsClosed() {
        final Pool pool = builder().build();
        pool.free(pool.allocate(8 * MIB));

        pool.close();

        assertEquals(0, source.regionsOut());
        assertEquals(GIB, source.availableBytes());
        assertEquals(0, pool.statistics().heldBytes());
    }

    /** A granule may be larger than the unit of committing, and a region may begin within a granule. */
    @Test
    void shouldPlaceByLargeGranules() {
        final FailingMemorySource large = new FailingMemorySource(1L << 40).growingInPlace();
        final long shift =
                large.reserve(2 * MIB, 1L << 40).orElseThrow().region().sizeBytes();
        final Pool pool = Pool.over(large)
                .strategy("tlsf", new StrategyOptions(64 * MIB, 1024))
                .build();

        final long block = pool.allocate(1);

        assertEquals(0, block % (64 * MIB));
        assertEquals(64 * MIB, pool.sizeOf(block));
        assertEquals(128 * MIB - shift, pool.statistics().heldBytes());
        pool.free(block);
        assertEquals(0, pool.trimTo(0));
    }

    /**
     * Each step used to take a busy device up to fifteen milliseconds, for which the caller waited. Steps that are too
     * small are too many.
     */
    @Test
    void shouldGrowInFewStepsWhileTheDeviceIsBusy() {
        final Pool pool = Pool.over(new FailingMemorySource(80 * GIB).growingInPlace())
                .reuse(ReusePolicy.STRICT, new GatedDevice())
                .build();
        pool.allocate(256);
        long held = pool.statistics().heldBytes();

        int steps = 0;
        for (int i = 0; i < 2000; i++) {
            final long sizeBytes = (1 + i % 4) * MIB;
            pool.free(pool.allocate(sizeBytes));

            final long more = pool.statistics().heldBytes() - held;
            // Up to the slack, which is 640 MiB, the pool grows by what it holds, at most by a quarter of the slack;
            // beyond, by a quarter of what it holds.
            final long most = (held < 704 * MIB ? Math.min(160 * MIB, held) : Math.min(256 * MIB, held / 4)) + 4 * MIB;
            held += more;
            steps += more > 0 ? 1 : 0;
            assertTrue(more <= most, () -> "grew by " + more / MIB + " MiB");
        }

        assertTrue(held >= 4 * GIB, "it was busy");
        assertTrue(steps <= 25, steps + " steps");
    }

    /**
     * Six threads with 40 MiB live used to hold 1.4 GiB with a busy device, when each arena grew by a quarter of what
     * all arenas held.
     */
    @Test
    void shouldGrowAnArenaByWhatItHoldsItself() throws Exception {
        final Pool pool = Pool.over(new FailingMemorySource(80 * GIB).growingInPlace())
                .reuse(ReusePolicy.STRICT, new GatedDevice())
                .spread(2)
                .build();
        ArenaThreads.call(0, () -> {
            while (pool.statistics().heldBytes() < 2 * GIB) {
                pool.free(pool.allocate(4 * MIB));
            }
            return true;
        });
        final long first = pool.statistics().heldBytes();

        ArenaThreads.call(1, () -> {
            long own = 0;
            while (own < 200 * MIB) {
                pool.free(pool.allocate(MIB));
                final long more = pool.statistics().heldBytes() - first - own;
                final long most = Math.max(32 * MIB, Math.min(80 * MIB, own)) + 4 * MIB;
                assertTrue(more <= most, () -> "grew by " + more / MIB + " MiB");
                own += more;
            }
            return true;
        });
    }

    /**
     * At each growth, pieces used to be made until the device had no memory, given back, and made anew, only as many as
     * were needed.
     */
    @Test
    void shouldNotTryAStepThatTheDeviceHasNoMemoryFor() {
        final FailingMemorySource large = new FailingMemorySource(80 * GIB).growingInPlace();
        final Pool pool = Pool.over(large)
                .reuse(ReusePolicy.STRICT, new GatedDevice())
                .slackBytes(8 * GIB)
                .build();
        while (pool.statistics().heldBytes() < GIB) {
            pool.allocate(MIB);
        }
        large.takeForOthers(large.availableBytes() - 200 * MIB);
        final long calls = large.calls();

        int grown = 0;
        while (large.availableBytes() > 20 * MIB) {
            final long before = pool.statistics().heldBytes();
            pool.allocate(MIB);
            grown += pool.statistics().heldBytes() > before ? 1 : 0;
        }

        assertTrue(grown > 3, grown + " times");
        assertEquals(grown, large.calls() - calls);
    }
}
