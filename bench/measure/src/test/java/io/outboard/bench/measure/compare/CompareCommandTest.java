package io.outboard.bench.measure.compare;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class CompareCommandTest {

    private static final int FAILED = 2;

    @TempDir
    private Path folder;

    private Path before = Path.of("");
    private Path after = Path.of("");
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @BeforeEach
    void makeFolders() throws IOException {
        before = Files.createDirectory(folder.resolve("before"));
        after = Files.createDirectory(folder.resolve("after"));
    }

    private static String result(final String trace, final String strategy, final double nsPerOp, final long p50) {
        return "{\"trace\":\"" + trace + "\",\"strategy\":\"" + strategy
                + "\",\"device\":\"none\",\"reusePolicy\":\"IMMEDIATE\",\"ops\":1000,\"nsPerOp\":" + nsPerOp
                + ",\"allocate\":{\"p50\":" + p50 + ",\"p99\":40,\"p999\":50},\"free\":{\"p50\":null},"
                + "\"peakLiveBytes\":4096,\"failures\":0}\n";
    }

    private int compare(final String... options) {
        final CommandLine commandLine = new CommandLine(new CompareCommand())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err));
        commandLine.setExecutionExceptionHandler((exception, command, result) -> {
            command.getErr().println(exception.getMessage());
            command.getErr().flush();
            return FAILED;
        });
        final String[] arguments = new String[options.length + 2];
        arguments[0] = before.toString();
        arguments[1] = after.toString();
        System.arraycopy(options, 0, arguments, 2, options.length);
        return commandLine.execute(arguments);
    }

    /** The folder is from a time when the files ended in .json. */
    @Test
    void shouldCompareWithAnOldFolder() throws IOException {
        Files.writeString(before.resolve("results.json"), result("paper", "tlsf", 40, 20));
        Files.writeString(after.resolve("results.jsonl"), result("paper", "tlsf", 44, 10));

        assertEquals(0, compare(), err.toString());

        assertTrue(out.toString().contains("1.100"), out.toString());
    }

    /** The comparison must read the file that is named, and not the new file beside it. */
    @Test
    void shouldReadTheFileThatIsNamed() throws IOException {
        before = Files.writeString(before.resolve("results.json"), result("paper", "tlsf", 40, 20));
        after = Files.writeString(before.resolveSibling("results.jsonl"), result("paper", "tlsf", 44, 10));

        assertEquals(0, compare(), err.toString());

        assertTrue(out.toString().contains("1.100"), out.toString());
    }

    @Test
    void shouldShowFiguresSideBySideWithTheirRatio() throws IOException {
        Files.writeString(before.resolve("results.jsonl"), result("paper", "tlsf", 40, 20));
        Files.writeString(after.resolve("results.jsonl"), result("paper", "tlsf", 44, 10));

        assertEquals(0, compare(), err.toString());

        final List<String> lines = out.toString().lines().toList();
        assertTrue(
                lines.stream().anyMatch(line -> line.matches("paper, tlsf, IMMEDIATE, none +nsPerOp +40 +44 +1\\.100")),
                out.toString());
        assertTrue(
                lines.stream().anyMatch(line -> line.matches("paper, tlsf, .* allocate p50 +20 +10 +0\\.500")),
                out.toString());
        assertTrue(lines.stream().noneMatch(line -> line.contains("free p50")), out.toString());
    }

    @Test
    void shouldFailWithAListIfAnythingIsWorseByMoreThanTheThreshold() throws IOException {
        Files.writeString(before.resolve("results.jsonl"), result("paper", "tlsf", 40, 20));
        Files.writeString(after.resolve("results.jsonl"), result("paper", "tlsf", 42.1, 10));

        assertEquals(1, compare("--threshold", "5%"), err.toString());
        assertTrue(out.toString().endsWith("""
                                1 of 5 figures worse by more than 5%
                                  paper, tlsf, IMMEDIATE, none: nsPerOp 40 -> 42.100, 1.053
                                """), out.toString());
        assertEquals(0, compare("--threshold", "6%"), err.toString());
        assertEquals(0, compare(), err.toString());
    }

    /** Operations a second, unlike latencies, are worse if they are fewer. */
    @Test
    void shouldKnowWhatIsBetterIfThereIsMoreOfIt() throws IOException {
        final String line =
                "{\"trace\":\"paper\",\"strategy\":\"tlsf\",\"reusePolicy\":\"STRICT\",\"threads\":2,\"opsPerSecond\":";
        Files.writeString(before.resolve("threads.jsonl"), line + "1000}\n");
        Files.writeString(after.resolve("threads.jsonl"), line + "900}\n");

        assertEquals(1, compare("--threshold", "5", "--format", "json"), err.toString());
        assertEquals(
                "{\"result\":\"paper, tlsf, STRICT, 2\",\"figure\":\"opsPerSecond\",\"before\":1000.0000,"
                        + "\"after\":900.0000,\"ratio\":0.9000,\"worse\":1}\n",
                out.toString());
        final Path first = before;
        before = after;
        after = first;
        assertEquals(0, compare("--threshold", "5"), err.toString());
    }

    @Test
    void shouldFailIfAllocationsFailThatDidNot() throws IOException {
        Files.writeString(before.resolve("results.jsonl"), result("paper", "tlsf", 40, 20));
        Files.writeString(
                after.resolve("results.jsonl"),
                result("paper", "tlsf", 40, 20).replace("\"failures\":0", "\"failures\":3"));

        assertEquals(1, compare("--threshold", "1000%"), err.toString());
        assertTrue(out.toString().contains("failures 0 -> 3"), out.toString());
    }

    @Test
    void shouldTakeTheFileOfResultsInsteadOfItsFolder() throws IOException {
        before = Files.writeString(before.resolve("results.jsonl"), result("paper", "tlsf", 40, 20));
        after = Files.writeString(after.resolve("results.jsonl"), result("paper", "tlsf", 40, 20));

        assertEquals(0, compare("--threshold", "0"), err.toString());
        assertTrue(out.toString().contains("0 of 5 figures worse by more than 0%"), out.toString());
    }

    @Test
    void shouldSayWhatIsOnlyInOneAndWhatDiffersOfTheMachines() throws IOException {
        Files.writeString(
                before.resolve("results.jsonl"), result("paper", "tlsf", 40, 20) + result("paper", "bitmask", 4, 2));
        Files.writeString(after.resolve("results.jsonl"), result("paper", "tlsf", 40, 20));
        Files.writeString(before.resolve("environment.json"), "{\"cpu\":\"slow\",\"jdk\":\"25\"}\n");
        Files.writeString(after.resolve("environment.json"), "{\"cpu\":\"fast\",\"jdk\":\"25\"}\n");

        assertEquals(0, compare(), err.toString());
        assertTrue(
                out.toString().contains("\nonly in " + before + ": paper, bitmask, IMMEDIATE, none\n"), out.toString());
        assertTrue(out.toString().contains("\ncpu differs: slow; fast\n"), out.toString());
    }

    @Test
    void shouldRefuseResultsOfAnotherProfile() throws IOException {
        Files.writeString(before.resolve("results.jsonl"), result("paper", "tlsf", 40, 20));
        Files.writeString(after.resolve("results.jsonl"), result("large", "tlsf", 40, 20));

        assertEquals(FAILED, compare());
        assertTrue(
                err.toString()
                        .contains(
                                "must have results of the same kind in common, but the first has paper, tlsf, IMMEDIATE,"
                                        + " none, the second large, tlsf, IMMEDIATE, none"),
                err.toString());
        assertEquals("", out.toString());
    }

    @Test
    void shouldRefuseAnotherNumberOfOperations() throws IOException {
        Files.writeString(before.resolve("results.jsonl"), result("paper", "tlsf", 40, 20));
        Files.writeString(
                after.resolve("results.jsonl"), result("paper", "tlsf", 40, 20).replace("1000", "2000"));

        assertEquals(FAILED, compare());
        assertTrue(err.toString().contains("with the same ops, but have 1,000 and 2,000"), err.toString());
    }

    @Test
    void shouldRefuseAFolderWithoutResultsAndOneThatIsNotThere() throws IOException {
        Files.writeString(before.resolve("results.jsonl"), result("paper", "tlsf", 40, 20));

        assertEquals(FAILED, compare());
        assertTrue(err.toString().contains(after + ": must hold results that can be compared"), err.toString());
        after = folder.resolve("nowhere");
        assertEquals(FAILED, compare());
        assertTrue(err.toString().contains(after + ": must be a folder that --out wrote"), err.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "five", "-5%", "5%%", "1e3", "NaN"})
    void shouldNameAWrongThreshold(final String threshold) throws IOException {
        Files.writeString(before.resolve("results.jsonl"), result("paper", "tlsf", 40, 20));
        Files.writeString(after.resolve("results.jsonl"), result("paper", "tlsf", 40, 20));

        assertEquals(FAILED, compare("--threshold=" + threshold));
        assertTrue(err.toString().contains("--threshold=" + threshold + " must be percent"), err.toString());
    }
}
