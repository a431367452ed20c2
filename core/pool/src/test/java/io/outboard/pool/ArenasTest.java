package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.arena.Segment;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** These tests cover arenas, and what many blocks of arenas cost. */
class ArenasTest {

    private static final long MIB = 1L << 20;

    private static final long GIB = 1L << 30;

    /** This device never finishes what it is asked to wait for, whether or not a stream is captured. */
    private static final class CapturingDevice extends IdleDevice {

        final AtomicLong awaits = new AtomicLong();
        volatile boolean capturing;

        @Override
        public boolean isCapturing() {
            return capturing;
        }

        @Override
        public boolean isFinished(final long mark) {
            return false;
        }

        @Override
        public void await(final long mark) {
            awaits.incrementAndGet();
        }
    }

    private static PoolBuilder over(final long bytes, final long regionBytes) {
        return Pool.over(new VirtualMemorySource(bytes)).growInPlace(false).firstRegionBytes(regionBytes);
    }

    private static long[] allocate(final Pool pool, final int count, final long sizeBytes) {
        final long[] blocks = new long[count];
        for (int i = 0; i < count; i++) {
            blocks[i] = pool.allocate(sizeBytes);
        }
        return blocks;
    }

    /** The other arena has the only room. Nobody used to look there, since its tables may not grow any more. */
    @ParameterizedTest
    @EnumSource(names = {"STRICT", "IMMEDIATE"})
    void shouldPlaceInWhatIsFreeBesideManySmallBlocksOfAnotherArena(final ReusePolicy policy) throws Exception {
        final Pool pool = over(GIB, 64 * MIB)
                .limitBytes(32 * MIB)
                .reuse(policy, new IdleDevice())
                .spread(2)
                .build();
        ArenaThreads.call(1, () -> allocate(pool, 50_176, 256));

        final long block = ArenaThreads.call(0, () -> pool.allocate(10 * MIB));

        assertEquals(10 * MIB, pool.sizeOf(block));
        pool.close();
    }

    /** The extended block used to count as small, and to wait for a full batch, so the pool took more memory. */
    @Test
    void shouldFreeALargeBlockOfAnotherArenaAtOnceThatWasExtended() throws Exception {
        final Pool pool =
                over(GIB, 64 * MIB).reuse(ReusePolicy.IMMEDIATE).spread(2).build();
        final long block = ArenaThreads.call(0, () -> pool.allocate(256));
        assertTrue(pool.extend(block, 40 * MIB));
        ArenaThreads.call(1, () -> {
            pool.free(block);
            return pool;
        });

        ArenaThreads.call(0, () -> pool.allocate(40 * MIB));

        assertEquals(64 * MIB, pool.statistics().heldBytes());
        pool.close();
    }

    private static PoolBuilder overTwo() {
        return over(4 * GIB, 16 * MIB)
                .reuse(ReusePolicy.STRICT, new IdleDevice())
                .slackBytes(0)
                .spread(2);
    }

    /**
     * The thread that allocated the blocks does nothing while another one frees them, and small blocks may come before
     * large ones. The pool used to count the large blocks as in use.
     */
    @Test
    void shouldNotTakeForUsedWhatAnotherThreadHasFreed() throws Exception {
        final Pool pool = overTwo().build();
        ArenaThreads.call(1, () -> pool.allocate(4096));
        final long[] small = ArenaThreads.call(0, () -> allocate(pool, 32, 4096));
        final long[] large = ArenaThreads.call(0, () -> allocate(pool, 4, 16 * MIB));

        ArenaThreads.call(1, () -> {
            for (int i = 0; i < small.length; i++) {
                pool.free(small[i]);
                if (i % 8 == 7) {
                    pool.free(large[i / 8]);
                }
            }
            // These allocations are enough for the arenas' memory in use to be added up.
            return allocate(pool, 2048, 4096);
        });

        final long peakBytes = pool.statistics().peakUsedBytes();
        assertTrue(peakBytes <= 64 * MIB + 33 * 4096, () -> peakBytes + " bytes");
        pool.close();
    }

