package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.outboard.core.MemorySource;
import io.outboard.core.VirtualMemorySource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A pool's strategy follows a plan. */
class PoolStepTest {

    private static final long MIB = 1L << 20;

    /** A block is one of a plan, as the plan's file has it. */
    private record Block(long sizeBytes, long offsetBytes, int start, int end) {}

    /** The blocks of the plan. The first one lies highest, where no strategy would put it. */
    private static final List<Block> BLOCKS = List.of(
            new Block(2 * MIB, 30 * MIB, 0, 3),
            new Block(MIB, 3 * MIB, 1, 4),
            new Block(MIB, 17 * MIB, 2, 5),
            new Block(2 * MIB, 30 * MIB, 6, 7));

    @TempDir
    private Path folder;

    private String strategy = "";

    @BeforeEach
    void writePlan() throws Exception {
        final Path file = folder.resolve("step.plan");
        final List<String> lines = new ArrayList<>(List.of(
                "outboard plan 1",
                "granuleBytes,256",
                "regionBytes," + 32 * MIB,
                "blocks," + BLOCKS.size(),
                "sizeBytes,offsetBytes,start,end"));
        for (final Block block : BLOCKS) {
            lines.add(block.sizeBytes() + "," + block.offsetBytes() + "," + block.start() + "," + block.end());
        }
        Files.write(file, lines);
        strategy = "planned:" + file;
    }

    private Pool pool(final MemorySource source, final long firstBytes) {
        return Pool.over(source).strategy(strategy).firstRegionBytes(firstBytes).build();
    }

    private static void checkStep(final Pool pool, final long base) {
        final long[] addresses = new long[3];
        for (int block = 0; block < 3; block++) {
            addresses[block] = pool.allocate(BLOCKS.get(block).sizeBytes());
            assertEquals(base + BLOCKS.get(block).offsetBytes(), addresses[block]);
        }
        for (final long address : addresses) {
            pool.free(address);
        }
        final long last = pool.allocate(2 * MIB);
        assertEquals(base + 30 * MIB, last);
        pool.free(last);
    }

    @Test
    void shouldFollowThePlanInEachStep() {
        try (Pool pool = pool(new VirtualMemorySource(1L << 30), 32 * MIB)) {
            final long first = pool.allocate(2 * MIB);
            pool.free(first);
            for (int step = 0; step < 3; step++) {
                pool.step();
                checkStep(pool, first - 30 * MIB);
            }
        }
    }

    @Test
    void shouldServeADeviationAndComeBackWithTheNextStep() {
        try (Pool pool = pool(new VirtualMemorySource(1L << 30), 32 * MIB)) {
            final long base = pool.allocate(2 * MIB) - 30 * MIB;
            final long other = pool.allocate(5 * MIB);
            final long after = pool.allocate(MIB);
            assertNotEquals(base + 17 * MIB, after);
            for (final long address : new long[] {base + 30 * MIB, other, after}) {
                pool.free(address);
            }

            pool.step();

            checkStep(pool, base);
        }
    }

    /** Where a place lacks memory, the request is tried again, and the plan must take it for the same request. */
    @Test
    void shouldFollowThePlanInARegionThatGrowsInPlace() {
        try (Pool pool = pool(new FailingMemorySource(1L << 30).growingInPlace(), 2 * MIB)) {
            final long base = pool.allocate(2 * MIB) - 30 * MIB;
            pool.free(base + 30 * MIB);
            pool.trimTo(0);

            pool.step();

            checkStep(pool, base);
            assertEquals(1, pool.statistics().regions());
        }
    }

    @Test
    void shouldDoNothingWithOtherStrategies() {
        try (Pool pool = Pool.over(new VirtualMemorySource(1L << 30)).build()) {
            final long address = pool.allocate(MIB);
            pool.step();
            pool.free(address);
            assertEquals(0, pool.statistics().liveBlocks());
        }
    }

    @Test
    void shouldRefuseAStepOnceItIsClosed() {
        final Pool pool = pool(new VirtualMemorySource(1L << 30), 32 * MIB);
        pool.close();

        assertThrows(IllegalStateException.class, pool::step);
    }
}
