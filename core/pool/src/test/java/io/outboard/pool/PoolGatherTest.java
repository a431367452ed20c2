package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.StrategyOptions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Free blocks are scattered, and none has room for a request. Their memory moves to serve it. */
class PoolGatherTest {

    private static final long MIB = 1L << 20;
    private static final long UNIT = 2 * MIB;
    private static final long DEVICE = 256 * MIB;

    private final FailingMemorySource source = new FailingMemorySource(DEVICE).growingInPlace();

    private PoolBuilder builder(final String strategy) {
        return builder(source, strategy);
    }

    private static PoolBuilder builder(final FailingMemorySource over, final String strategy) {
        return Pool.over(over)
                .strategy(strategy, new StrategyOptions(256, 4096))
                .firstRegionBytes(UNIT);
    }

    /** Fills the device with blocks of a size and frees every second one. Returns the others, in order of address. */
    private static List<Long> scatter(final Pool pool, final long sizeBytes) {
        final List<Long> blocks = new ArrayList<>();
        for (long left = DEVICE; left >= sizeBytes; left -= sizeBytes) {
            blocks.add(pool.allocate(sizeBytes));
        }
        blocks.sort(Comparator.naturalOrder());
        final List<Long> kept = new ArrayList<>();
        for (int i = 0; i < blocks.size(); i++) {
            if (i % 2 == 0) {
                pool.free(blocks.get(i));
            } else {
                kept.add(blocks.get(i));
            }
        }
        return kept;
    }

    /**
     * The pieces are those of a device of that size. When blocks shared pieces as large as themselves, too few pieces
     * could move.
     */
    @ParameterizedTest
    @ValueSource(longs = {24, 40, 80, 141})
    void shouldServeALargePartOfADevice(final long gibibytes) {
        final long totalBytes = gibibytes << 30;
        final SplittableRandom random = new SplittableRandom(7);
        final Pool pool = Pool.over(new FailingMemorySource(totalBytes).growingInPlace())
                .reuse(ReusePolicy.STRICT, new IdleDevice())
                .build();
        final List<Long> blocks = new ArrayList<>();
        while (pool.statistics().usedBytes() < totalBytes / 20 * 17 - 64 * MIB) {
            blocks.add(pool.allocate(random.nextLong(MIB, 64 * MIB)));
        }
        for (int i = 0; i < blocks.size(); i += 2) {
            pool.free(blocks.get(i));
        }

        final long largeBytes = totalBytes / 5 * 2;
        final long large = pool.allocate(largeBytes);

        assertTrue(pool.sizeOf(large) >= largeBytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tlsf", "segregated-fit", "pooled"})
    void shouldServeABlockOfAllThatIsFree(final String strategy) {
        final Pool pool = builder(strategy).build();
        final List<Long> kept = scatter(pool, 4 * MIB);

        final long large = pool.allocate(DEVICE / 2);

        kept.forEach(address -> assertEquals(4 * MIB, pool.sizeOf(address)));
        assertEquals(DEVICE / 2, pool.sizeOf(large));
        assertTrue(kept.stream().allMatch(address -> address + 4 * MIB <= large || address >= large + DEVICE / 2));
        assertEquals(DEVICE, pool.statistics().heldBytes());
        assertEquals(DEVICE, pool.statistics().usedBytes());
        assertEquals(1, pool.statistics().regions());
        assertEquals(0, source.takes());
        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(1));
        pool.free(large);
        kept.forEach(pool::free);
        assertEquals(0, pool.trimTo(0));
        assertEquals(DEVICE, source.availableBytes());
        pool.close();
        assertEquals(0, source.regionsOut());
    }

    @Test
    void shouldMoveNoMoreThanIsMissing() {
        final Pool pool = builder("tlsf").build();
        scatter(pool, 4 * MIB);
        final long mappings = pool.statistics().mappings();

        pool.allocate(4 * UNIT);

        // The last block is in use, so all of the request is missing; each free block has two units.
        assertEquals(4, source.moves());
        assertEquals(4 * UNIT, pool.statistics().movedBytes());
        assertEquals(mappings + 1, pool.statistics().mappings());
    }

    /** Memory that the device still has is used, together with free blocks. */
    @Test
    void shouldTakeWhatTheDeviceStillHas() {
        final Pool pool = builder("tlsf").build();
        final List<Long> kept = scatter(pool, 4 * MIB);
        pool.trimTo(0);
        pool.free(kept.get(kept.size() - 1));
        pool.trimTo(0);
        assertTrue(source.availableBytes() > 0);

        assertEquals(DEVICE / 2 + 4 * MIB, pool.sizeOf(pool.allocate(DEVICE / 2 + 4 * MIB)));

        assertEquals(0, source.availableBytes());
    }

    @Test
    void shouldSayThatItIsFullIfUnitsArent() {
        final Pool pool = builder("tlsf").build();
        scatter(pool, 3 * MIB);
        final PoolStatistics before = pool.statistics();

        final DeviceOutOfMemoryException thrown =
                assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(DEVICE / 2));

        assertTrue(thrown.freeBytes() > DEVICE / 2 - 3 * MIB, thrown.toString());
        assertTrue(
                String.valueOf(thrown.getMessage()).contains(", of which 88MiB in pieces that can move"),
                thrown.toString());
        assertEquals(before.heldBytes(), pool.statistics().heldBytes());
        assertEquals(before.usedBytes(), pool.statistics().usedBytes());
        assertTrue(pool.allocate(3 * MIB) > 0, "what was free still is");
    }

