package io.outboard.bench.cli.service;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.report.JsonObject;
import io.outboard.bench.cli.report.JsonReader;
import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.bench.cli.trace.TraceFormatException;
import io.outboard.bench.cli.trace.TraceWriter;
import io.outboard.bench.cli.trace.TwoPools;
import io.outboard.service.LendingDevice;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** These tests check two processes that replay traces in turns over a lender of this machine's memory. */
@Timeout(240)
class TenantsCommandTest {

    private static final long LIMIT = 256L << 20;

    /**
     * The number of blocks, each smaller than a lease's unit, so that no unit can go back while every second block is
     * in use.
     */
    private static final int TEETH = 512;

    /** The number of granules that take more than 0.6 of 4 MiB. */
    private static final int CROWD = 10_000;

    @TempDir
    private Path folder = Path.of("");

    private Path day = Path.of("");
    private Path night = Path.of("");

    @BeforeEach
    void writeTraces() throws IOException {
        day = folder.resolve("day.hpt");
        night = folder.resolve("night.hpt");
        TraceWriter.writeHpTrace(Profiles.named("large", 2000), day);
        TraceWriter.writeHpTrace(Profiles.named("mid", 2000), night);
    }

    private static void requireLeases() {
        try (LendingDevice device = LendingDevice.memory(2 << 20)) {
            assertEquals("memory", device.name());
        } catch (final IOException e) {
            assumeTrue(false, "skipped: " + e.getMessage());
        }
    }

    private record CommandRun(int exitCode, String out) {

        List<JsonObject> rows() {
            return out.lines().map(line -> JsonReader.read("out", 1, line)).toList();
        }
    }

    private CommandRun tenants(final Path first, final Path second, final String... options) {
        final CommandLine command = new CommandLine(new TenantsCommand());
        command.setCaseInsensitiveEnumValuesAllowed(true);
        command.setExecutionExceptionHandler((exception, line, result) -> {
            throw exception;
        });
        final StringWriter out = new StringWriter();
        command.setOut(new PrintWriter(out));
        final List<String> all = new ArrayList<>(
                List.of(first.toString(), second.toString(), "--device", "memory", "--limit", "256MiB"));
        all.addAll(List.of(options));
        return new CommandRun(command.execute(all.toArray(String[]::new)), out.toString());
    }

    @Tag("thorough")
    @Test
    void shouldServeByTurnsWhatHalvesDoNot() {
        requireLeases();

        final CommandRun outcome = tenants(day, night, "--rounds", "2", "--format", "json");

        assertEquals(0, outcome.exitCode(), outcome.out());
        final List<JsonObject> rows = outcome.rows();
        assertEquals(
                List.of("shared day", "shared night", "halves day", "halves night"),
                rows.stream()
                        .map(row -> row.requiredText("arrangement") + " " + row.requiredText("tenant"))
                        .toList());
        final double peak = 0.6 * LIMIT;
        for (final JsonObject row : rows.subList(0, 2)) {
            assertEquals(0, row.number("refused"), outcome.out());
            assertEquals(peak, row.number("peakLiveBytes"), 0.01 * peak, outcome.out());
            assertTrue(row.number("peakLeasedBytes") >= row.number("peakLiveBytes"), outcome.out());
        }
        for (final JsonObject row : rows.subList(2, 4)) {
            assertTrue(row.number("refused") > 0, outcome.out());
            assertTrue(row.number("peakLeasedBytes") <= LIMIT / 2.0, outcome.out());
        }
    }

