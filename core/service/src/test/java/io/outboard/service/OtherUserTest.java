package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process of the user {@code nobody}, which only root can start, is kept out by the permissions of the socket's file,
 * and by the lender.
 */
@Timeout(60)
class OtherUserTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;
    private static final String NOBODY = "65534";

    @TempDir
    Path folder;

    private final List<LenderEvent> events = new CopyOnWriteArrayList<>();
    private Lender lender;
    private Path program;

    @BeforeEach
    void start() throws IOException, InterruptedException {
        Jvm.assumeLeases();
        Assumptions.assumeTrue(
                Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0), "skipped, needs root");
        program = NativeProgram.compile("lessee", folder);
        // The test isn't about the permissions of the temporary folder.
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Assumptions.assumeTrue(
                asNobody("test", "-x", program.toString()).code() == 0, "skipped, nobody can't reach " + folder);
        lender = Lender.of(LendingDevice.memory(8 * UNIT)).events(events::add).start(folder.resolve("lender"));
    }

    @AfterEach
    void end() {
        if (lender != null) {
            lender.close();
        }
    }

    private static NativeProgram.Run asNobody(final String... command) throws IOException, InterruptedException {
        final List<String> all =
                new ArrayList<>(List.of("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"));
        all.addAll(List.of(command));
        try {
            return NativeProgram.run(all.toArray(String[]::new));
        } catch (final IOException e) {
            Assumptions.abort("skipped, needs setpriv: " + e.getMessage());
            throw e;
        }
    }

    private NativeProgram.Run lessee() throws IOException, InterruptedException {
        return asNobody(program.toString(), lender.socket().toString(), "nobody", String.valueOf(UNIT));
    }

    @Test
    void shouldNotReachTheSocket() throws IOException, InterruptedException {
        final NativeProgram.Run run = lessee();

        assertEquals(new NativeProgram.Run(1, "connect: Permission denied\n"), run);
        lender.close();
        assertEquals(
                List.of(LenderEvent.Kind.STARTED, LenderEvent.Kind.ENDED),
                events.stream().map(LenderEvent::kind).toList());
    }

    @Test
    void shouldBeTurnedAwayWhereTheFileLetsItIn() throws IOException, InterruptedException {
        Files.setPosixFilePermissions(lender.socket(), PosixFilePermissions.fromString("rw-rw-rw-"));

        final NativeProgram.Run run = lessee();

        assertNotEquals(0, run.code());
        Await.until(() -> events.size() == 2, events::toString);
        assertEquals(LenderEvent.Kind.TURNED_AWAY, events.get(1).kind());
        assertTrue(
                events.get(1).detail().contains("user 65534, not 0"),
                () -> events.get(1).toString());
        assertTrue(lender.status().clients().isEmpty());
        // The same program is let in when it runs as this user.
        final NativeProgram.Run own =
                NativeProgram.run(program.toString(), lender.socket().toString(), "own", String.valueOf(UNIT));
        assertEquals(0, own.code(), own::output);
    }
}
