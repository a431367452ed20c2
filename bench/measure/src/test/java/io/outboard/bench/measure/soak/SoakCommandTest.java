package io.outboard.bench.measure.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.CommandRun;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** This class calls {@code outboard soak} as users do, without a GPU. */
class SoakCommandTest {

    @TempDir
    private Path folder;

    @Test
    void shouldSoakEachPolicyAndWriteWhatItFound() throws Exception {
        final CommandRun outcome = CommandRun.of(
                "soak",
                "--threads",
                "2",
                "--minutes",
                "0.005",
                "--reuse",
                "strict,tracked",
                "--format",
                "json",
                "--out",
                folder.toString());

        assertEquals(0, outcome.exitCode(), outcome.err());
        final List<String> lines = outcome.out().lines().toList();
        assertEquals(2, lines.size());
        assertTrue(lines.get(0).startsWith("{\"reusePolicy\":\"STRICT\""), lines.get(0));
        assertTrue(lines.get(1).contains("\"violations\":0,"), lines.get(1));
        assertEquals(lines, Files.readAllLines(folder.resolve("soak.jsonl")));
        assertTrue(Files.readString(folder.resolve("report.html")).contains("TRACKED, 2, simulated"));
    }

    /** The soak ends at the first thing that is wrong, so the minutes only have to be enough for the slowest machine. */
    @Test
    void shouldExitWithOneIfAnythingIsWrong() {
        final CommandRun outcome = CommandRun.of(
                "soak", "--threads", "2", "--minutes", "10", "--reuse", "immediate", "--strategy", "tlsf");

        assertEquals(1, outcome.exitCode(), outcome.out());
        assertTrue(outcome.out().contains("IMMEDIATE"), outcome.out());
        assertTrue(outcome.err().contains("before the work ended"), outcome.err());
        // The pool may also log a warning about blocks in use at the end, to the same stream.
        final long lines = outcome.err()
                .lines()
                .filter(line -> line.startsWith("outboard: "))
                .count();
        assertEquals(1, lines, outcome.err());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--threads  | 0    | --threads=0 must be >= 1 and <= 1000",
                "--minutes  | 0    | --minutes=0.0 must be > 0 and <= 100000",
                "--reuse    | lazy | --reuse=lazy must be one of: immediate, strict, tracked, stream-ordered",
                "--strategy | foo  | --strategy=foo must be one of",
                "--limit    | much | --limit=much must be a size such as",
                "--device   | auto | --device=auto must be none or a number >= 0"
            })
    void shouldNameAWrongArgumentInOneLine(final String option, final String value, final String message) {
        final CommandRun outcome = CommandRun.of("soak", option, value);

        assertEquals(2, outcome.exitCode());
        assertTrue(outcome.err().contains(message), outcome.err());
        assertEquals(1, outcome.err().lines().count(), outcome.err());
    }
}
