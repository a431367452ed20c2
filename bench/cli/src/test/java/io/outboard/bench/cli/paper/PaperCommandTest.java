package io.outboard.bench.cli.paper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.CommandRun;
import io.outboard.bench.cli.common.OutputOptions;
import io.outboard.bench.cli.report.JsonObject;
import io.outboard.bench.cli.report.JsonReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PaperCommandTest {

    @TempDir
    private static Path folder;

    private static Path measured = Path.of("");

    /** Measures a hundredth of what the command does. */
    @BeforeAll
    static void measure() throws IOException {
        measured = Files.createDirectories(folder.resolve("measured"));
        final OutputOptions output = new OutputOptions().within(measured);
        output.write(
                "environment.json",
                "{\"jdk\":\"JDK of the run\",\"commit\":\"abc\",\"command\":\"./outboard paper bell\"}\n");

        new BellPaper(40, 400).measure(new PaperRun(output, "none", null, false));
    }

    @Test
    void shouldShowWhatWasMeasuredAndLeaveOutTheRest() {
        final CommandRun run = CommandRun.of("paper", "bell", "--from", measured.toString());

        assertEquals(0, run.exitCode(), run.err());
        assertTrue(run.out().contains("bell/figure-3: Latency of malloc and free"), run.out());
        assertTrue(run.out().contains("bell/claim-two-orders: left out, since no results of it are in " + measured));
        assertTrue(run.out().contains("Deviation: "), run.out());
    }

    @Test
    void shouldWriteEachValueWithThePapersBeside() throws IOException {
        final Path out = folder.resolve("out");

        final CommandRun run = CommandRun.of("paper", "bell", "--from", measured.toString(), "--out", out.toString());

        assertEquals(0, run.exitCode(), run.err());
        final List<JsonObject> lines = lines(out.resolve("paper.jsonl"));
        final JsonObject half = lines.stream()
                .filter(line -> line.text("output").equals("bell/claim-50-percent")
                        && line.text("row").equals("segregated-fit-paper")
                        && line.text("column").equals("average, thousands"))
                .findFirst()
                .orElseThrow();
        assertEquals(0.5, half.number("paper"));
        assertTrue(half.number("ours") > 0 && half.number("ours") < 0.9, half.text("oursText"));
        assertEquals("JDK of the run", half.text("jdk"));
        assertEquals("abc", half.text("commit"));
        final String page = Files.readString(out.resolve("report.html"));
        assertTrue(page.contains("bell/figure-4: "), "figure");
        assertTrue(page.contains("Left out: no results of it are in"), "left out");
        assertTrue(page.contains("<canvas") || page.contains("data-kind=\"memory\""), "chart");
    }

    @Test
    void shouldMakeTheSamePageOfItsFile() throws IOException {
        final Path out = folder.resolve("again");
        CommandRun.of("paper", "bell", "--from", measured.toString(), "--out", out.toString());
        final String page = Files.readString(out.resolve("report.html"));

        final CommandRun run = CommandRun.of("report", out.toString());

        assertEquals(0, run.exitCode(), run.err());
        assertEquals(page, Files.readString(out.resolve("report.html")));
    }

    @Test
    void shouldPrintLinesForPrograms() {
        final CommandRun run = CommandRun.of("paper", "bell", "--from", measured.toString(), "--format", "json");

        final List<String> outputs = new ArrayList<>();
        run.out()
                .lines()
                .forEach(line -> outputs.add(JsonReader.read("out", 1, line).text("output")));
        assertEquals(
                new BellPaper().outputs().stream().map(PaperOutput::name).toList(),
                outputs.stream().distinct().toList());
    }

    @Test
    void shouldRefuseWhatIsNoPaper() {
        final CommandRun run = CommandRun.of("paper", "bel");

        assertEquals(2, run.exitCode());
        assertTrue(run.err().contains("NAME=bel must be one of: bell"), run.err());
    }

    @Test
    void shouldRefuseAFolderThatIsNot() {
        final String missing = folder.resolve("missing").toString();

        assertEquals(2, CommandRun.of("paper", "bell", "--from", missing).exitCode());
        final CommandRun run = CommandRun.of("paper", "bell", "--device", "none", "--beside", missing);
        assertEquals(2, run.exitCode());
        assertTrue(run.err().contains("--beside=" + missing + " must be a folder with results"), run.err());
    }

    @Test
    void shouldRefuseWhatSaysHowToMeasureWhereNothingIsMeasured() throws IOException {
        final Path earlier = Files.createDirectories(folder.resolve("earlier"));
        final Path out = folder.resolve("not-made");

        for (final String given : List.of("--device=none", "--whole=true")) {
            final CommandRun run =
                    CommandRun.of("paper", "bell", "--from", earlier.toString(), given, "--out", out.toString());

            assertEquals(2, run.exitCode());
            assertTrue(run.err().contains(given + " must not be given with --from, which measures nothing"), run.err());
            assertFalse(Files.exists(out), "nothing is made");
        }
    }

    @Test
    void shouldNotReplaceTheResultsThatItShows() throws IOException {
        final Path both = Files.createDirectories(folder.resolve("both"));
        Files.writeString(both.resolve("environment.json"), "{}");

        final CommandRun run =
                CommandRun.of("paper", "bell", "--from", both.toString(), "--out", both.toString(), "--overwrite");

        assertEquals(2, run.exitCode());
        assertTrue(run.err().contains("--out=" + both + " must not be the folder of --from"), run.err());
        assertFalse(Files.exists(both.resolve("paper.jsonl")));

        final CommandRun beside = CommandRun.of(
                "paper",
                "bell",
                "--device",
                "none",
                "--beside",
                both.toString(),
                "--out",
                both.toString(),
                "--overwrite");

        assertEquals(2, beside.exitCode());
        assertTrue(beside.err().contains("--out=" + both + " must not be the folder of --beside"), beside.err());
        assertTrue(Files.exists(both.resolve("environment.json")));
    }

    private static List<JsonObject> lines(final Path file) throws IOException {
        final List<JsonObject> lines = new ArrayList<>();
        for (final String line : Files.readAllLines(file)) {
            lines.add(JsonReader.read(file.toString(), 1, line));
        }
        return lines;
    }
}
