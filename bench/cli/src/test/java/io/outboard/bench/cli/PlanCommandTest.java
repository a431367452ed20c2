package io.outboard.bench.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.bench.cli.trace.TraceReader;
import io.outboard.bench.cli.trace.TraceWriter;
import io.outboard.tlsf.Plan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** These tests check {@code outboard plan} as users call it. */
class PlanCommandTest {

    private static final String LOG = """
            Thread,Time,Action,Pointer,Size,Stream
            1,0,allocate,0x1000,1000,0
            1,1,allocate,0x2000,500,0
            1,2,free,0x1000,1000,0
            1,3,allocate,0x3000,800,0
            """;

    @TempDir
    private Path folder;

    private Path trace = Path.of("");
    private Path log = Path.of("");

    @BeforeEach
    void writeTraces() throws Exception {
        trace = folder.resolve("large.hpt");
        TraceWriter.writeHpTrace(Profiles.named("large", 4000), trace);
        log = Files.writeString(folder.resolve("log.csv"), LOG);
    }

    @Test
    void shouldPrintOneJsonObjectForEachTrace() {
        final CommandRun outcome =
                CommandRun.of("plan", trace.toString(), log.toString(), "--format", "json", "--seconds", "0.2");

        assertEquals(0, outcome.exitCode(), outcome.err());
        final List<String> lines = outcome.out().lines().toList();
        assertEquals(2, lines.size(), outcome.out());
        for (final String line : lines) {
            final long bound = number(line, "lowerBoundBytes");
            assertTrue(number(line, "peakLiveBytes") <= bound, line);
            assertTrue(number(line, "regionBytes") >= bound, line);
            assertTrue(line.contains("\"seconds\":"), line);
        }
        // 1000 and 500 bytes are 4 and 2 granules; 800 bytes are 4 granules, in the place of the first block.
        assertEquals(6 * 256, number(lines.get(1), "regionBytes"));
        assertEquals(6 * 256, number(lines.get(1), "lowerBoundBytes"));
        assertEquals(1500, number(lines.get(1), "peakLiveBytes"));
    }

    @Test
    void shouldPrintATableAndWriteThePlan() throws Exception {
        final Path file = folder.resolve("step.plan");

        final CommandRun outcome = CommandRun.of("plan", log.toString(), "--out", file.toString(), "--granule", "512");

        assertEquals(0, outcome.exitCode(), outcome.err());
        assertTrue(outcome.out().contains("log.csv"), outcome.out());
        assertTrue(outcome.out().contains("--strategy planned:" + file), outcome.out());
        final Plan plan = Plan.read(file);
        assertEquals(3, plan.blocks());
        assertEquals(512, plan.granuleBytes());
        assertEquals(3 * 512, plan.regionBytes());
    }

    /** Anyone can check a plan against its trace. */
    @Test
    void shouldWriteEachAllocationWithItsOperations() throws Exception {
        final Path file = folder.resolve("step.plan");

        CommandRun.of("plan", trace.toString(), "--out", file.toString(), "--seconds", "0.1");

        final Trace read = TraceReader.read(trace);
        final List<String> lines = Files.readAllLines(file);
        int line = 5;
        for (int i = 0; i < read.operationCount(); i++) {
            if (!Trace.isFree(read.operations()[i])) {
                final String[] fields = lines.get(line++).split(",", -1);
                assertEquals(Trace.bytes(read.operations()[i]), Long.parseLong(fields[0]));
                assertEquals(i, Integer.parseInt(fields[2]));
            }
        }
        assertEquals(lines.size(), line);
    }

