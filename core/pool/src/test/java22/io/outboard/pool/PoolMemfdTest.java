package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Effort;
import io.outboard.core.GrowableRegion;
import io.outboard.core.StrategyOptions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Memory moves beneath free space, with real pages. Blocks keep their bytes, each can be written from the first byte to
 * the last, and what is given back is gone, as the kernel counts. A pool that is wrong about where there is memory ends
 * the process.
 */
@Timeout(60)
@EnabledOnOs(
        value = OS.LINUX,
        architectures = {"amd64", "aarch64"})
class PoolMemfdTest {

    private static final long KIB = 1L << 10;
    private static final long MIB = 1L << 20;
    private static final long UNIT = MemfdMemorySource.UNIT_BYTES;
    private static final long DEVICE = 64 * MIB;
    private static final int THREADS = 4;

    /**
     * The size of a random block's pieces. Memory moves and goes in units of {@link #UNIT}, so that pieces of 64 KiB
     * show what happens to it; to touch each page would take four fifths of the time of this class.
     */
    private static final long PIECE = Effort.isThorough() ? PatternedBlocks.PAGE_BYTES : 64 * KIB;

    private final MemfdMemorySource source = new MemfdMemorySource(DEVICE);

    @AfterEach
    void closeSource() {
        source.close();
    }

    private PoolBuilder builder(final String strategy) {
        return Pool.over(source)
                .strategy(strategy, new StrategyOptions(256, 4096))
                .firstRegionBytes(UNIT);
    }

    private PatternedBlocks blocks(final Pool pool) {
        return new PatternedBlocks(source, pool, PatternedBlocks.PAGE_BYTES, 1);
    }

