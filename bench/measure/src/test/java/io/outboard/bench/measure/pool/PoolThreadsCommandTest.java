package io.outboard.bench.measure.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.CommandRun;
import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.trace.TwoPools;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** This class calls {@code outboard pool} with several threads, as users do, without a GPU. */
class PoolThreadsCommandTest {

    @TempDir
    private Path folder;

    @Test
    void shouldPrintALineForEachPolicyAndNumberOfThreads() throws Exception {
        final CommandRun outcome = run(
                "--profile",
                "pairs",
                "--threads",
                "1,2",
                "--reuse",
                "strict,immediate",
                "--round-ms",
                "10",
                "--format",
                "json",
                "--out",
                folder.toString());

        assertEquals(0, outcome.exitCode(), outcome.err());
        final List<String> lines = outcome.out().lines().toList();
        assertEquals(4, lines.size(), outcome.out());
        for (int i = 0; i < 4; i++) {
            final String line = lines.get(i);
            assertTrue(line.startsWith("{\"profile\":\"pairs\",\"allocator\":\"pool\",\"strategy\":\"tlsf\""), line);
            assertTrue(line.contains("\"reusePolicy\":\"" + (i % 2 == 0 ? "STRICT" : "IMMEDIATE") + "\""), line);
            assertTrue(line.contains("\"threads\":" + (1 + i / 2) + ",\"workers\":" + (2 + i / 2 * 2)), line);
            for (final String key : List.of(
                    "opsPerSecond",
                    "cpuNsPerOp",
                    "ratio",
                    "bareOpsPerSecond",
                    "gcBytesPerOp",
                    "heldBytes",
                    "peakHeldBytes",
                    "marksPerOp",
                    "launchers",
                    "peakLiveBytes",
                    "checkedBlocks",
                    "p50",
                    "p99",
                    "p999",
                    "p9999",
                    "max")) {
                assertTrue(line.contains("\"" + key + "\":"), key + " in " + line);
            }
        }
        assertTrue(lines.get(0).contains("\"ratio\":1.000"), lines.get(0));
        assertEquals(lines, Files.readAllLines(folder.resolve("thread-profiles.jsonl")));
        final String page = Files.readString(folder.resolve("report.html"));
        assertTrue(page.contains("pairs, tlsf, pool, STRICT, 2, 0, 0"));
    }

    @ParameterizedTest
    @CsvSource({"own,threads", "larson,threads", "xmalloc,pairs"})
    void shouldPrintTablesForPeople(final String profile, final String unit) {
        final CommandRun outcome = run("--profile", profile, "--threads", "2", "--others", "1", "--round-ms", "10");

        assertEquals(0, outcome.exitCode(), outcome.err());
        assertTrue(outcome.out().startsWith(profile + ": blocks of 256 B to 1.00 MiB"), outcome.out());
        assertTrue(
                outcome.out().contains("\nallocator          " + unit + "  operations/s  over first"), outcome.out());
        assertTrue(
                outcome.out()
                                .lines()
                                .filter(line -> line.startsWith("tlsf pool, STRICT"))
                                .count()
                        >= 2,
                outcome.out());
        assertTrue(outcome.out().lines().allMatch(line -> line.length() <= TextTable.terminalColumns()), outcome.out());
    }

    @Test
    void shouldCompareMemoryOfSeveralThreadsWithThatOfOne() throws Exception {
        final CommandRun outcome =
                run("--memory", "--ops", "2000", "--threads", "1,3", "--format", "json", "--out", folder.toString());

        assertEquals(0, outcome.exitCode(), outcome.err());
        final List<String> lines = outcome.out().lines().toList();
        assertEquals(4, lines.size(), outcome.out());
        assertTrue(
                lines.get(0).startsWith("{\"trace\":\"paper\",\"mode\":\"shared\",\"strategy\":\"tlsf\""),
                lines.get(0));
        assertTrue(lines.get(0).contains("\"ratio\":1.000"), lines.get(0));
        assertTrue(lines.get(3).startsWith("{\"trace\":\"paper by 3\",\"mode\":\"own\""), lines.get(3));
        assertEquals(lines, Files.readAllLines(folder.resolve("thread-memory.jsonl")));
        assertTrue(Files.readString(folder.resolve("report.html")).contains("paper by 3, own, tlsf, STRICT, 3"));
    }