    /**
     * The region of a plan must be enough for the strategy that follows the plan, pass after pass, and is too small for
     * TLSF. Neither search depends on the machine's speed: the first placement of the one trace is good enough, and the
     * search for the other ends at the bound.
     */
    @ParameterizedTest
    @CsvSource({"large, 2500, 0", "paper, 200, 86400"})
    void shouldLetReplayFollowThePlanInARegionOfItsSize(
            final String profile, final int operations, final String seconds) throws Exception {
        TraceWriter.writeHpTrace(Profiles.named(profile, operations), trace);
        final Path file = folder.resolve("step.plan");
        CommandRun.of("plan", trace.toString(), "--out", file.toString(), "--seconds", seconds);
        final long regionBytes = Plan.read(file).regionBytes();
        final String[] command = {
            "replay",
            trace.toString(),
            "--device",
            "none",
            "--format",
            "json",
            "--region",
            "" + regionBytes,
            "--strategy"
        };

        final CommandRun planned = CommandRun.of(with(command, "planned:" + file));
        final CommandRun tlsf = CommandRun.of(with(command, "tlsf"));

        assertEquals(0, planned.exitCode(), planned.err());
        assertTrue(planned.out().contains("\"strategy\":\"planned\""), planned.out());
        assertEquals(0, number(planned.out(), "failures"), planned.out());
        assertTrue(number(tlsf.out(), "failures") > 0, tlsf.out());
    }

    @ParameterizedTest
    @CsvSource({
        "planned, --strategy=planned must be one of",
        "planned:LOG, 'outboard: --strategy=planned:LOG, line 1: it must be'",
        "planned:/none, must name a plan that can be read"
    })
    void shouldRefuseAStrategyWithoutAPlan(final String strategy, final String message) {
        final CommandRun outcome =
                CommandRun.of("replay", trace.toString(), "--device", "none", "--strategy", filled(strategy));

        assertEquals(2, outcome.exitCode(), outcome.err());
        assertEquals(1, outcome.err().lines().count(), outcome.err());
        assertTrue(outcome.err().contains(filled(message)), outcome.err());
    }

    /** A region of the capacity is good enough, so the search ends; it would otherwise take a day. */
    @Test
    void shouldLookForNoLessThanTheCapacity() {
        final String[] command = {"plan", log.toString(), "--seconds", "86400", "--capacity"};

        assertEquals(0, CommandRun.of(with(command, "1536")).exitCode());
        assertEquals(
                1, CommandRun.of("plan", log.toString(), "--capacity", "1535").exitCode());
    }

    @Test
    void shouldPlanInstancesOfMiniMalloc() throws Exception {
        final Path file = Files.writeString(folder.resolve("input.12.csv"), """
                id,lower,upper,size
                b1,0,3,4
                b2,3,9,4
                b3,0,9,4
                b4,9,21,4
                b5,0,21,4
                """);

        final CommandRun outcome =
                CommandRun.of("plan", file.toString(), "--granule", "1", "--capacity", "12", "--format", "json");

        assertEquals(0, outcome.exitCode(), outcome.err());
        assertEquals(12, number(outcome.out(), "regionBytes"));
        assertEquals(5, number(outcome.out(), "blocks"));
    }

    /** The second step has a block less and a larger one; the third range is another step. */
    @Test
    void shouldPlanWhatStepsHaveInCommon() throws Exception {
        final Path two = Files.writeString(folder.resolve("two.csv"), """
                Thread,Time,Action,Pointer,Size,Stream
                1,0,allocate,0x1000,1000,0
                1,1,allocate,0x2000,20000,0
                1,2,free,0x2000,20000,0
                1,3,allocate,0x3000,8000,0
                1,4,free,0x1000,1000,0
                1,5,free,0x3000,8000,0
                1,6,allocate,0x1000,1000,0
                1,7,allocate,0x3000,8100,0
                1,8,free,0x3000,8100,0
                1,9,free,0x1000,1000,0
                """);
        final Path file = folder.resolve("step.plan");

        final CommandRun outcome =
                CommandRun.of("plan", two.toString(), "--operations", "0-6,6-10", "--common", "--out", file.toString());

        assertEquals(0, outcome.exitCode(), outcome.err());
        final List<String> blocks = Files.readAllLines(file).subList(5, 7);
        assertTrue(blocks.get(0).startsWith("1000,"), blocks::toString);
        assertTrue(blocks.get(1).startsWith("8100,"), blocks::toString);
        assertEquals(2, Plan.read(file).blocks());
        assertEquals((4 + 32) * 256, Plan.read(file).regionBytes());
    }

