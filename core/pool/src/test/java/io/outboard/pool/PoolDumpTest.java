package io.outboard.pool;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import examples.Program;
import io.outboard.core.StrategyOptions;
import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.simulated.SimulatedDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** These tests read a dump back from its file. */
class PoolDumpTest {

    private static final long MIB = 1L << 20;

    @TempDir
    private Path folder;

    @SuppressWarnings("unchecked")
    private static Map<String, Object> read(final Path path) throws IOException {
        return (Map<String, Object>) Json.parse(Files.readString(path));
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> list(final Map<String, Object> dump, final String key) {
        return (List<Map<String, Object>>) requireNonNull(dump.get(key));
    }

    private static Map<String, Object> block(final long address, final long sizeBytes, final String state) {
        return Map.of("address", "0x" + Long.toHexString(address), "sizeBytes", sizeBytes, "state", state);
    }

    @Test
    void shouldWriteStatisticsRegionsBlocksAndHolders() throws IOException {
        final SimulatedDevice device = new SimulatedDevice();
        final Path path = folder.resolve("dump.json");
        try (Pool pool = Pool.over(new VirtualMemorySource())
                .strategy("tlsf", new StrategyOptions(256, 1024))
                .firstRegionBytes(4 * MIB)
                .growInPlace(false)
                .reuse(ReusePolicy.TRACKED, device)
                .leakLevel(LeakLevel.ALL)
                .name("dumped")
                .build()) {
            final long raw = pool.allocate(MIB);
            final DeviceBuffer buffer = Program.buffer(pool, MIB);
            final long limbo = pool.allocate(2 * MIB);
            final long second = pool.allocate(1);
            pool.free(limbo);
            Files.writeString(path, "what was there");

            pool.dump(path);

            final Map<String, Object> dump = read(path);
            assertEquals(Set.of("name", "statistics", "regions", "blocks", "holders"), dump.keySet());
            assertEquals("dumped", dump.get("name"));
            final PoolStatistics now = pool.statistics();
            final Map<String, Object> statistics =
                    new HashMap<>(Map.of("movedBytes", 0L, "mappings", now.mappings(), "failures", 0L, "leaks", 0L));
            statistics.putAll(Map.of(
                    "regions",
                    2L,
                    "heldBytes",
                    8 * MIB,
                    "usedBytes",
                    2 * MIB + 256,
                    "limboBytes",
                    2 * MIB,
                    "freeBytes",
                    now.freeBytes(),
                    "peakUsedBytes",
                    4 * MIB + 256,
                    "liveBlocks",
                    3L,
                    "allocations",
                    4L,
                    "synchronizations",
                    0L));
            assertEquals(statistics, dump.get("statistics"));
            assertEquals(
                    List.of(
                            Map.of("address", "0x" + Long.toHexString(raw), "sizeBytes", 4 * MIB),
                            Map.of("address", "0x" + Long.toHexString(second), "sizeBytes", 4 * MIB)),
                    dump.get("regions"));
            final List<Map<String, Object>> blocks = list(dump, "blocks");
            final String site = String.valueOf(blocks.get(1).remove("site"));
            assertTrue(site.startsWith("examples.Program.buffer("), site);
            assertEquals(
                    List.of(
                            block(raw, MIB, "used"),
                            block(buffer.address(), MIB, "used"),
                            block(limbo, 2 * MIB, "limbo"),
                            block(second, 256, "used"),
                            block(second + 256, 4 * MIB - 256, "free")),
                    blocks);
            final List<Map<String, Object>> holders = list(dump, "holders");
            assertEquals(
                    List.of(MIB, MIB, 256L),
                    holders.stream().map(holder -> holder.get("sizeBytes")).toList());
            assertEquals(site, holders.get(1).get("site"));
            pool.free(raw);
            pool.free(second);
            buffer.close();
        }
    }

    @Test
    void shouldWriteAPoolThatHoldsNothing() throws IOException {
        final Path path = folder.resolve("empty.json");
        try (Pool pool = Pool.over(new VirtualMemorySource()).build()) {
            pool.dump(path);
        }

        final Map<String, Object> dump = read(path);
        assertEquals(Set.of("statistics", "regions", "blocks", "holders"), dump.keySet());
        assertEquals(List.of(), dump.get("blocks"));
    }

    /** The blocks and the statistics of a dump are those of one moment. */
    @Test
    void shouldBeConsistentWhileAnotherThreadAllocates() throws Exception {
        final Path path = folder.resolve("busy.json");
        try (Pool pool = Pool.over(new VirtualMemorySource())
                .strategy("tlsf", new StrategyOptions(256, 1 << 14))
                .firstRegionBytes(64 * MIB)
                .limitBytes(64 * MIB)
                .build()) {
            final List<Long> blocks = new ArrayList<>();
            final Thread worker = new Thread(() -> {
                int size = 1;
                while (!Thread.currentThread().isInterrupted()) {
                    blocks.add(pool.allocate(size));
                    size = size * 7 % 10_007;
                    if (blocks.size() > 1000) {
                        pool.free(blocks.remove(size % 1000));
                    }
                }
                blocks.forEach(pool::free);
            });
            worker.start();
            for (int i = 0; i < 50; i++) {
                pool.dump(path);

                final Map<String, Object> dump = read(path);
                final Map<?, ?> statistics = (Map<?, ?>) dump.get("statistics");
                long usedBytes = 0;
                long liveBlocks = 0;
                for (final Map<String, Object> block : list(dump, "blocks")) {
                    if ("used".equals(block.get("state"))) {
                        usedBytes += (Long) requireNonNull(block.get("sizeBytes"));
                        liveBlocks++;
                    }
                }
                assertEquals(requireNonNull(statistics).get("usedBytes"), usedBytes);
                assertEquals(statistics.get("liveBlocks"), liveBlocks);
            }
            worker.interrupt();
            worker.join();
        }
    }

    @Test
    void shouldSayThatTheFileCannotBeWritten() {
        try (Pool pool = Pool.over(new VirtualMemorySource()).build()) {
            assertThrows(
                    NoSuchFileException.class,
                    () -> pool.dump(folder.resolve("nowhere").resolve("dump.json")));
        }
    }

    @Test
    void shouldQuoteWhateverAClassMayBeCalled() {
        final StringBuilder all = new StringBuilder();
        for (int c = 0; c <= Character.MAX_VALUE; c++) {
            all.append((char) c);
        }

        final String quoted = PoolDump.quoted(all.toString());

        assertEquals(all.toString(), Json.parse(quoted));
        assertTrue(quoted.chars().noneMatch(c -> Character.isSurrogate((char) c)), "a writer would refuse a lone one");
    }

    @Test
    void shouldLeavePlainTextAsItIs() {
        assertEquals("\"a.B.c(B.java:12) \u00e9\"", PoolDump.quoted("a.B.c(B.java:12) \u00e9"));
    }
}
