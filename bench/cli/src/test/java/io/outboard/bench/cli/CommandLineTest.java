package io.outboard.bench.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.bench.cli.trace.TraceWriter;
import io.outboard.core.Strategies;
import io.outboard.core.StrategyProvider;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** These tests check what the commands print, write and exit with, as users call them, without a GPU. */
class CommandLineTest {

    private static final List<String> KEYS = List.of(
            "trace",
            "strategy",
            "device",
            "reusePolicy",
            "ops",
            "nsPerOp",
            "allocate",
            "free",
            "gcBytesPerOp",
            "peakLiveBytes",
            "peakLiveBlocks",
            "peakExtentBytes",
            "smallestRegionBytes",
            "externalFragmentation",
            "internalFragmentation",
            "hostBytes",
            "hostBytesPerBlock",
            "failures",
            "jdk",
            "gpu",
            "commit");

    @TempDir
    private Path folder;

    @Test
    void shouldPrintOneJsonObjectALineWithEveryKey() {
        final CommandRun outcome =
                CommandRun.of("malloc-large", "--ops", "2000", "--device", "none", "--format", "json");

        assertEquals(0, outcome.exitCode(), outcome.err());
        assertEquals(1, outcome.out().lines().count());
        for (final String key : KEYS) {
            assertTrue(outcome.out().contains("\"" + key + "\":"), key);
        }
        for (final String part : List.of("mean", "p50", "p99", "p999", "p9999", "max")) {
            assertTrue(outcome.out().contains("\"" + part + "\":"), part);
        }
        assertTrue(outcome.out().contains("\"gcBytesPerOp\":0.000"), outcome.out());
        assertTrue(outcome.out().contains("\"failures\":0"), outcome.out());
    }

    @Test
    void shouldPrintATableForPeople() {
        final CommandRun outcome =
                CommandRun.of("malloc-large", "--ops", "2000", "--device", "none", "--profile", "large");

        assertEquals(0, outcome.exitCode(), outcome.err());
        assertTrue(outcome.out().contains("large: 2,000 operations"), outcome.out());
        assertTrue(outcome.out().contains("tlsf"), outcome.out());
        assertEquals("", outcome.err());
    }

    @Test
    void shouldTakeTlsfForTheStrategyThatIsGoneAndSaySoOnce() throws Exception {
        final Path trace = folder.resolve("one.trace");
        TraceWriter.writeHpTrace(new Trace("one", 1, 1 << 20, new long[] {Trace.allocation(0, 1)}), trace);
        final Path page = folder.resolve("one.html");
        final Logger logger = Logger.getLogger("io.outboard.core");
        final List<String> said = new ArrayList<>();
        logger.setFilter(logged -> {
            said.add(logged.getMessage());
            return false;
        });
        try {
            final String[] replay = {
                "replay", trace.toString(), "--device", "none", "--strategy", "tlsf-frugal,tlsf", "--format", "json"
            };
            final CommandRun outcome = CommandRun.of(replay);
            final CommandRun picture =
                    CommandRun.of("picture", trace.toString(), "--strategy", "tlsf-frugal", "--out", page.toString());

            assertEquals(0, outcome.exitCode(), outcome.err());
            assertEquals(1, outcome.out().lines().count(), outcome.out());
            assertTrue(outcome.out().contains("\"strategy\":\"tlsf\""), outcome.out());
            assertEquals(0, picture.exitCode(), picture.err());
        } finally {
            logger.setFilter(null);
        }

        assertEquals(List.of("the strategy tlsf-frugal is gone, tlsf is taken instead"), said);
        assertFalse(Files.readString(page).contains("tlsf-frugal"));
    }

    @Tag("thorough")
    @Test
    void shouldPrintEveryStrategyInTablesThatFitATerminal() {
        final CommandRun outcome = CommandRun.of(
                "malloc-large", "--ops", "2000", "--device", "none", "--strategy", "all", "--region", "smallest");

        assertEquals(0, outcome.exitCode(), outcome.err());
        final List<String> lines = outcome.out().lines().toList();
        for (final StrategyProvider provider : Strategies.all()) {
            assertTrue(
                    lines.stream()
                                    .filter(line -> line.startsWith(provider.name() + " "))
                                    .count()
                            >= 2,
                    outcome.out());
        }
        assertTrue(outcome.out().contains("host bytes a block"), outcome.out());
        assertTrue(lines.stream().allMatch(line -> line.length() <= TextTable.terminalColumns()), outcome.out());
        assertTrue(outcome.out().contains(TextTable.BEST), outcome.out());
    }