    /**
     * Nine in ten of the freed blocks used to count as in use, since no thread of their arena took them in. So the pool
     * took as much memory again.
     */
    @Test
    void shouldUseWhatOthersHaveFreedAndNobodyTookInBeforeItGrows() throws Exception {
        final Pool pool = overTwo().build();
        final long[] blocks = ArenaThreads.call(0, () -> allocate(pool, 512, MIB / 4));
        final long heldBytes = pool.statistics().heldBytes();

        ArenaThreads.call(1, () -> {
            LongStream.of(blocks).forEach(pool::free);
            return allocate(pool, 6, 16 * MIB);
        });

        assertEquals(heldBytes, pool.statistics().heldBytes());
        pool.close();
    }

    @Test
    void shouldGiveBackWhatOthersHaveFreedAndNobodyTookIn() throws Exception {
        final Pool pool = overTwo().build();
        final long[] blocks = ArenaThreads.call(0, () -> allocate(pool, 512, MIB / 4));
        ArenaThreads.call(1, () -> {
            LongStream.of(blocks).forEach(pool::free);
            return pool;
        });

        pool.idle.giveBackIdle(pool);
        pool.idle.giveBackIdle(pool);

        assertEquals(0, pool.statistics().heldBytes());
        pool.close();
    }

    /** Returns a segment of a mebibyte. */
    private static Segment segmentOf(final Arena owner) {
        final Region region = new Region(0, MIB);
        final Segment segment = new Segment(
                owner,
                region,
                Strategies.named("tlsf").create(region, new StrategyOptions(256, 1024)),
                null,
                1024,
                1024);
        owner.lock();
        owner.add(segment);
        owner.unlock();
        return segment;
    }

    /** What came back for the oldest waiting request is for no other request, however small. */
    @Test
    void shouldKeepWhatCameBackForTheOldestThatWaits() {
        final Arenas arenas = new Arenas(false, GIB, Long.MAX_VALUE, 0);
        final Arena arena = arenas.home();
        final Segment segment = segmentOf(arena);
        final long small = arena.allocate(4096, 1);
        arena.allocate(MIB - 4096, 1);
        arena.free(segment, small);
        arenas.progress.finish(arena.close());
        arenas.await(true);

        assertEquals(Strategy.NO_SPACE, arena.allocateRecovering(MIB / 2, 1, true));
        assertEquals(0, arena.limboBytes(), "it came back");
        assertEquals(Strategy.NO_SPACE, arena.allocate(256, 1));
        assertEquals(Strategy.NO_SPACE, arena.allocateRecovering(256, 1, false));

        arenas.await(false);
        assertEquals(small, arena.allocate(256, 1));
    }

    /**
     * Each operation takes in a little of what others have freed, before memory is missing. None does the work of many.
     */
    @Test
    void shouldTakeInWhatOthersFreeWithEachOperation() {
        final Arenas arenas = new Arenas(false, GIB, Long.MAX_VALUE, 2);
        final Arena owner = arenas.all()[0];
        final Arena other = arenas.all()[1];
        final Segment segment = segmentOf(owner);
        final int freed = 128;
        final long[] blocks = new long[freed];
        for (int i = 0; i < freed; i++) {
            blocks[i] = owner.allocate(256, 1);
        }
        for (final long block : blocks) {
            assertNotEquals(
                    Arena.NOT_FREED, other.freeRemotely(segment, Objects.requireNonNull(segment.starts), block));
        }
        assertEquals(0, owner.limboBytes());

        owner.allocate(256, 1);
        assertTrue(owner.limboBytes() < freed * 256 / 8, "it did the work of many");
        for (int i = 0; i < freed; i++) {
            owner.allocate(256, 1);
        }
        assertEquals(freed * 256, owner.limboBytes());
    }

    /** Allocates blocks of {@code sizeBytes} until none is left, and returns how many there were. */
    private static int fill(final Pool pool, final long sizeBytes) {
        int count = 0;
        while (true) {
            try {
                pool.allocate(sizeBytes);
                count++;
            } catch (final DeviceOutOfMemoryException e) {
                return count;
            }
        }
    }

    @Test
    void shouldServeThreadsOfDifferentArenasFromMemoryOfTheirOwn() throws Exception {
        final Pool pool = over(GIB, 4 * MIB).spread(2).build();
        pool.free(pool.allocate(256));

        final long[] some = ArenaThreads.call(0, () -> allocate(pool, 16, 256));
        final long[] others = ArenaThreads.call(1, () -> allocate(pool, 16, 256));

        final Set<Long> units = unitsOf(some);
        units.retainAll(unitsOf(others));
        assertEquals(Set.of(), units);
        pool.close();
    }

