package io.outboard.bench.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.measurement.Advice;
import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.Pool;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** These tests check {@code outboard advise} and {@code replay} as users call them, on a recording of a program. */
class AdviseCommandTest {

    private static final int OPERATIONS = 3000;

    /** The strategies that these tests measure; other tests measure all of them. */
    private static final String FEW = "tlsf,hal-best-fit";

    @TempDir
    private Path folder;

    private Path recording = Path.of("");

    /** Records a program with at most some 20 MiB live. */
    @BeforeEach
    void recordAProgram() throws IOException {
        recording = folder.resolve("program.rec");
        final SplittableRandom random = new SplittableRandom(5);
        try (Pool pool = Pool.over(new VirtualMemorySource(1L << 30)).build();
                Closeable ends = pool.record(recording)) {
            assertNotNull(ends);
            final List<Long> live = new ArrayList<>();
            for (int i = 0; i < OPERATIONS; i++) {
                if (live.size() > 100 || (!live.isEmpty() && random.nextBoolean())) {
                    pool.free(live.remove(random.nextInt(live.size())));
                } else {
                    live.add(pool.allocate(1 + random.nextInt(400_000)));
                }
            }
            live.forEach(pool::free);
        }
    }

    @Test
    void shouldSayWhatFitsWhichToTakeAndWhy() {
        final CommandRun outcome = CommandRun.of(
                "advise", recording.toString(), "--memory", "1GiB", "--device", "none", "--strategy", FEW);

        assertEquals(0, outcome.exitCode(), outcome.err());
        final List<String> lines = outcome.out().lines().toList();
        final List<String> advice = lines.subList(lines.size() - 6, lines.size());
        assertTrue(advice.get(0).startsWith("fits in 1GiB with: "), advice.get(0));
        for (final String strategy : FEW.split(",", -1)) {
            assertTrue(advice.get(0).contains(strategy + " ("), advice.get(0));
        }
        assertTrue(advice.get(1).matches("take [a-z-]+: .* ns per operation, and \\d+\\.\\d % more .*"), advice.get(1));
        assertTrue(
                advice.get(2).matches("runner-up: [a-z-]+, .*, with \\d+\\.\\d % (more|less) memory"), advice.get(2));
        assertTrue(advice.get(3).startsWith("the driver wasn't asked, without a GPU; "), advice.get(3));
        assertTrue(advice.get(4).contains("./outboard plan"), advice.get(4));
        assertTrue(advice.get(5).startsWith("to take it: "), advice.get(5));
    }

    /** A program also needs the memory of requests that failed. */
    @Test
    void shouldCountWhatFailedAsNeeded() throws IOException {
        final Path log = folder.resolve("oom.csv");
        Files.writeString(log, """
                Thread,Time,Action,Pointer,Size,Stream
                1,1,allocate,0x100,67430186024,0
                1,2,allocate failure,0x0,11166914969,0
                """);
        final String[] arguments = {
            "advise", log.toString(), "--memory", "65GiB", "--device", "none", "--strategy", "tlsf"
        };

        final CommandRun outcome = CommandRun.of(arguments);
        arguments[3] = "80GiB";
        final CommandRun larger = CommandRun.of(arguments);

        assertEquals(1, outcome.exitCode(), outcome.err());
        assertTrue(outcome.out().contains("doesn't fit in 65GiB with any"), outcome.out());
        assertTrue(
                outcome.out().contains("requests that failed when it was recorded: 1, the largest of 10.4 GiB"),
                outcome.out());
        assertEquals(0, larger.exitCode(), larger.err());
    }

    @Test
    void shouldSayThatItDoesNotFit() {
        final CommandRun outcome = CommandRun.of(
                "advise", recording.toString(), "--memory", "1MiB", "--device", "none", "--strategy", "tlsf");

        assertEquals(1, outcome.exitCode(), outcome.err());
        assertTrue(outcome.out().contains("doesn't fit in 1MiB with any; least is needed by "), outcome.out());
        assertTrue(outcome.out().contains("\ntake none: "), outcome.out());
    }

    @Test
    void shouldPrintJsonAndAPage() throws IOException {
        final Path out = folder.resolve("results");
        final CommandRun outcome = CommandRun.of(
                "advise",
                recording.toString(),
                "--device",
                "none",
                "--strategy",
                FEW,
                "--format",
                "json",
                "--out",
                out.toString());

        assertEquals(0, outcome.exitCode(), outcome.err());
        final List<String> lines = outcome.out().lines().toList();
        assertEquals(3, lines.size());
        final String last = lines.get(lines.size() - 1);
        assertTrue(
                last.matches(
                        "\\{\"trace\": ?\"program.rec\", ?\"memoryBytes\": ?null, ?\"verdict\": ?\"[^\"]*\", ?\"advice\": ?\"[a-z-]+\", ?\"regionBytes\": ?\\d+,"
                                + " ?\"runnerUp\": ?(null|\"[a-z-]+\"), ?\"failedRequests\": ?0, ?\"largestFailedBytes\": ?0,"
                                + " ?\"says\": ?\\{.*}}"),
                last);
        final String page = Files.readString(out.resolve("report.html"));
        final String top = page.substring(page.indexOf("<h1>"), page.indexOf("</h1>"));
        assertTrue(top.matches("(?s)<h1>Needs [0-9.]+MiB, or up to a fiftieth more\\. Take .*\\. Runner-up: .*"), top);
        final String first = page.substring(page.indexOf("<main>"), page.indexOf("</section>"));
        assertTrue(first.contains(">Advice</h2>") && first.contains("<li>Runner-up: "), first);
        assertTrue(page.indexOf("Time per operation. ") < page.indexOf("<main>"), "bars of what the sentence says");
    }