    /** Free units go back from anywhere, not only from behind the last block in use. */
    @ParameterizedTest
    @ValueSource(strings = {"tlsf", "segregated-fit", "pooled"})
    void shouldGiveBackFreeUnitsFromAnywhere(final String strategy) {
        final Pool pool = builder(strategy).build();
        final List<Long> kept = scatter(pool, 4 * MIB);

        assertEquals(DEVICE - 8 * MIB, pool.trimTo(DEVICE - 7 * MIB));
        assertEquals(DEVICE / 2, pool.trimTo(0));

        assertEquals(DEVICE / 2, source.availableBytes());
        kept.forEach(address -> assertTrue(source.hasMemory(address, 4 * MIB)));
        final long large = pool.allocate(DEVICE / 2);
        assertTrue(source.hasMemory(large, DEVICE / 2));
        pool.free(large);
        kept.forEach(pool::free);
        assertEquals(0, pool.trimTo(0));
        assertEquals(DEVICE, source.availableBytes());
    }

    /** All memory goes back even where there are holes. These are blocks that aren't free, but nothing is in use. */
    @ParameterizedTest
    @ValueSource(strings = {"tlsf", "segregated-fit", "pooled"})
    void shouldGiveBackAllBesideHolesOnceNothingIsInUse(final String strategy) {
        final Pool pool = builder(strategy).build();
        final List<Long> live = scatter(pool, 4 * MIB);
        live.add(pool.allocate(DEVICE / 4));
        assertTrue(pool.statistics().movedBytes() > 0);
        for (int i = 0; i < 1000; i++) {
            live.add(pool.allocate(256 << (i % 4)));
        }

        live.forEach(pool::free);

        assertEquals(0, pool.trimTo(0));
        assertEquals(DEVICE, source.availableBytes());
    }

    @Test
    void shouldLoseNothingWhicheverCallOfATrimFails() {
        for (int call = 1; call < 40; call++) {
            final FailingMemorySource failing = new FailingMemorySource(DEVICE).growingInPlace();
            final Pool pool = builder(failing, "tlsf").build();
            final List<Long> kept = scatter(pool, 4 * MIB);
            failing.failAt(call, () -> new IllegalStateException("as told"));
            try {
                pool.trimTo(0);
            } catch (final IllegalStateException e) {
                assertEquals("as told", e.getMessage());
            }
            failing.failAt(0, IllegalStateException::new);
            assertEquals(DEVICE - failing.availableBytes(), pool.statistics().heldBytes());

            assertEquals(DEVICE / 2, pool.trimTo(0));

            kept.forEach(address -> assertTrue(failing.hasMemory(address, 4 * MIB)));
            pool.allocate(DEVICE / 2);
            assertEquals(0, failing.availableBytes());
            pool.close();
        }
    }

    /** Each round makes holes. If holes took more and more entries of the tables, small requests would be refused. */
    @Test
    void shouldKeepTheTableForBlocks() {
        final Pool pool = Pool.over(source)
                .strategy("tlsf", new StrategyOptions(256, 64))
                .firstRegionBytes(UNIT)
                .build();
        for (int round = 0; round < 20; round++) {
            final List<Long> kept = scatter(pool, 32 * MIB);
            pool.trimTo(0);
            kept.forEach(pool::free);
        }
        for (int i = 0; i < 24; i++) {
            pool.allocate(256);
        }
    }

