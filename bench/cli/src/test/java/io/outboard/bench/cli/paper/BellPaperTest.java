package io.outboard.bench.cli.paper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.report.JsonObject;
import io.outboard.bench.cli.report.JsonReader;
import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.VirtualMemorySource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BellPaperTest {

    @TempDir
    private Path folder;

    /** Bell et al., section VI: "we observe a roughly 50% fragmentation ratio", and TLSF would have less. */
    @ParameterizedTest
    @CsvSource({"segregated-fit-paper, 48, 52", "segregated-fit, 40, 46", "tlsf, 36, 42"})
    void shouldLoseHalfOfTheMemoryByThePapersPolicyAlone(final String name, final int least, final int most) {
        final Trace trace = Profiles.named("paper", 4000);
        final Strategy strategy = Strategies.named(name)
                .create(VirtualMemorySource.region(trace.regionBytes()), StrategyOptions.DEFAULTS);
        final long[] addresses = new long[trace.slots()];
        double live = 0;
        double had = 0;
        long liveBytes = 0;
        long end = strategy.region().address();
        for (final long operation : trace.operations()) {
            final int slot = Trace.slot(operation);
            final long bytes = Trace.bytes(operation);
            if (Trace.isFree(operation)) {
                strategy.free(addresses[slot]);
                liveBytes -= bytes;
            } else {
                addresses[slot] = strategy.allocate(bytes);
                liveBytes += bytes;
                end = Math.max(end, addresses[slot] + bytes);
            }
            live += liveBytes;
            had += end - strategy.region().address();
        }

        final double percent = 100 * (1 - live / had);

        assertTrue(percent > least && percent < most, percent + " %");
    }

    @Test
    void shouldCountWhatWasHadBeforeAsLost() throws IOException {
        results("tlsf", "0,0,0,100,", "1,60,80,100,", "2,20,40,100,", "3,40,40,100,");

        final JsonObject average = ours("bell/claim-50-percent", "average, thousands");

        assertEquals(0.5, average.number("ours"));
        assertEquals(0.4, ours("bell/claim-50-percent", "peak, thousands").number("ours"));
    }

    @Test
    void shouldCountWhatTheDeviceHasGivenTheDriver() throws IOException {
        results("cudaMalloc", "0,0,,,1000", "1,60,,,1080", "2,20,,,1040", "3,40,,,1040");

        final JsonObject average = ours("bell/claim-50-percent", "average, thousands");

        assertEquals(0.5, average.number("ours"));
    }

    @Test
    void shouldShowTheSlowestCallsFirst() throws IOException {
        results("tlsf", "0,0,0,100,");
        calls("1,allocate,8,700", "2,allocate,8,2000000", "3,free,8,40", "4,free,8,900");

        assertEquals(
                "2.00\u00A0ms, allocate 2", ours("bell/slowest-calls", "1.").text("oursText"));
        assertEquals("900\u00A0ns, free 4", ours("bell/slowest-calls", "2.").text("oursText"));
        assertEquals(40, ours("bell/slowest-calls", "4.").number("ours"));
    }

    @Test
    void shouldRefuseACallThatIsNone() throws IOException {
        results("tlsf", "0,0,0,100,");
        calls("1,allocate,8,700", "2,realloc,8,9");

        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> ours("bell/slowest-calls", "1."));

        assertTrue(
                String.valueOf(thrown.getMessage())
                        .endsWith("a-calls.csv:4: 2,realloc,8,9 must be operation,kind,bytes,ns"),
                thrown.getMessage());
    }

    private void results(final String strategy, final String... memory) throws IOException {
        final Path run = Files.createDirectories(folder.resolve("thousands"));
        Files.writeString(
                run.resolve("results.jsonl"),
                "{\"trace\":\"paper\",\"strategy\":\"" + strategy + "\",\"files\":\"a\",\"peakLiveBytes\":60,"
                        + "\"smallestRegionBytes\":100}\n");
        Files.writeString(
                run.resolve("a-memory.csv"),
                "# made by hand\noperation,liveBytes,extentBytes,regionBytes,deviceUsedBytes\n"
                        + String.join("\n", memory) + "\n");
    }

    private void calls(final String... lines) throws IOException {
        Files.writeString(
                folder.resolve("thousands").resolve("a-calls.csv"),
                "# made by hand\noperation,kind,bytes,ns\n" + String.join("\n", lines) + "\n");
    }

    /** Returns our value in one column of an output, whose other rows have none. */
    private JsonObject ours(final String name, final String column) throws IOException {
        final PaperOutput output = new BellPaper()
                .outputs().stream()
                        .filter(one -> one.name().equals(name))
                        .findFirst()
                        .orElseThrow();
        final List<String> lines = output.composer().compose(new PaperResults(folder, null)).lines(name).stream()
                .map(Object::toString)
                .filter(line -> line.contains("\"column\":\"" + column + "\"") && line.contains("oursText"))
                .toList();
        assertEquals(1, lines.size(), lines.toString());
        return JsonReader.read("line", 1, lines.get(0));
    }
}