    @Test
    void shouldWriteEverythingThatOutAsksFor() {
        final Path out = folder.resolve("results");

        final CommandRun outcome = CommandRun.of(
                "malloc-large", "--ops", "2000", "--device", "none", "--region", "smallest", "--out", out.toString());

        assertEquals(0, outcome.exitCode(), outcome.err());
        for (final String name : List.of(
                "results.jsonl",
                "environment.json",
                "paper-tlsf-allocate.hgrm",
                "paper-tlsf-free.hgrm",
                "paper-tlsf-memory.csv",
                "paper-tlsf-operations.csv",
                "paper-tlsf-calls.csv",
                "report.html")) {
            assertTrue(Files.isRegularFile(out.resolve(name)), name);
        }
    }

    /** Files of an old run next to the new ones made a page of two runs. */
    @Test
    void shouldRefuseAFolderOfAnotherRunBeforeItMeasures() throws Exception {
        Files.writeString(folder.resolve("large-pooled-memory.csv"), "old");
        Files.writeString(folder.resolve("threads.json"), "of a time when it was called so");
        Files.writeString(folder.resolve("notes.txt"), "mine");
        final String[] command = {
            "malloc-large", "--ops", "2000", "--device", "none", "--out", folder.toString(), "--overwrite"
        };

        final CommandRun refused = CommandRun.of(Arrays.copyOf(command, command.length - 1));

        assertEquals(2, refused.exitCode(), refused.err());
        assertTrue(
                refused.err()
                        .contains("--out=" + folder + " must be a folder without another run's results, but has"
                                + " large-pooled-memory.csv: choose another one, or replace them with --overwrite"),
                refused.err());
        assertEquals("", refused.out());
        assertFalse(Files.exists(folder.resolve("results.jsonl")));

        final CommandRun replaced = CommandRun.of(command);

        assertEquals(0, replaced.exitCode(), replaced.err());
        assertFalse(Files.exists(folder.resolve("large-pooled-memory.csv")));
        assertFalse(Files.exists(folder.resolve("threads.json")));
        assertTrue(Files.exists(folder.resolve("results.jsonl")));
        assertEquals("mine", Files.readString(folder.resolve("notes.txt")));
    }

    @EnabledOnOs(OS.LINUX)
    @Test
    void shouldNameTheFileThatPlacementsCanNotBeWrittenTo() throws Exception {
        final Path trace = folder.resolve("one.trace");
        TraceWriter.writeHpTrace(new Trace("one", 1, 1 << 20, new long[] {Trace.allocation(0, 1)}), trace);

        final CommandRun outcome = CommandRun.of(
                "replay", trace.toString(), "--strategy", "tlsf", "--device", "none", "--placements", "/dev/full");

        assertEquals(1, outcome.exitCode(), outcome.err());
        assertTrue(outcome.err().startsWith("outboard: /dev/full: "), outcome.err());
    }

    /** {@code head} ends once it has enough lines, and so closes the pipe. */
    @EnabledOnOs({OS.LINUX, OS.MAC})
    @Timeout(60)
    @ParameterizedTest
    @CsvSource({"replay, --placements", "plan, --out", "picture, --out"})
    void shouldEndQuietlyWhenNobodyReadsOn(final String command, final String option) throws Exception {
        final Path pipe = folder.resolve("pipe");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        final Path trace = folder.resolve("long.trace");
        final long[] operations = new long[60_000];
        Arrays.setAll(operations, i -> i % 2 == 0 ? Trace.allocation(0, i + 1) : Trace.free(0, i));
        TraceWriter.writeHpTrace(new Trace("long", 1, 1 << 20, operations), trace);
        final CompletableFuture<Integer> read = CompletableFuture.supplyAsync(() -> {
            try (InputStream in = Files.newInputStream(pipe)) {
                return in.read();
            } catch (final IOException e) {
                throw new UncheckedIOException(e);
            }
        });

        final List<String> arguments = new ArrayList<>(List.of(command, trace.toString(), option, pipe.toString()));
        arguments.addAll(
                switch (command) {
                    case "plan" -> List.of("--seconds", "0.1");
                    case "picture" -> List.of("--strategy", "tlsf");
                    default -> List.of("--strategy", "tlsf", "--device", "none");
                });
        final CommandRun outcome = CommandRun.of(arguments.toArray(String[]::new));

        assertTrue(read.get() > 0);
        assertEquals(141, outcome.exitCode(), outcome.err());
        assertEquals("", outcome.err());
    }