    /**
     * The device is idle, and the request exceeds peak and slack. The pool used to hold twice the peak, half of it free
     * in other arenas.
     */
    @Test
    void shouldUseWhatOthersHaveFreedBeforeItGrows() throws Exception {
        final Pool pool = over(GIB, 4 * MIB)
                .reuse(ReusePolicy.STRICT, new IdleDevice())
                .slackBytes(MIB / 32)
                .spread(2)
                .build();
        ArenaThreads.call(0, () -> {
            final long[] blocks = allocate(pool, 16, MIB / 4);
            for (int i = 0; i < 12; i++) {
                // These frees are too few for a question to the device.
                pool.free(blocks[i]);
            }
            return blocks;
        });
        assertEquals(3 * MIB, pool.statistics().limboBytes());

        ArenaThreads.call(1, () -> allocate(pool, 1, 2 * MIB));

        assertEquals(4 * MIB, pool.statistics().heldBytes());
        pool.close();
    }

    /**
     * The second arena used to have no memory, and placed each block in the first one's. With two threads there were a
     * tenth as many operations.
     */
    @ParameterizedTest
    @ValueSource(longs = {MIB, 8 * MIB})
    void shouldHaveAShareOfAFirstRegionThatIsAllThereIs(final long sizeBytes) throws Exception {
        final Pool pool = Pool.over(new VirtualMemorySource(64 * MIB))
                .firstRegionBytes(64 * MIB)
                .reuse(ReusePolicy.STRICT, new IdleDevice())
                .spread(2)
                .build();
        ArenaThreads.call(0, () -> allocate(pool, 1, 256));
        assertEquals(1, pool.statistics().regions());

        ArenaThreads.call(1, () -> allocate(pool, (int) (16 * MIB / sizeBytes), sizeBytes));

        assertEquals(2, pool.statistics().regions());
        assertTrue(pool.statistics().heldBytes() >= 60 * MIB, "less than half is moved");
        pool.close();
    }

    /**
     * Beyond its share, an arena places blocks in the other arena's free memory. If it took the memory instead, the
     * arenas would take it from each other forever.
     */
    @Test
    void shouldNotMoveMemoryToAndFro() throws Exception {
        final Pool pool = Pool.over(new VirtualMemorySource(64 * MIB))
                .firstRegionBytes(64 * MIB)
                .reuse(ReusePolicy.STRICT, new IdleDevice())
                .spread(2)
                .build();
        final Callable<Long> turn = () -> allocateAndFree(pool, 44, MIB);
        long settled = 0;
        long mappings = 0;
        for (int i = 0; i < 200; i++) {
            ArenaThreads.call(0, turn);
            mappings = ArenaThreads.call(1, turn);
            settled = i < 100 ? mappings : settled;
        }

        assertEquals(settled, mappings);
        pool.close();
    }

    /** Each arena used to take back what the other had needed: 133 mappings in 200 rounds. */
    @Test
    void shouldMoveLessAndLessMemoryToAndFroForBlocksThatNeedIt() throws Exception {
        final Pool pool = Pool.over(new VirtualMemorySource(4 * GIB))
                .reuse(ReusePolicy.STRICT, new IdleDevice())
                .spread(2)
                .build();
        long settled = 0;
        long mappings = 0;
        for (int i = 0; i < 2000; i++) {
            ArenaThreads.call(0, () -> allocateAndFree(pool, 40, 64 * MIB));
            mappings = ArenaThreads.call(1, () -> allocateAndFree(pool, 3, 900 * MIB));
            settled = i < 1500 ? mappings : settled;
        }

        final long more = mappings - settled;
        assertTrue(more <= 20, () -> more + " mappings");
        pool.close();
    }

    private static long allocateAndFree(final Pool pool, final int count, final long sizeBytes) {
        LongStream.of(allocate(pool, count, sizeBytes)).forEach(pool::free);
        return pool.statistics().mappings();
    }

    /** Returns a pool that holds 1280 MiB, all of them free. */
    private static Pool withAllInOneOfTwoArenas(final FailingMemorySource source) throws Exception {
        final Pool pool = Pool.over(source)
                .reuse(ReusePolicy.STRICT, new IdleDevice())
                .spread(2)
                .slackBytes(0)
                .build();
        ArenaThreads.call(0, () -> allocateAndFree(pool, 20, 64 * MIB));
        return pool;
    }

