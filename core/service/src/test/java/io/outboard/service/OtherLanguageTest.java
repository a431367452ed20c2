package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A client in C, a page long, that knows docs/service-protocol.md and nothing else: src/test/c/lessee.c. */
@Timeout(120)
class OtherLanguageTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;

    @TempDir
    Path folder;

    private final List<LenderEvent> events = new CopyOnWriteArrayList<>();
    private Lender lender;
    private Path program;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        Jvm.assumeLeases();
        assumeTrue(
                Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                        .anyMatch(each -> Files.isExecutable(Path.of(each, "cc"))),
                "skipped, needs a C compiler, cc");
        program = folder.resolve("lessee");
        final Run compiled = run("cc", "-Wall", "-Wextra", "-Werror", "-o", program.toString(), "src/test/c/lessee.c");
        assertEquals(0, compiled.code(), compiled.output());
        lender = Lender.of(LendingDevice.memory(8 * UNIT))
                .quota("c", new Quota(0, 4 * UNIT))
                .events(events::add)
                .start(folder.resolve("lender"));
    }

    @AfterEach
    void end() {
        if (lender != null) {
            lender.close();
        }
    }

    private record Run(int code, String output) {}

    private Run run(final String... command) throws IOException, InterruptedException {
        final Process process =
                new ProcessBuilder(command).redirectErrorStream(true).start();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Run(process.waitFor(), output);
    }

    private Run lessee(final long bytes) throws IOException, InterruptedException {
        return run(program.toString(), lender.socket().toString(), "c", String.valueOf(bytes));
    }

    @Test
    void shouldLeaseAndReturn() throws IOException, InterruptedException {
        final Run run = lessee(3 * UNIT);

        assertEquals(new Run(0, "leased " + 3 * UNIT + " bytes, all zero\nreturned\n"), run);
        Await.until(() -> lender.status().clients().isEmpty(), () -> lender.status());
        assertEquals(0, lender.status().lentBytes());
        assertTrue(events.stream().anyMatch(event -> event.kind() == LenderEvent.Kind.RETURNED), events::toString);
    }

    @Test
    void shouldBeRefusedWhatIsMoreThanItsQuota() throws IOException, InterruptedException {
        final Run run = lessee(5 * UNIT);

        assertEquals(new Run(1, "refused: 2\n"), run);
    }
}