    /** The page that says why a program doesn't fit has nothing else to show. */
    @Test
    void shouldMakeAPageThatSaysThatItDoesNotFit() throws IOException {
        final Path out = folder.resolve("results");
        final CommandRun outcome = CommandRun.of(
                "advise",
                recording.toString(),
                "--memory",
                "1MiB",
                "--device",
                "none",
                "--strategy",
                FEW,
                "--out",
                out.toString());

        assertEquals(1, outcome.exitCode(), outcome.err());
        final String page = Files.readString(out.resolve("report.html"));
        final String top = page.substring(page.indexOf("<h1>"), page.indexOf("</h1>"));
        assertTrue(top.contains("Doesn&#39;t fit in 1MiB with any; least is needed by "), top);
    }

    /** {@code report} makes the same page from the folder, wherever it was copied to. */
    @Test
    void shouldKeepTheAdviceInTheFolder() throws IOException {
        final Path out = folder.resolve("results");
        final String[] arguments = {
            "advise", recording.toString(), "--device", "none", "--strategy", "tlsf", "--out", out.toString()
        };
        assertEquals(0, CommandRun.of(arguments).exitCode());
        final String page = Files.readString(out.resolve("report.html"));

        assertEquals(0, CommandRun.of("report", out.toString()).exitCode());

        assertEquals(page, Files.readString(out.resolve("report.html")));
    }

    @Test
    void shouldRefuseWrongSizes() {
        final CommandRun outcome = CommandRun.of("advise", recording.toString(), "--memory", "much");

        assertEquals(2, outcome.exitCode());
        assertTrue(outcome.err().contains("--memory=much"), outcome.err());
    }

    /** The figure that is shown without a GPU must be the measured figure of the README. */
    @Test
    void shouldQuoteWhatWasMeasured() throws IOException {
        final String says = "| `cudaMalloc` | " + Advice.CUDA_MALLOC_MICROS + " µs |";
        assertTrue(Files.readString(Path.of("..", "..", "README.md")).contains(says), says);
    }

    @Test
    void shouldReplayWhatWasRecorded() {
        final CommandRun outcome = CommandRun.of(
                "replay", recording.toString(), recording.toString(), "--device", "none", "--format", "json");

        assertEquals(0, outcome.exitCode(), outcome.err());
        final List<String> lines = outcome.out().lines().toList();
        assertEquals(2, lines.size());
        lines.forEach(line -> assertTrue(line.contains("\"ops\": ") || line.contains("\"ops\":"), line));
    }

    @Test
    void shouldPlanAndShowWhatWasRecorded() throws IOException {
        final CommandRun plan = CommandRun.of("plan", recording.toString(), "--seconds", "0.2", "--format", "json");
        assertEquals(0, plan.exitCode(), plan.err());
        assertTrue(plan.out().startsWith("{\"trace\""), plan.out());

        final Path page = folder.resolve("page.html");
        final CommandRun picture = CommandRun.of("picture", recording.toString(), "--out", page.toString());
        assertEquals(0, picture.exitCode(), picture.err());
        assertTrue(Files.size(page) > 0);
    }

    @Test
    void shouldRefuseOneFolderForSeveralFiles() {
        for (final String option : List.of("--out", "--placements")) {
            final Path target = folder.resolve("target");
            final CommandRun outcome =
                    CommandRun.of("replay", recording.toString(), recording.toString(), option, target.toString());

            assertEquals(2, outcome.exitCode());
            assertTrue(outcome.err().contains(option + "=" + target + " must go with one FILE, not 2"), outcome.err());
            assertTrue(!Files.exists(target));
        }
    }

    @Test
    void shouldSayThatAFileIsCut() throws IOException {
        final byte[] whole = Files.readAllBytes(recording);
        Files.write(recording, Arrays.copyOf(whole, whole.length - 5));

        final CommandRun outcome = CommandRun.of("replay", recording.toString(), "--device", "none");

        assertEquals(0, outcome.exitCode(), outcome.err());
        assertTrue(
                outcome.out().contains("the file is cut in its last record, and was read up to there"), outcome.out());
    }
}