    /** A command that measures nothing must delete nothing. */
    @Test
    void shouldKeepAnOldRunWhenTheNewOneIsRefused() throws Exception {
        Files.writeString(folder.resolve("results.jsonl"), "old");

        final CommandRun outcome = CommandRun.of(
                "malloc-large",
                "--ops",
                "2000",
                "--device",
                "none",
                "--region",
                "1",
                "--overwrite",
                "--out",
                folder.toString());

        assertNotEquals(0, outcome.exitCode(), outcome.out());
        assertEquals("old", Files.readString(folder.resolve("results.jsonl")));
    }

    @Test
    void shouldMakeAPictureOnRequest() throws Exception {
        final Path out = folder.resolve("results");
        CommandRun.of("malloc-large", "--ops", "2000", "--device", "none", "--out", out.toString());
        final Path picture = folder.resolve("latency.svg");

        final CommandRun outcome = CommandRun.of("report", out.toString(), "--svg", picture.toString());

        assertEquals(0, outcome.exitCode(), outcome.err());
        assertTrue(Files.readString(picture).startsWith("<svg "));
        assertTrue(outcome.out().contains(picture.toString()), outcome.out());
    }

    @Test
    void shouldMakeTheReportAgainFromItsFolder() throws Exception {
        final Path out = folder.resolve("results");
        CommandRun.of("malloc-large", "--ops", "2000", "--device", "none", "--out", out.toString());
        Files.delete(out.resolve("report.html"));

        final CommandRun outcome = CommandRun.of("report", out.toString());

        assertEquals(0, outcome.exitCode(), outcome.err());
        assertTrue(Files.readString(out.resolve("report.html")).contains("tlsf"));
    }

    @Test
    void shouldServeTheTraceInTheSmallestRegionThatItFinds() {
        final CommandRun outcome = CommandRun.of(
                "malloc-large", "--ops", "20000", "--device", "none", "--region", "smallest", "--format", "json");

        assertEquals(0, outcome.exitCode(), outcome.err());
        assertTrue(outcome.out().contains("\"failures\":0"), outcome.out());
        final long smallest = number(outcome.out(), "smallestRegionBytes");
        assertEquals(smallest, number(outcome.out(), "regionBytes"));
        assertTrue(smallest >= number(outcome.out(), "peakLiveBytes"), outcome.out());
        assertTrue(smallest < 1.5 * number(outcome.out(), "peakLiveBytes"), outcome.out());
    }

    @Test
    void shouldCountAllocationsThatFoundNoMemory() {
        final CommandRun outcome = CommandRun.of(
                "malloc-large", "--ops", "2000", "--device", "none", "--region", "64MiB", "--format", "json");

        assertEquals(0, outcome.exitCode(), outcome.err());
        assertTrue(number(outcome.out(), "failures") > 0, outcome.out());
    }

    @Test
    void shouldWritePlacementsThatNeverOverlap() throws Exception {
        final Trace trace = Profiles.named("mid", 30_000);
        final Path file = folder.resolve("mid.hptrace");
        final Path placements = folder.resolve("placements.csv");
        TraceWriter.writeHpTrace(trace, file);

        final CommandRun outcome = CommandRun.of(
                "replay",
                file.toString(),
                "--device",
                "none",
                "--region",
                "smallest",
                "--placements",
                placements.toString());

        assertEquals(0, outcome.exitCode(), outcome.err());
        checkPlacements(trace, Files.readAllLines(placements));
    }