    /**
     * Free memory of the other arena goes back to the device for the request, but the device refuses to hand it out
     * again. The request used to be refused, too.
     */
    @ParameterizedTest
    @ValueSource(longs = {600 * MIB, 1000 * MIB})
    void shouldServeARequestThoughMemoryThatMovesIsLost(final long sizeBytes) throws Exception {
        final FailingMemorySource source = new FailingMemorySource(1280 * MIB).growingInPlace();
        final Pool pool = withAllInOneOfTwoArenas(source);
        source.refuse(() -> DeviceOutOfMemoryException.ofDevice(1, 0, 1, "simulated"));

        final long block = ArenaThreads.call(1, () -> pool.allocate(sizeBytes));

        assertEquals(sizeBytes, pool.sizeOf(block));
        assertEquals(1248 * MIB, pool.statistics().heldBytes());
        source.refuse(null);
        pool.close();
    }

    /** The move fails when the request is already served. The request's block used to be lost. */
    @Test
    void shouldServeARequestThoughMemoryThatMovesFails() throws Exception {
        final FailingMemorySource source = new FailingMemorySource(1280 * MIB).growingInPlace();
        final Pool pool = withAllInOneOfTwoArenas(source);
        source.refuse(() -> new IllegalStateException("simulated"));

        final long block = ArenaThreads.call(1, () -> pool.allocate(64 * MIB));

        assertEquals(64 * MIB, pool.sizeOf(block));
        assertEquals(1, pool.statistics().liveBlocks());
        source.refuse(null);
        pool.close();
    }

    /** With {@link ReusePolicy#IMMEDIATE}, moving memory means waiting for the device, which may take any time. */
    @Test
    @Timeout(20)
    void shouldNotWaitForTheDeviceToPlaceInAnotherArena() throws Exception {
        final GatedDevice device = new GatedDevice();
        final Pool pool = Pool.over(new VirtualMemorySource(64 * MIB))
                .firstRegionBytes(64 * MIB)
                .reuse(ReusePolicy.IMMEDIATE, device)
                .spread(2)
                .build();
        ArenaThreads.call(0, () -> allocate(pool, 1, 256));

        ArenaThreads.call(1, () -> allocate(pool, 1, MIB));

        assertEquals(1, pool.statistics().regions());
        device.finishAll();
        pool.close();
    }

    /**
     * Beyond its share of the slack, the arena used to ask the device every few blocks, though the pool held many times
     * as much.
     */
    @Test
    void shouldUseWhatAnArenaHoldsBeforeItAsks() throws Exception {
        final Pool pool = Pool.over(new VirtualMemorySource(GIB))
                .slackBytes(64 * MIB)
                .reuse(ReusePolicy.STRICT, new IdleDevice())
                .spread(2)
                .build();
        ArenaThreads.call(1, () -> {
            for (final long block : allocate(pool, 400, MIB)) {
                pool.free(block);
            }
            final long before = pool.statistics().synchronizations();
            for (int i = 0; i < 6400; i++) {
                pool.free(pool.allocate(MIB));
            }

            final long marks = pool.statistics().synchronizations() - before;
            assertTrue(marks <= 150, () -> marks + " marks for 100 times the slack");
            return new long[0];
        });
        pool.close();
    }

    private static Set<Long> unitsOf(final long[] blocks) {
        return LongStream.of(blocks).mapToObj(block -> block / MIB).collect(Collectors.toCollection(HashSet::new));
    }

    @Test
    void shouldGiveWhatArenasHoldFreeBackWhenMemoryIsShort() throws Exception {
        final Pool pool = over(64 * MIB, 4 * MIB).spread(2).build();
        for (int arena = 0; arena < 2; arena++) {
            ArenaThreads.call(arena, () -> {
                final long[] blocks = allocate(pool, 16, 256);
                for (final long block : blocks) {
                    pool.free(block);
                }
                return blocks;
            });
        }

        final long all = pool.allocate(64 * MIB);

        pool.free(all);
        assertEquals(64 * MIB, pool.largestFreeBlockBytes());
        pool.close();
    }