    @Test
    void shouldShowNothingOfHoles() {
        final Pool pool = builder("tlsf").build();
        final List<Long> kept = scatter(pool, 4 * MIB);
        pool.allocate(DEVICE / 2);

        final TreeMap<Long, Long> shown = new TreeMap<>();
        pool.forEachBlock((address, sizeBytes, free) -> {
            assertFalse(free && sizeBytes >= UNIT);
            shown.put(address, sizeBytes);
        });

        assertEquals(DEVICE, shown.values().stream().mapToLong(Long::longValue).sum());
        final long hole = kept.get(0) - 4 * MIB;
        assertThrows(InvalidAddressException.class, () -> pool.free(hole));
        assertThrows(InvalidAddressException.class, () -> pool.sizeOf(hole));
    }

    /** Whichever call fails, nothing is lost, nothing has two owners, and the same request is served afterwards. */
    @Test
    void shouldLoseNothingWhicheverCallFails() {
        for (int call = 1; call < 90; call++) {
            final FailingMemorySource failing = new FailingMemorySource(DEVICE).growingInPlace();
            final Pool pool = builder(failing, "tlsf").build();
            final List<Long> kept = scatter(pool, 4 * MIB);
            failing.failAt(call, () -> new IllegalStateException("as told"));
            try {
                pool.free(pool.allocate(DEVICE / 2));
            } catch (final IllegalStateException e) {
                assertEquals("as told", e.getMessage());
            }
            failing.failAt(0, IllegalStateException::new);
            assertEquals(DEVICE, pool.statistics().heldBytes());
            assertEquals(DEVICE / 2, pool.statistics().usedBytes());

            final long large = pool.allocate(DEVICE / 2);

            kept.forEach(address -> assertEquals(4 * MIB, pool.sizeOf(address)));
            pool.free(large);
            kept.forEach(pool::free);
            assertEquals(0, pool.trimTo(0));
            assertEquals(DEVICE, failing.availableBytes());
            pool.close();
        }
    }

    @Test
    void shouldGatherAgainAndAgain() {
        final Pool pool = builder("tlsf").build();
        final Random random = new Random(15);
        for (int round = 0; round < 200; round++) {
            final List<Long> kept = scatter(pool, 4 * MIB);
            final long large = pool.allocate(DEVICE / 2);
            kept.forEach(address -> assertEquals(4 * MIB, pool.sizeOf(address)));
            if (random.nextBoolean()) {
                pool.free(large);
                kept.forEach(pool::free);
            } else {
                kept.forEach(pool::free);
                pool.free(large);
            }
            assertEquals(DEVICE, pool.statistics().heldBytes());
        }
    }

    /** Blocks are whole units, as many as the device has, in any order. None is refused, and every block has memory. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldRefuseNothingThatTheDeviceHasRoomFor(final int seed) {
        final Pool pool = builder("tlsf").build();
        final Random random = new Random(seed);
        final TreeMap<Long, Long> live = new TreeMap<>();
        long liveBytes = 0;
        for (int i = 0; i < 3000; i++) {
            final long sizeBytes = (1 + random.nextInt(1 << random.nextInt(7))) * UNIT;
            if (liveBytes + sizeBytes <= DEVICE) {
                live.put(pool.allocate(sizeBytes), sizeBytes);
                liveBytes += sizeBytes;
            } else {
                final long address = new ArrayList<>(live.keySet()).get(random.nextInt(live.size()));
                liveBytes -= pool.sizeOf(address);
                pool.free(address);
                live.remove(address);
            }
            live.forEach((address, bytes) -> assertTrue(source.hasMemory(address, bytes)));
            assertEquals(liveBytes, pool.statistics().usedBytes());
        }
        assertTrue(source.moves() > 100, "moved " + source.moves());
        live.keySet().forEach(pool::free);
        assertEquals(0, pool.trimTo(0));
        assertEquals(DEVICE, source.availableBytes());
    }

    /**
     * A block that just fits used to be chosen, but not found by the good fit, which looks at larger blocks. So memory
     * moved to and fro, and the request was refused.
     */
    @ParameterizedTest
    @ValueSource(strings = {"tlsf", "segregated-fit"})
    void shouldFindABlockThatJustFits(final String strategy) {
        final Pool pool = builder(strategy).build();
        final Random random = new Random(2);
        final TreeMap<Long, Long> live = new TreeMap<>();
        for (int i = 0; i < 2000; i++) {
            final long sizeBytes = (i % 2 == 0 ? 5 : 13) * UNIT;
            if (pool.statistics().usedBytes() + sizeBytes <= DEVICE) {
                live.put(pool.allocate(sizeBytes), sizeBytes);
            } else {
                final long address = new ArrayList<>(live.keySet()).get(random.nextInt(live.size()));
                pool.free(address);
                live.remove(address);
            }
        }
    }