    /** One trace says little, because a region that serves a trace may be smaller than another region that doesn't. */
    @Tag("thorough")
    @Test
    void shouldLookForTheSmallestRegionWithSeveralSeeds() throws IOException {
        final Path out = folder.resolve("seeds");
        final CommandRun outcome = CommandRun.of(
                "malloc-large",
                "--ops",
                "20000",
                "--device",
                "none",
                "--profile",
                "large",
                "--region",
                "smallest",
                "--seeds",
                "3",
                "--format",
                "json",
                "--out",
                out.toString());

        assertEquals(0, outcome.exitCode(), outcome.err());
        assertTrue(outcome.out().contains("\"seeds\":3,\"unserved\":0"), outcome.out());
        final Matcher matcher = Pattern.compile("\"firstServedMean\":([0-9.]+),\"firstServedWorst\":([0-9.]+),"
                        + "\"lastRefusedMean\":([0-9.]+),\"lastRefusedWorst\":([0-9.]+)")
                .matcher(outcome.out());
        assertTrue(matcher.find(), outcome.out());
        final double served = Double.parseDouble(matcher.group(1));
        assertTrue(served > 1 && served < Double.parseDouble(matcher.group(2)), outcome.out());
        assertTrue(Double.parseDouble(matcher.group(3)) < Double.parseDouble(matcher.group(4)), outcome.out());
        assertTrue(Files.readString(out.resolve("report.html")).contains("Smallest regions over seeds"));
    }

    @Test
    void shouldMeasureBlocksByHandleInTheSamePlaces() {
        final CommandRun byHandle = CommandRun.of(
                "malloc-large", "--ops", "2000", "--device", "none", "--by", "handle", "--format", "json");
        final CommandRun byAddress =
                CommandRun.of("malloc-large", "--ops", "2000", "--device", "none", "--format", "json");

        assertEquals(0, byHandle.exitCode(), byHandle.err());
        assertTrue(byHandle.out().contains("\"strategy\":\"tlsf by handle\""), byHandle.out());
        assertTrue(byAddress.out().contains("\"strategy\":\"tlsf\""), byAddress.out());
        for (final String figure : List.of("peakExtentBytes", "externalFragmentation", "gcBytesPerOp", "failures")) {
            final Pattern pattern = Pattern.compile("\"" + figure + "\":[^,]+");
            assertEquals(first(pattern, byAddress.out()), first(pattern, byHandle.out()));
        }
    }

    private static String first(final Pattern pattern, final String text) {
        final Matcher matcher = pattern.matcher(text);
        assertTrue(matcher.find(), text);
        return matcher.group();
    }

    @ParameterizedTest
    @CsvSource({
        "--by=handel,                                              --by=handel must be address or handle",
        "--by=handle --tail,                                       --by=handle must not be given with --tail or --seeds",
        "--by=handle --seeds=2 --region=smallest --profile=large,  --by=handle must not be given with --tail or --seeds"
    })
    void shouldRefuseWhatCannotBeMeasuredByHandle(final String arguments, final String message) {
        final CommandRun outcome = CommandRun.of(("malloc-large " + arguments).split(" "));

        assertEquals(2, outcome.exitCode());
        assertTrue(outcome.err().contains(message), outcome.err());
    }