    @Test
    void shouldMeasureStepsThatDeviate() {
        final CommandRun outcome =
                CommandRun.of("plan", log.toString(), "--deviations", "2", "--format", "json", "--slack", "2");

        assertEquals(0, outcome.exitCode(), outcome.err());
        final List<String> lines = outcome.out().lines().toList();
        assertTrue(lines.size() > 8, outcome.out());
        assertTrue(lines.get(1).contains("\"deviation\":\"as recorded\",\"seeds\":2,\"plannedMean\":1."), lines.get(1));
        assertTrue(lines.get(4).contains("\"deviation\":\"one block missing\""), lines.get(4));
    }

    /** Some editors write a byte order mark. */
    @Test
    void shouldReadAPlanBehindAByteOrderMark() throws IOException {
        final Path file = folder.resolve("bom.plan");
        assertEquals(
                0,
                CommandRun.of("plan", trace.toString(), "--seconds", "0", "--out", file.toString())
                        .exitCode());
        Files.writeString(file, "\uFEFF" + Files.readString(file));

        final CommandRun outcome =
                CommandRun.of("replay", trace.toString(), "--device", "none", "--strategy", "planned:" + file);

        assertEquals(0, outcome.exitCode(), outcome.err());
    }

    @Test
    void shouldMeasureNothingIfAFileIsMissing() {
        final CommandRun outcome = CommandRun.of("replay", trace.toString(), "/none.csv", "--device", "none");

        assertEquals(2, outcome.exitCode(), outcome.err());
        assertTrue(outcome.err().contains("/none.csv"), outcome.err());
        assertEquals("", outcome.out());
    }

    private static String[] with(final String[] command, final String last) {
        final String[] all = Arrays.copyOf(command, command.length + 1);
        all[command.length] = last;
        return all;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "LOG --granule 300 | --granule=300 must be a power of two from 1 to 1GiB",
                "LOG --granule 2GiB | --granule=2GiB must be a power of two from 1 to 1GiB",
                "LOG --seconds -1 | --seconds=-1.0 must be >= 0 and <= 86400",
                "LOG --seconds NaN | --seconds=NaN must be >= 0 and <= 86400",
                "LOG LOG --out PLAN | --out=PLAN must go with one FILE, not with 2",
                "LOG --operations 0-2,1-4 --out PLAN | --out=PLAN must go with one FILE, not with 2",
                "LOG LOG --operations 0-2 | --operations must go with one FILE, not with 2",
                "LOG --operations 0-5 | --operations=0-5 must be two numbers as in 0-100",
                "LOG --operations 2-2 | --operations=2-2 must be two numbers as in 0-100",
                "LOG --operations 2-3 | --operations=2-3 must have an allocation",
                "LOG --common | --common must go with two files or ranges at least, not with 1",
                "LOG --operations 1-2,3-4 --common | --common must go with steps that have blocks in common",
                "LOG --slack 11 | --slack=11.0 must be >= 0 and <= 10",
                "LOG --slack NaN | --slack=NaN must be >= 0 and <= 10",
                "LOG --deviations 1001 | --deviations=1001 must be >= 1 and <= 1000",
                "LOG --capacity much | --capacity=much",
                "LOG --out FOLDER | --out=FOLDER must be a file, not a folder",
                "missing.csv | missing.csv",
                "--seconds 1 | Missing required parameter",
            })
    void shouldRefuseWhatIsWrong(final String arguments, final String message) {
        final CommandRun outcome = CommandRun.of(("plan " + filled(arguments)).split(" "));

        assertEquals(2, outcome.exitCode(), outcome.err());
        assertEquals(1, outcome.err().lines().count(), outcome.err());
        assertTrue(outcome.err().contains(filled(message)), outcome.err());
        assertFalse(Files.exists(folder.resolve("step.plan")));
    }

    private String filled(final String text) {
        return text.replace("LOG", log.toString())
                .replace("PLAN", folder.resolve("step.plan").toString())
                .replace("FOLDER", folder.toString());
    }

    private static long number(final String line, final String key) {
        final Matcher matcher = Pattern.compile("\"" + key + "\":([0-9]+)").matcher(line);
        assertTrue(matcher.find(), line);
        return Long.parseLong(matcher.group(1));
    }
}