    @Test
    void shouldGatherWhatAHandlerFrees() {
        final Pool pool = builder("tlsf").build();
        final List<Long> blocks = new ArrayList<>();
        for (long left = DEVICE; left > 0; left -= UNIT) {
            blocks.add(pool.allocate(UNIT));
        }
        pool.addOutOfMemoryHandler((sizeBytes, statistics) -> {
            pool.free(blocks.remove(blocks.size() - 1));
            pool.free(blocks.remove(0));
            return true;
        });

        pool.allocate(6 * UNIT);

        assertEquals(DEVICE / UNIT - 6, blocks.size());
    }

    @Test
    void shouldRefuseAsEverIfGranulesAreLargerThanUnits() {
        final Pool pool = Pool.over(source)
                .strategy("tlsf", new StrategyOptions(8 * MIB, 4096))
                .firstRegionBytes(8 * MIB)
                .build();
        scatter(pool, 8 * MIB);

        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(DEVICE / 2));
    }

    /** 2 MiB are in use, and 64 MiB now and then. Holes get memory again before addresses run out. */
    @Test
    void shouldNotRunOutOfAddresses() {
        final Pool pool = Pool.over(source).firstRegionBytes(UNIT).build();
        long kept = 0;
        int round = 0;
        for (; round < 200 && source.takes() == 0; round++) {
            final long temporary = pool.allocate(64 * MIB);
            final long next = pool.allocate(UNIT);
            pool.free(temporary);
            if (kept != 0) {
                pool.free(kept);
            }
            kept = next;
            pool.trimTo(0);
        }
        assertEquals(0, source.takes(), "round " + round + ": " + pool.statistics());
    }

    /**
     * Free slots of a slab and a hole beside it aren't room for a block. Memory used to move to and fro, and the
     * request was refused.
     */
    @Test
    void shouldNotTakeFreeSlotsForRoom() {
        final Pool pool = builder("pooled").build();
        final long slab = 256 << 10;
        pool.allocate(UNIT - slab);
        final List<Long> slots = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            slots.add(pool.allocate(4096));
        }
        final long u1 = pool.allocate(UNIT);
        pool.allocate(UNIT - slab);
        pool.allocate(4096);
        final long u2 = pool.allocate(UNIT);
        final List<Long> donors = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            pool.allocate(UNIT);
            donors.add(pool.allocate(UNIT));
        }
        pool.allocate(UNIT);
        while (pool.statistics().usedBytes() + 64 * 4096 < DEVICE - 63 * 4096) {
            try {
                pool.allocate(UNIT);
            } catch (final DeviceOutOfMemoryException e) {
                break;
            }
        }
        slots.subList(1, 64).forEach(pool::free);
        pool.free(u1);
        pool.free(u2);
        pool.trimTo(pool.statistics().heldBytes() - 2 * UNIT);
        pool.allocate(2 * UNIT);
        donors.forEach(pool::free);
        final long before = source.moves();

        pool.allocate(UNIT + (200 << 10));

        assertTrue(source.moves() - before <= 2, "moved " + (source.moves() - before));
    }

    @Test
    void shouldShowHoldersWhileItTrims() {
        final Pool pool = builder("tlsf").build();
        pool.free(pool.allocate(64 * MIB));
        final Throwable[] thrown = new Throwable[1];
        source.failAt(1, () -> {
            try {
                pool.largestHolders();
            } catch (final RuntimeException e) {
                thrown[0] = e;
            }
            return new IllegalStateException("as told");
        });
        assertThrows(IllegalStateException.class, () -> pool.trimTo(0));
        assertNull(thrown[0]);
    }

    private static Pool small(final FailingMemorySource over) {
        return Pool.over(over).firstRegionBytes(UNIT).build();
    }

    /**
     * To refill a hole, the pool gives back the last memory of the region, so the hole then lies beyond the region's
     * end. The request used to fail with an error about a wrong argument.
     */
    @Test
    void shouldSayThatItIsFullIfAHoleEndsUpBehindTheLastMemory() {
        final FailingMemorySource few =
                new FailingMemorySource(208 * MIB).growingInPlace().withAddresses(300 * MIB);
        final Pool pool = small(few);
        pool.allocate(130 * MIB);
        final long middle = pool.allocate(70 * MIB);
        final long last = pool.allocate(8 * MIB);
        pool.free(middle);
        pool.trimTo(0);
        few.takeForOthers(70 * MIB);
        pool.free(last);

        // With this alignment, the block could only lie behind memory that isn't there any more.
        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(8 * MIB, 64 * MIB));

        assertEquals(8 * MIB, few.availableBytes());
        assertTrue(pool.allocate(8 * MIB) > 0);
    }

    /** A capture begins just after the pool has asked whether there is one, so nothing goes back. */
    @Test
    void shouldKeepTheLimitThoughNothingGoesBack() {
        final FailingMemorySource few =
                new FailingMemorySource(1000 * MIB).growingInPlace().withAddresses(300 * MIB);
        final Pool pool =
                Pool.over(few).firstRegionBytes(UNIT).limitBytes(252 * MIB).build();
        pool.allocate(80 * MIB);
        final long first = pool.allocate(20 * MIB);
        final long hole = pool.allocate(40 * MIB);
        pool.allocate(60 * MIB);
        final long second = pool.allocate(40 * MIB);
        pool.allocate(10 * MIB);
        pool.free(hole);
        pool.trimTo(0);
        pool.allocate(42 * MIB);
        pool.free(first);
        pool.free(second);
        few.capture();

        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(60 * MIB));

        assertTrue(pool.statistics().heldBytes() <= 252 * MIB, pool.statistics().toString());
    }

    /** Each refused request used to divide a hole for good, until the tables were full of holes. */
    @Test
    void shouldLeaveHolesAsTheyAreIfARequestIsRefused() {
        assertEquals(blocksAfter(0), blocksAfter(50));
    }

    /**
     * Returns how many small blocks fit into a pool's tables after it got a hole of 200 MiB and refused {@code
     * refusals} sizes.
     */
    private static int blocksAfter(final int refusals) {
        final FailingMemorySource few =
                new FailingMemorySource(250 * MIB).growingInPlace().withAddresses(300 * MIB);
        final Pool pool = Pool.over(few)
                .strategy("tlsf", new StrategyOptions(256, 500))
                .firstRegionBytes(UNIT)
                .build();
        pool.allocate(10 * MIB);
        final long hole = pool.allocate(200 * MIB);
        pool.allocate(4 * MIB);
        pool.free(hole);
        pool.trimTo(0);
        few.takeForOthers(few.availableBytes() - UNIT);
        for (int i = 0; i < refusals; i++) {
            final long sizeBytes = (100 + 2 * i) * MIB;
            for (long alignment = 1; alignment <= 32; alignment *= 2) {
                final long alignmentBytes = alignment * MIB;
                assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(sizeBytes, alignmentBytes));
            }
        }
        int blocks = 0;
        try {
            while (true) {
                pool.allocate(256);
                blocks++;
            }
        } catch (final BlockTableFullException e) {
            return blocks;
        }
    }

    /** There are two large pieces and two small ones, and one small piece is enough. A large one used to move. */
    @Test
    void shouldMoveTheSmallestPieceThatIsEnough() {
        final FailingMemorySource large = new FailingMemorySource(64L << 30).growingInPlace();
        final Pool pool = small(large);
        final List<Long> blocks = new ArrayList<>();
        for (final long mib : new long[] {16, 16, 16, 16, 16, 4, 4, 4, 4, 4, 30}) {
            blocks.add(pool.allocate(mib * MIB));
        }
        large.takeForOthers(large.availableBytes());
        for (final int i : new int[] {1, 3, 6, 8, 10}) {
            pool.free(blocks.get(i));
        }

        pool.allocate(32 * MIB);

        assertTrue(pool.statistics().movedBytes() <= 4 * MIB, pool.statistics().movedBytes() + " bytes moved");
    }
}