    @Test
    void shouldPrintALineForTheTailAndOneForNothing() throws IOException {
        final Path out = folder.resolve("tail");

        final CommandRun outcome = CommandRun.of(
                "malloc-large", "--tail", "--ops", "2.5e5", "--profile", "fragmenting", "--out", out.toString());

        assertEquals(0, outcome.exitCode(), outcome.err());
        final List<String> lines = outcome.out().lines().toList();
        for (final String name : List.of("tlsf ", "nothing ")) {
            final List<String> rows =
                    lines.stream().filter(line -> line.startsWith(name)).toList();
            assertFalse(rows.isEmpty(), outcome.out());
            assertTrue(rows.get(0).contains("250,000"), outcome.out());
        }
        assertTrue(outcome.out().contains("p99.999"), outcome.out());
        assertEquals(2, Files.readAllLines(out.resolve("tail.jsonl")).size());
        assertTrue(Files.readString(out.resolve("report.html")).contains("Tail latency"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"--help", "--version", "malloc-large --help", "replay --help", "report --help", "strategies"})
    void shouldExplainItself(final String arguments) {
        final CommandRun outcome = CommandRun.of(arguments.split(" "));

        assertEquals(0, outcome.exitCode(), outcome.err());
        assertFalse(outcome.out().isBlank());
    }

    @ParameterizedTest
    @ValueSource(strings = {"--version", "malloc-large --version", "serve --version"})
    void shouldSayWhichVersionItIs(final String arguments) {
        final CommandRun outcome = CommandRun.of(arguments.split(" "));

        assertTrue(outcome.out().matches("outboard \\d+\\.\\d+\\.\\d+\\S*, commit \\S+\\R"), outcome.out());
    }

    @ParameterizedTest
    @CsvSource({
        "malloc-large --profile foo, --profile=foo",
        "serve --device memory --limit 1GiB --socket /tmp/none/none --quota x, outboard: --quota=x must be NAME=",
        "serve --device memory --limit 1GiB --socket /tmp/none/none --quota =1:2, outboard: --quota==1:2 must be NAME=",
        "replay /none.csv, /none.csv",
        "malloc-large --seeds 0, --seeds=0",
        "malloc-large --seeds 65 --region smallest, --seeds=65",
        "malloc-large --seeds 2, --seeds=2 must be 1 unless --region=smallest",
        "malloc-large --strategy foo, --strategy=foo",
        "malloc-large --ops 1, --ops=1",
        "malloc-large --ops x, x",
        "malloc-large --ops 1.5, 1.5",
        "malloc-large --ops 1e10, 1e10",
        "malloc-large --tail --ops 1e4, --ops=10000 must be >= 100000 with --tail",
        "malloc-large --tail --region smallest, --region=smallest must not be given with --tail",
        "malloc-large --tail --seeds 2, --seeds=2 must be 1",
        "malloc-large --tail --device 0, --device must be none or auto with --tail",
        "malloc-large --tail --profile foo, --profile=foo",
        "malloc-large --tail --region 2TiB, must suit tlsf",
        "malloc-large --device foo, device=foo",
        "malloc-large --region 5x, --region=5x",
        "malloc-large --region 0, --region=0",
        "malloc-large --region -1, --region=-1",
        "malloc-large --format xml, xml",
        "malloc-large --foo, --foo",
        "malloc-large --ops 2000 --device none --out /proc, --out=/proc must be a folder in which files can be written",
        "malloc-large --ops 2000 --device none --out=, --out= must be the name of a folder",
        "replay no-such-file, no-such-file",
        "replay, FILE",
        "report no-such-folder, no-such-folder",
        "frobnicate, frobnicate",
        "malloc-large --region 900000t, --region=989560464998400000",
        "'malloc-large --device none --strategy tlsf,segregated-fit --region 2TiB', must suit segregated-fit"
    })
    void shouldNameAWrongArgumentInOneLineAndExitWithTwo(final String arguments, final String named) {
        final CommandRun outcome = CommandRun.of(arguments.split(" "));

        assertEquals(2, outcome.exitCode(), outcome.err());
        assertEquals(1, outcome.err().lines().count(), outcome.err());
        assertTrue(outcome.err().contains(named), outcome.err());
        assertEquals("", outcome.out());
    }

    @Test
    void shouldRefuseARegionThatHoldsMoreGranulesThanAStrategyCounts() {
        final CommandRun outcome =
                CommandRun.of("malloc-large", "--ops", "2000", "--device", "none", "--region", "2TiB");

        assertEquals(2, outcome.exitCode(), outcome.err());
        assertTrue(outcome.err().contains("2^32 - 1 granules"), outcome.err());
    }

    @Test
    void shouldNameABrokenTraceAndExitWithTwo() throws Exception {
        final Path file = folder.resolve("broken.csv");
        Files.writeString(file, "Thread,Time,Action,Pointer,Size,Stream\n1,2,allocate,0x100,abc,0\n");

        final CommandRun outcome = CommandRun.of("replay", file.toString());

        assertEquals(2, outcome.exitCode(), outcome.err());
        assertEquals(1, outcome.err().lines().count(), outcome.err());
        assertTrue(outcome.err().contains("broken.csv") && outcome.err().contains("abc"), outcome.err());
    }

    @Test
    void shouldRefuseAFolderForResultsThatCannotBeMade() throws Exception {
        final Path file = folder.resolve("file");
        Files.writeString(file, "");

        final CommandRun outcome = CommandRun.of(
                "malloc-large",
                "--ops",
                "2000",
                "--device",
                "none",
                "--out",
                file.resolve("sub").toString());

        assertEquals(2, outcome.exitCode(), outcome.err());
        assertEquals(1, outcome.err().lines().count(), outcome.err());
        assertTrue(outcome.err().contains("--out="), outcome.err());
    }

    @Test
    void shouldExitWithOneAndOneLineWhenAResultCannotBeWritten() throws Exception {
        Files.createDirectories(folder.resolve("results.jsonl"));

        final CommandRun outcome =
                CommandRun.of("malloc-large", "--ops", "2000", "--device", "none", "--out", folder.toString());

        assertEquals(1, outcome.exitCode(), outcome.err());
        assertEquals(1, outcome.err().lines().count(), outcome.err());
        assertTrue(outcome.err().contains("results.jsonl"), outcome.err());
    }

    @Test
    void shouldRefuseAFolderForPlacements() throws Exception {
        final CommandRun outcome = CommandRun.of("replay", "trace.csv", "--placements", folder.toString());

        assertEquals(2, outcome.exitCode(), outcome.err());
        assertTrue(outcome.err().contains("--placements="), outcome.err());
    }

    /** The search once went up in steps of a few bytes, starting below a granule. */
    @Test
    void shouldFindTheSmallestRegionForTinyBlocks() throws Exception {
        final StringBuilder log = new StringBuilder("Thread,Time,Action,Pointer,Size,Stream\n");
        for (int i = 1; i <= 1000; i++) {
            log.append("1,")
                    .append(i)
                    .append(",allocate,0x")
                    .append(Integer.toHexString(i))
                    .append(",1,0\n");
        }
        final Path file = folder.resolve("tiny.csv");
        Files.writeString(file, log);

        final CommandRun outcome = CommandRun.of(
                "replay", file.toString(), "--device", "none", "--region", "smallest", "--format", "json");

        assertEquals(0, outcome.exitCode(), outcome.err());
        assertEquals(256_000, number(outcome.out(), "smallestRegionBytes"));
    }

    /** Draining once looked at every slot that the trace names, after each of many passes. */
    @Test
    void shouldMeasureAShortTraceWithManySlotsInNoTime() throws Exception {
        final Trace trace =
                new Trace("sparse", Trace.MAX_SLOTS, 1 << 20, new long[] {Trace.allocation(5, 10), Trace.free(5, 10)});
        final Path file = folder.resolve("sparse.hptrace");
        TraceWriter.writeHpTrace(trace, file);

        final CommandRun outcome = assertTimeoutPreemptively(
                Duration.ofSeconds(20),
                () -> CommandRun.of("replay", file.toString(), "--device", "none", "--format", "json"));

        assertEquals(0, outcome.exitCode(), outcome.err());
    }

    @Test
    void shouldPrintAStackTraceOnlyWhenAskedTo() {
        final CommandRun outcome = CommandRun.of("replay", "no-such-file", "--verbose");

        assertEquals(2, outcome.exitCode(), outcome.err());
        assertTrue(outcome.err().contains("\tat "), outcome.err());
    }

    private static void checkPlacements(final Trace trace, final List<String> lines) {
        final Map<Integer, long[]> placed = new TreeMap<>();
        assertEquals("operation,address,bytes", lines.get(0));
        for (final String line : lines.subList(1, lines.size())) {
            final String[] fields = line.split(",", -1);
            placed.put(Integer.valueOf(fields[0]), new long[] {Long.parseLong(fields[1]), Long.parseLong(fields[2])});
        }
        final TreeMap<Long, Long> live = new TreeMap<>();
        final long[] addresses = new long[trace.slots()];
        int allocations = 0;
        for (int i = 0; i < trace.operationCount(); i++) {
            final long operation = trace.operations()[i];
            if (Trace.isFree(operation)) {
                live.remove(addresses[Trace.slot(operation)]);
                continue;
            }
            allocations++;
            final long[] placement = placed.getOrDefault(i, new long[] {-1, -1});
            final long address = placement[0];
            assertEquals(Trace.bytes(operation), placement[1]);
            assertEquals(0, address % 256);
            final Map.Entry<Long, Long> before = live.floorEntry(address);
            final Long after = live.ceilingKey(address);
            assertTrue(before == null || before.getValue() <= address, "overlap at operation " + i);
            assertTrue(after == null || address + Trace.bytes(operation) <= after, "overlap at operation " + i);
            live.put(address, address + Trace.bytes(operation));
            addresses[Trace.slot(operation)] = address;
        }
        assertEquals(allocations, placed.size());
    }

    private static long number(final String json, final String key) {
        final String rest = json.substring(json.indexOf("\"" + key + "\":") + key.length() + 3);
        return Long.parseLong(rest.substring(0, rest.indexOf(',')));
    }
}