    /** Fills the device with blocks of a size, and frees every second one in order of address. */
    private static void scatter(final PatternedBlocks blocks, final long sizeBytes) {
        for (long left = DEVICE; left >= sizeBytes; left -= sizeBytes) {
            blocks.allocate(sizeBytes);
        }
        final List<PatternedBlocks.Block> inOrder = new ArrayList<>(blocks.live());
        inOrder.sort(Comparator.comparingLong(PatternedBlocks.Block::address));
        for (int i = 0; i < inOrder.size(); i += 2) {
            blocks.free(blocks.live().indexOf(inOrder.get(i)));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tlsf", "segregated-fit", "pooled"})
    void shouldServeOneBlockOfScatteredPages(final String strategy) {
        final Pool pool = builder(strategy).build();
        final PatternedBlocks blocks = blocks(pool);
        scatter(blocks, 2 * UNIT);

        blocks.allocate(DEVICE / 2);

        assertEquals(DEVICE / UNIT / 4 + 1, blocks.live().size());
        assertTrue(source.moves() >= DEVICE / UNIT / 2 - 2, "moved " + source.moves());
        blocks.checkAll();
        assertEquals(DEVICE, source.heldBytes());
        assertThrows(DeviceOutOfMemoryException.class, () -> blocks.allocate(UNIT));
        blocks.checkAll();
        blocks.freeAll();
        pool.close();
    }

    /** Blocks are whole units, as many as the device has, in any order. None is refused, and none loses a byte. */
    @ParameterizedTest
    @CsvSource({
        "tlsf, 1",
        "tlsf, 2",
        "segregated-fit, 1",
        "segregated-fit, 2",
        "pooled, 1",
        "pooled, 2",
    })
    void shouldKeepBytesOfUnitsInAnyOrder(final String strategy, final int seed) {
        final Pool pool = builder(strategy).build();
        final PatternedBlocks blocks = new PatternedBlocks(source, pool, PIECE, 1);
        final Random random = new Random(seed);
        for (int i = 0; i < 1500; i++) {
            final long sizeBytes = (1 + random.nextInt(1 << random.nextInt(6))) * UNIT;
            if (blocks.usedBytes() + sizeBytes <= DEVICE) {
                blocks.allocate(sizeBytes);
            } else {
                blocks.freeAny(random);
            }
            if (i % 64 == 0) {
                blocks.checkAll();
            }
        }

        blocks.checkAll();
        assertTrue(source.moves() > 100, "moved " + source.moves());
        blocks.freeAll();
        assertEquals(0, pool.trimTo(0));
        assertEquals(0, source.heldBytes());
    }

    /**
     * Smaller blocks lie between the others, all operations that change blocks are made, and at times memory goes back.
     */
    @ParameterizedTest
    @CsvSource({
        "tlsf, 1",
        "tlsf, 2",
        "segregated-fit, 1",
        "segregated-fit, 2",
        "pooled, 1",
        "pooled, 2",
    })
    void shouldKeepBytesOfBlocksOfAnySize(final String strategy, final int seed) {
        final Pool pool = builder(strategy).build();
        final PatternedBlocks blocks = new PatternedBlocks(source, pool, PIECE, 1);
        final Random random = new Random(seed);
        for (int i = 0; i < 3000; i++) {
            step(pool, blocks, random);
            if (i % 256 == 0) {
                blocks.checkAll();
                assertTrue(source.heldBytes() <= pool.statistics().heldBytes());
            }
        }

        blocks.checkAll();
        assertTrue(source.moves() > 100, "moved " + source.moves());
        assertEquals(blocks.usedBytes(), pool.statistics().usedBytes());
        blocks.freeAll();
        assertEquals(0, pool.trimTo(0));
        assertEquals(0, source.heldBytes());
    }

    /**
     * Asks for a block. Makes room if there isn't enough memory, or if so much memory lies between other blocks that
     * units can't move.
     */
    private static void step(final Pool pool, final PatternedBlocks blocks, final Random random) {
        final int choice = random.nextInt(64);
        if (choice == 0) {
            pool.trimTo(random.nextInt((int) DEVICE));
        } else if (choice < 4 && !blocks.live().isEmpty()) {
            blocks.resizeAny(random);
        }
        try {
            if (random.nextInt(2) == 0) {
                blocks.allocate((1 + random.nextInt(1 << random.nextInt(6))) * UNIT);
            } else if (choice < 32) {
                blocks.allocate(256L * (1 + random.nextInt(1 << random.nextInt(12))));
            } else {
                blocks.allocate(256L * (1 + random.nextInt(1 << random.nextInt(12))), 256L << random.nextInt(8));
            }
        } catch (final DeviceOutOfMemoryException e) {
            for (int i = random.nextInt(16); i >= 0 && !blocks.live().isEmpty(); i--) {
                blocks.freeAny(random);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"tlsf", "segregated-fit", "pooled"})
    void shouldGiveBackWhatTheKernelCounts(final String strategy) {
        final Pool pool = builder(strategy).build();
        final PatternedBlocks blocks = blocks(pool);
        scatter(blocks, 2 * UNIT);
        blocks.allocate(DEVICE / 2);
        // There are holes before the last block in use, and free memory whose pages were all touched.
        blocks.free(blocks.live().size() - 1);
        blocks.allocate(3 * UNIT);
        for (int i = 0; i < 3; i++) {
            blocks.free(2 * i);
        }
        assertEquals(DEVICE, source.heldBytes());

        for (long bytes = DEVICE; bytes >= 0; bytes -= 5 * UNIT) {
            final long heldBytes = pool.trimTo(bytes);

            assertEquals(pool.statistics().heldBytes(), heldBytes);
            assertEquals(heldBytes, source.heldBytes());
            assertEquals(DEVICE - heldBytes, source.availableBytes());
        }
        assertEquals(blocks.usedBytes(), pool.trimTo(0));
        assertEquals(blocks.usedBytes(), source.heldBytes());
        blocks.checkAll();
        blocks.freeAll();
        assertEquals(0, pool.trimTo(0));
        assertEquals(0, source.heldBytes());
        pool.close();
        assertEquals(0, source.regionsOut());
    }

    @Test
    void shouldGiveBackAllWhenItEnds() {
        final Pool pool = builder("tlsf").build();
        final PatternedBlocks blocks = blocks(pool);
        scatter(blocks, 2 * UNIT);
        blocks.allocate(DEVICE / 4);
        assertTrue(source.heldBytes() > 0);

        try (Warnings warnings = new Warnings()) {
            pool.close();
            assertEquals(1, warnings.records().size());
        }

        assertEquals(0, source.heldBytes());
        assertEquals(0, source.regionsOut());
        assertEquals(DEVICE, source.availableBytes());
    }

    @ParameterizedTest
    @CsvSource({"tlsf, 0", "segregated-fit, 0", "pooled, 0", "tlsf, 3"})
    void shouldKeepBytesOfManyThreads(final String strategy, final int arenas) throws Exception {
        final Pool pool = builder(strategy).spread(arenas).build();
        final List<Callable<PatternedBlocks>> programs = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            final int seed = i;
            programs.add(() -> runThread(pool, seed));
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            for (final Future<PatternedBlocks> program : threads.invokeAll(programs)) {
                final PatternedBlocks blocks = program.get();
                blocks.checkAll();
                blocks.freeAll();
            }
        }

        assertTrue(source.moves() > 0, "moved " + source.moves());
        assertEquals(0, pool.statistics().usedBytes());
        assertEquals(0, pool.trimTo(0));
        assertEquals(0, source.heldBytes());
        pool.close();
        assertEquals(0, source.regionsOut());
    }

    private PatternedBlocks runThread(final Pool pool, final int seed) {
        final PatternedBlocks blocks = new PatternedBlocks(source, pool, PIECE, (long) seed << 24);
        final Random random = new Random(seed);
        for (int i = 0; i < 1200; i++) {
            step(pool, blocks, random);
        }
        return blocks;
    }

    /** The other tests rely on this: pages move with their bytes, and are gone when they are given back. */
    @Test
    void shouldMovePagesAndGiveThemBack() {
        final GrowableRegion region = source.reserve(DEVICE, 4 * DEVICE).orElseThrow();
        final long first = region.region().address();
        region.commit(first, 4 * UNIT, UNIT);
        assertEquals(0, source.heldBytes());
        for (long offset = 0; offset < 4 * UNIT; offset += 4 * KIB) {
            Memfd.write(first + offset, first + offset);
        }
        assertEquals(4 * UNIT, source.heldBytes());

        region.move(new long[] {first, first + 2 * UNIT}, 2);

        assertEquals(first, Memfd.read(first + 4 * UNIT));
        assertEquals(first + 3 * UNIT - 4 * KIB, Memfd.read(first + 6 * UNIT - 4 * KIB));
        assertEquals(4 * UNIT, source.heldBytes());
        assertEquals(6 * UNIT, region.endBytes());

        region.giveBack(new long[] {first + UNIT, first + 5 * UNIT}, 2);

        assertEquals(first + 3 * UNIT, Memfd.read(first + 3 * UNIT));
        assertEquals(2 * UNIT, source.heldBytes());
        assertEquals(5 * UNIT, region.endBytes());
        assertEquals(0, region.pieceBytes(first + UNIT));

        region.commit(first, 2 * UNIT, 2 * UNIT);

        assertEquals(0, Memfd.read(first));
        assertTrue(source.heldBytes() > 2 * UNIT && source.heldBytes() <= 3 * UNIT, "pages may be larger");
        assertEquals(4 * UNIT, region.committedBytes());
        region.close();
        assertEquals(0, source.heldBytes());
        assertEquals(DEVICE, source.availableBytes());
    }

    @Test
    void shouldRefuseWhatARegionMayNotDo() {
        final GrowableRegion region = source.reserve(DEVICE, 4 * DEVICE).orElseThrow();
        final long first = region.region().address();
        region.commit(first, 2 * UNIT, 2 * UNIT);

        final long[] inside = {first + UNIT};
        final long[] hole = {first + 3 * UNIT};
        final long[] twice = {first, first};
        assertThrows(IllegalArgumentException.class, () -> region.move(inside, 1));
        assertThrows(IllegalArgumentException.class, () -> region.move(hole, 1));
        assertThrows(IllegalArgumentException.class, () -> region.giveBack(hole, 1));
        assertThrows(IllegalArgumentException.class, () -> region.giveBack(twice, 2));
        assertThrows(IllegalArgumentException.class, () -> region.commit(first + UNIT, UNIT, UNIT));
        assertThrows(IllegalArgumentException.class, () -> region.commit(first + 3 * UNIT, UNIT, UNIT));
        assertThrows(DeviceOutOfMemoryException.class, () -> region.commit(first + 2 * UNIT, DEVICE, UNIT));

        assertEquals(2 * UNIT, region.committedBytes());
        assertEquals(2 * UNIT, region.endBytes());
        assertEquals(DEVICE - 2 * UNIT, source.availableBytes());
    }
}