    /** A second arena would keep memory of its own. */
    @Test
    void shouldHaveOneArenaForOneThread() {
        final Pool pool = over(64 * MIB, 64 * MIB).build();
        final long first = pool.allocate(256);
        pool.free(first);

        for (int i = 0; i < 10_000; i++) {
            final long[] blocks = allocate(pool, 4, 256);
            for (int k = 0; k < blocks.length; k++) {
                assertEquals(first + 256L * k, blocks[k]);
            }
            for (int k = blocks.length - 1; k >= 0; k--) {
                pool.free(blocks[k]);
            }
        }

        assertEquals(64 * MIB, pool.largestFreeBlockBytes());
        pool.close();
    }

    /** One region has so many blocks that its threads leave the main arena. Until then, one arena counted the peak. */
    @Test
    void shouldRememberThePeakOfTheTimeWithOneArena() {
        final Pool pool = over(100 * GIB, 4 * GIB).build();
        pool.free(pool.allocate(3 * GIB));

        allocate(pool, 140_000, 256);

        assertEquals(3 * GIB, pool.statistics().peakUsedBytes());
        pool.close();
    }

    /** If sizes have memory of their own, a refused request says nothing about larger sizes. */
    @Test
    void shouldServeASizeThatHasRoomAfterASmallerOneWasRefused() {
        final Pool pool =
                over(64 * MIB, 2 * MIB).strategy("pooled").limitBytes(2 * MIB).build();
        final long[] blocks = allocate(pool, 64, 512);
        for (int i = 1; i < blocks.length; i++) {
            pool.free(blocks[i]);
        }
        for (long sizeBytes = MIB; sizeBytes >= 1024; sizeBytes /= 2) {
            fill(pool, sizeBytes);
        }
        fill(pool, 256);

        final int before = fill(pool, 512);

        assertTrue(before > 0, "what was freed is free");
        pool.free(blocks[0]);
        assertEquals(1, fill(pool, 512));
        pool.close();
    }

    @Test
    void shouldReleaseVeryManyReadyBlocksWithLittleStack() throws InterruptedException {
        final Pool pool = over(320 * MIB, 320 * MIB)
                .reuse(ReusePolicy.STRICT, new IdleDevice())
                .build();
        for (final long block : allocate(pool, 1_000_000, 256)) {
            pool.free(block);
        }
        final Throwable[] thrown = new Throwable[1];
        final Thread thread = new Thread(null, () -> pool.allocate(310 * MIB), "small", 256 << 10);
        thread.setUncaughtExceptionHandler((failed, e) -> thrown[0] = e);

        thread.start();
        thread.join();

        assertNull(thrown[0]);
        pool.close();
    }

    /** During a capture, nothing that waits for the device comes back. */
    @Test
    void shouldNotAskTheDeviceAgainAndAgainWhileAStreamIsCaptured() {
        final CapturingDevice device = new CapturingDevice();
        final Pool pool =
                over(64 * MIB, 64 * MIB).reuse(ReusePolicy.TRACKED, device).build();
        final int batches = 400;
        for (final long block : allocate(pool, batches * 64, 256)) {
            pool.free(block);
        }
        device.capturing = true;

        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(62 * MIB));

        assertEquals(0, device.awaits.get());
        pool.close();
    }

    /** The pool used to take as much memory as its first region has. */
    @Test
    void shouldGrowBySmallStepsToExtendABlockOfAnotherArena() throws Exception {
        final Pool pool = Pool.over(new VirtualMemorySource(GIB))
                .slackBytes(128 * MIB)
                .spread(2)
                .build();
        ArenaThreads.call(0, () -> pool.allocate(MIB));
        ArenaThreads.call(1, () -> {
            final long block = pool.allocate(MIB);
            final long heldBytes = pool.statistics().heldBytes();

            assertTrue(pool.extend(block, 20 * MIB));

            final long moreBytes = pool.statistics().heldBytes() - heldBytes;
            assertTrue(moreBytes <= 32 * MIB, () -> "took " + moreBytes);
            return null;
        });
        pool.close();
    }

    @Test
    void shouldGoOnAfterAnotherArenasThreadWasRefusedAFree() throws Exception {
        final Pool pool = over(GIB, 4 * MIB).spread(2).build();
        final long block = ArenaThreads.call(0, () -> pool.allocate(MIB));

        ArenaThreads.call(1, () -> assertThrows(InvalidAddressException.class, () -> pool.free(block + 256)));
        pool.trimTo(0);

        assertEquals(block + MIB, ArenaThreads.call(0, () -> pool.allocate(MIB)));
        pool.close();
    }
}
