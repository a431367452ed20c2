package io.outboard.bench.measure.pool;

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

/** This class calls {@code outboard pool} as users do, without a GPU. */
class PoolCommandTest {

    @TempDir
    private Path folder;

    @Test
    void shouldMeasureTheStrategyAndAPoolForEachPolicyAndEachNumberOfThreads() throws Exception {
        final CommandRun outcome = run(
                "--ops",
                "2000",
                "--device",
                "none",
                "--threads",
                "1,2",
                "--format",
                "json",
                "--out",
                folder.toString());

        assertEquals(0, outcome.exitCode(), outcome.err());
        final List<String> lines = outcome.out().lines().toList();
        assertEquals(7, lines.size(), outcome.out());
        assertTrue(lines.get(0).contains("\"strategy\":\"tlsf\""), lines.get(0));
        final List<String> policies = List.of("IMMEDIATE", "STRICT", "TRACKED", "STREAM_ORDERED");
        for (int i = 0; i < policies.size(); i++) {
            final String line = lines.get(1 + i);
            assertTrue(line.contains("\"strategy\":\"tlsf pool\""), line);
            assertTrue(line.contains("\"reusePolicy\":\"" + policies.get(i) + "\""), line);
            assertTrue(line.contains("\"failures\":0"), line);
        }
        // A pool that doesn't have to wait makes no garbage at all; rounding hides less than a byte in a thousand
        // operations.
        assertTrue(lines.get(1).contains("\"gcBytesPerOp\":0.000"), lines.get(1));
        for (int i = 0; i < 2; i++) {
            assertTrue(lines.get(5 + i).contains("\"threads\":" + (i + 1) + ","), lines.get(5 + i));
        }
        assertEquals(lines.subList(5, 7), Files.readAllLines(folder.resolve("threads.jsonl")));
        assertTrue(Files.exists(folder.resolve("paper-tlsf-pool-STREAM_ORDERED-free.hgrm")));
        final String page = Files.readString(folder.resolve("report.html"));
        assertTrue(page.contains("tlsf pool, STREAM_ORDERED"));
        assertTrue(page.contains("Threads that share a pool"));
    }

    @Test
    void shouldPrintATableThatNamesThePolicies() {
        final CommandRun outcome = run(
                "--ops",
                "2000",
                "--device",
                "none",
                "--threads",
                "1",
                "--reuse",
                "strict,immediate",
                "--region",
                "4GiB");

        assertEquals(0, outcome.exitCode(), outcome.err());
        assertTrue(outcome.out().contains("\ntlsf pool, STRICT "), outcome.out());
        assertTrue(outcome.out().contains("\ntlsf pool, IMMEDIATE "), outcome.out());
        assertTrue(outcome.out().contains("One pool, several threads:"), outcome.out());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--reuse   | lazy     | --reuse=lazy must be one of: immediate, strict, tracked, stream-ordered",
                "--threads | 0        | --threads=0 must be >= 1 and <= 1000",
                "--region  | smallest | --region=smallest must be a size, since a pool grows",
                "--profile | huge     | --profile=huge must be one of",
                "--ops     | 1        | --ops=1 must be"
            })
    void shouldNameAWrongArgumentInOneLine(final String option, final String value, final String message) {
        final CommandRun outcome = run("--device", "none", option, value);

        assertEquals(2, outcome.exitCode());
        assertTrue(outcome.err().contains(message), outcome.err());
        assertEquals(1, outcome.err().lines().count(), outcome.err());
    }

    private static CommandRun run(final String... arguments) {
        final String[] all = new String[arguments.length + 1];
        all[0] = "pool";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        return CommandRun.of(all);
    }
}