    @Test
    void shouldReplayARecordedTraceForMemory() throws Exception {
        final Path file = folder.resolve("recorded.csv");
        Files.writeString(file, """
                Thread,Time,Action,Pointer,Size,Stream
                1,1,allocate,0x1000,5000,0
                1,2,allocate,0x9000,700,0
                1,3,free,0x1000,5000,0
                1,4,free,0x9000,700,0
                """);

        final CommandRun outcome = run("--memory", "--trace", file.toString(), "--threads", "2");

        assertEquals(0, outcome.exitCode(), outcome.err());
        assertTrue(outcome.out().contains("\nrecorded.csv  shared  tlsf, STRICT        2"), outcome.out());
    }

    /** The command has no option that names a pool. */
    @Test
    void shouldRefuseARecordingOfSeveralPools() throws Exception {
        final Path file = folder.resolve("two.jfr");
        TwoPools.record(file, "a", "b");

        final CommandRun outcome = run("--memory", "--trace", file.toString());

        assertEquals(2, outcome.exitCode(), outcome.err());
        assertEquals(
                "outboard: " + file + ", events: --trace must be a recording of one pool, not of several: a, b",
                outcome.err().strip());
    }

    @Test
    void shouldMeasureEverySize() throws Exception {
        final CommandRun outcome =
                run("--sweep", "--round-ms", "1", "--threads", "1", "--format", "json", "--out", folder.toString());

        assertEquals(0, outcome.exitCode(), outcome.err());
        final List<String> lines = outcome.out().lines().toList();
        assertEquals(11, lines.size(), outcome.out());
        assertTrue(lines.get(0).startsWith("{\"sizeBytes\":256,\"allocator\":\"pool\""), lines.get(0));
        assertTrue(lines.get(10).startsWith("{\"sizeBytes\":" + (256 << 20) + ","), lines.get(10));
        assertEquals(lines, Files.readAllLines(folder.resolve("sweep.jsonl")));
        assertTrue(Files.readString(folder.resolve("report.html")).contains("Latency by size"));
    }

    @Test
    void shouldRefuseAThreadProfileForMemory() {
        final CommandRun outcome = run("--memory", "--profile", "own");

        assertEquals(2, outcome.exitCode());
        assertTrue(outcome.err().contains("--profile=own must be one of: mimalloc, paper"), outcome.err());
    }

    @Test
    void shouldRefuseAMissingTrace() {
        final CommandRun outcome =
                run("--memory", "--trace", folder.resolve("missing.csv").toString());

        assertEquals(2, outcome.exitCode());
        assertTrue(outcome.err().contains("missing.csv"), outcome.err());
        assertEquals(1, outcome.err().lines().count(), outcome.err());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--sizes    | 256        | --sizes=256 must be MIN..MAX, such as 256..1MiB",
                "--sizes    | 2k..1k     | --sizes=2k..1k must be MIN..MAX with MIN <= MAX",
                "--sizes    | 0..1k      | --sizes=0 must be a size such as",
                "--live     | 0          | --live=0 must be >= 1 and <= 1048576",
                "--round-ms | 0          | --round-ms=0 must be >= 1 and <= 600000",
                "--others   | -1         | --others=-1 must be >= 0 and <= 1000",
                "--threads  | 1001       | --threads=1001 must be >= 1 and <= 1000",
                "--launchers | 1         | --launchers=1 must be 0 without a GPU",
                "--allocators | rmm      | --allocators=rmm must be one of: pool, facade, cudaMalloc, cuMemAllocAsync",
                "--allocators | facade   | --allocators must have pool without a GPU",
                "--slack | 0             | --slack=0 must go with --memory",
                "--trace    | foo.csv.gz | --trace=foo.csv.gz must go with --memory",
            })
    void shouldNameAWrongArgumentInOneLine(final String option, final String value, final String message) {
        final CommandRun outcome = run("--profile", "own", option, value);

        assertEquals(2, outcome.exitCode());
        assertTrue(outcome.err().contains(message), outcome.err());
        assertEquals(1, outcome.err().lines().count(), outcome.err());
    }

    private static CommandRun run(final String... arguments) {
        return CommandRun.of(Stream.concat(Stream.of("pool", "--device", "none"), Stream.of(arguments))
                .toArray(String[]::new));
    }
}
