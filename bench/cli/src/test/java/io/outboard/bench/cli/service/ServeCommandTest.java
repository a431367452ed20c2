package io.outboard.bench.cli.service;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.outboard.bench.cli.Main;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.service.Lease;
import io.outboard.service.LenderConnection;
import io.outboard.service.LendingDevice;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** This class tests a lender in a process of its own, as users start it, and its ledger. */
@Timeout(120)
class ServeCommandTest {

    private static final long MIB = 1L << 20;
    private static final int ENDED_BY_SIGTERM = 143;

    @TempDir
    private Path folder = Path.of("");

    private final List<Process> started = new ArrayList<>();

    @BeforeEach
    void requireLeases() {
        try (LendingDevice device = LendingDevice.memory(2 * MIB)) {
            assertEquals("memory", device.name());
        } catch (final IOException e) {
            assumeTrue(false, "skipped: " + e.getMessage());
        }
    }

    @AfterEach
    void end() {
        started.forEach(Process::destroyForcibly);
    }

    private Process serve(final String... options) throws IOException {
        final List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "serve",
                "--device",
                "memory",
                "--socket",
                folder.resolve("lender").toString()));
        command.addAll(List.of(options));
        final Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        started.add(process);
        return process;
    }

    private String top(final String... options) {
        final CommandLine command = new CommandLine(new TopCommand());
        command.setCaseInsensitiveEnumValuesAllowed(true);
        final StringWriter out = new StringWriter();
        command.setOut(new PrintWriter(out));
        final List<String> all =
                new ArrayList<>(List.of("--socket", folder.resolve("lender").toString()));
        all.addAll(List.of(options));
        assertEquals(0, command.execute(all.toArray(String[]::new)));
        return out.toString();
    }

    @Test
    void shouldLendUntilItIsToldToEnd() throws IOException, InterruptedException {
        final Process lender = serve("--limit", "64MiB", "--quota", "night=8MiB:16MiB", "--spares", "0");
        try (BufferedReader log = lender.inputReader();
                LenderConnection client = connect(log)) {
            client.lease(4 * MIB);

            final String table = top();
            final String json = top("--format", "json");

            assertAll(
                    () -> assertTrue(table.matches("(?s)memory: 4.00.MiB of 64.0.MiB lent\\R.*"), table),
                    () -> assertTrue(table.contains("night"), table),
                    () -> assertTrue(json.contains("\"lentBytes\":4194304,"), json),
                    () -> assertTrue(
                            json.contains("{\"client\":\"night\",\"pid\":"
                                    + ProcessHandle.current().pid() + ",\"leasedBytes\":4194304"),
                            json),
                    () -> assertTrue(json.contains("\"guaranteedBytes\":8388608,\"mostBytes\":16777216"), json));
            // Process.destroy isn't used, because it closes the stream that is read here.
            lender.toHandle().destroy();
            assertTrue(lender.waitFor(20, TimeUnit.SECONDS));
            assertEquals(ENDED_BY_SIGTERM, lender.exitValue());
            final List<String> lines = log.lines().toList();
            assertTrue(lines.stream().anyMatch(line -> line.contains("leased client=night")), lines::toString);
            assertTrue(lines.get(lines.size() - 1).endsWith("ended"), lines::toString);
        }
    }

    /** The lender's log goes to a pipe, which is full after some hundred leases. */
    @Test
    void shouldLendAndEndThoughNobodyReadsItsLog() throws IOException, InterruptedException {
        final Process lender = serve("--limit", "64MiB");
        try (BufferedReader log = lender.inputReader();
                LenderConnection client = connect(log)) {
            for (int i = 0; i < 2000; i++) {
                final Lease lease = client.lease(2 * MIB);
                client.closeDescriptor(lease);
                client.giveBack(lease.number());
            }

            lender.toHandle().destroy();
            assertTrue(lender.waitFor(60, TimeUnit.SECONDS));
            assertEquals(ENDED_BY_SIGTERM, lender.exitValue());
        }
    }

    private LenderConnection connect(final BufferedReader log) throws IOException {
        final String first = log.readLine();
        assertTrue(first.contains("started bytes=67108864"), first);
        return LenderConnection.connect(folder.resolve("lender"), "night");
    }

    @Test
    void shouldSayWhatIsWrongBeforeItLends() {
        assertAll(
                () -> assertRefused("--limit=0", "--device=memory", "--limit=0"),
                () -> assertRefused("--limit=1.5", "--device=memory", "--limit=1.5"),
                () -> assertRefused("--quota=day=5 must be GUARANTEED:MOST", "--device=memory", "--quota=day=5"),
                () -> assertRefused(
                        "must guarantee limitBytes=4194304 at most",
                        "--device=memory",
                        "--limit=4MiB",
                        "--quota=day=8MiB:8MiB"),
                () -> assertRefused("count=65 must be >= 0 and <= 64", "--device=memory", "--spares=65"),
                () -> assertRefused("--device=tape must be memory or the number of a GPU", "--device=tape"));
    }

    private void assertRefused(final String message, final String... options) {
        final ServeCommand command = new ServeCommand();
        final CommandLine line = new CommandLine(command).setCaseInsensitiveEnumValuesAllowed(true);
        final List<String> all =
                new ArrayList<>(List.of("--socket", folder.resolve("lender").toString()));
        all.addAll(List.of(options));
        line.parseArgs(all.toArray(String[]::new));

        final WrongUseException refused = assertThrows(WrongUseException.class, command::call);

        assertTrue(String.valueOf(refused.getMessage()).contains(message), refused::getMessage);
    }
}