    @Tag("thorough")
    @Test
    void shouldFailWhereTheWholeDeviceIsTooSmall() throws IOException {
        requireLeases();
        final long[] operations = allocations(TEETH, TEETH + TEETH / 2 + 1);
        for (int i = 0; i < TEETH / 2; i++) {
            operations[TEETH + i] = Trace.free(2 * i, 1024);
        }
        operations[operations.length - 1] = Trace.allocation(0, 1024L * TEETH / 2);
        final Path comb = folder.resolve("comb.hpt");

        TraceWriter.writeHpTrace(new Trace("comb", TEETH, 1 << 20, operations), comb);

        final CommandRun outcome = tenants(comb, day, "--rounds", "1", "--share", "1");

        assertEquals(1, outcome.exitCode(), outcome.out());
        assertTrue(outcome.out().matches("(?s)day: .*comb\\.hpt, night: .*, by turns, of 256.MiB\\R.*"), outcome.out());
        assertTrue(outcome.out().matches("(?s).*\\RShared, [1-9].* refused; .* [1-9].* refused\\.\\R"), outcome.out());
    }

    @Test
    void shouldSayWhatIsWrongBeforeItStartsAnything() throws IOException {
        final Path rubbish = Files.writeString(folder.resolve("rubbish"), "no trace");
        final Path crowd = folder.resolve("crowd.hpt");
        TraceWriter.writeHpTrace(new Trace("crowd", CROWD, 1 << 20, allocations(CROWD, CROWD)), crowd);
        assertAll(
                () -> assertRefused("--share=0.5 must be > 0.5 and <= 1", "--share=0.5"),
                () -> assertRefused("--share=NaN must be", "--share=NaN"),
                () -> assertRefused("--rounds=0 must be >= 1 and <= 1000", "--rounds=0"),
                () -> assertRefused("--rounds=1001 must be", "--rounds=1001"),
                () -> assertRefused("--device=tape must be memory or the number of a GPU", "--device=tape"),
                () -> assertEquals(
                        2,
                        new CommandLine(new TenantsCommand())
                                .setCaseInsensitiveEnumValuesAllowed(true)
                                .execute(day.toString(), "--device=memory")),
                () -> assertEquals(2, tenants(day, night, rubbish.toString()).exitCode(), "a third file"));
        requireLeases();
        assertAll(
                () -> assertRefused("--limit=2MiB must be >= 4MiB", "--limit=2MiB"),
                () -> assertRefused("must leave " + crowd + " a peak of 2560000 bytes", crowd, "--limit=4MiB"),
                () -> assertThrows(
                        TraceFormatException.class,
                        () -> command(rubbish, rubbish).call()));
    }

    /** The command has no option that names a pool. */
    @Test
    void shouldRefuseARecordingOfSeveralPools() throws IOException {
        requireLeases();
        final Path file = folder.resolve("two.jfr");
        TwoPools.record(file, "a", "b");

        assertAll(
                () -> assertRefusedRecording("DAY must be a recording of one pool, not of several: a, b", file, day),
                () -> assertRefusedRecording("NIGHT must be a recording of one pool, not of several: a, b", day, file));
    }

    private void assertRefusedRecording(final String problem, final Path first, final Path second) {
        final TraceFormatException thrown = assertThrows(
                TraceFormatException.class, () -> command(first, second).call());
        assertTrue(String.valueOf(thrown.getMessage()).endsWith("events: " + problem), thrown.getMessage());
    }

    private static long[] allocations(final int count, final int length) {
        final long[] operations = new long[length];
        for (int slot = 0; slot < count; slot++) {
            operations[slot] = Trace.allocation(slot, 1024);
        }
        return operations;
    }

    private static TenantsCommand command(final Path first, final Path second, final String... options) {
        final TenantsCommand command = new TenantsCommand();
        final List<String> all = new ArrayList<>(List.of(first.toString(), second.toString()));
        all.addAll(List.of(options));
        if (all.stream().noneMatch(option -> option.startsWith("--device"))) {
            all.add("--device=memory");
        }
        new CommandLine(command).setCaseInsensitiveEnumValuesAllowed(true).parseArgs(all.toArray(String[]::new));
        return command;
    }

    private void assertRefused(final String message, final String... options) {
        assertRefused(message, day, options);
    }

    private static void assertRefused(final String message, final Path file, final String... options) {
        final TenantsCommand command = command(file, file, options);

        final WrongUseException refused = assertThrows(WrongUseException.class, command::call);

        assertTrue(String.valueOf(refused.getMessage()).contains(message), refused::getMessage);
    }
}
