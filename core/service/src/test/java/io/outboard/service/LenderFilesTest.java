package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Another local user can't keep a lender from starting, as long as that user can't write to its folder. */
@Timeout(60)
class LenderFilesTest {

    private static final long UNIT = MemoryDevice.UNIT_BYTES;
    private static final int NOBODY = 65534;

    /** What a start that hangs is waited for. */
    private static final Duration LONG = Duration.ofSeconds(20);

    @TempDir
    Path folder;

    @BeforeEach
    void requireLeases() {
        Jvm.assumeLeases();
    }

    private static Lender start(final Path socket) throws IOException {
        return Lender.of(LendingDevice.memory(UNIT)).start(socket);
    }

    private static String permissions(final Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    private void assertRefused(final String why) {
        final IOException e = assertTimeoutPreemptively(
                LONG, () -> assertThrows(IOException.class, () -> start(folder.resolve("lender"))));

        assertTrue(String.valueOf(e.getMessage()).contains(why), e::getMessage);
    }

    /** Whoever can read a file can lock it. */
    @Test
    void shouldMakeFilesThatOnlyItsUserCanOpen() throws IOException {
        try (Lender lender = start(folder.resolve("lender"))) {
            assertEquals("rw-------", permissions(lender.socket()));
            assertEquals("rw-------", permissions(folder.resolve("lender.lock")));
        }
    }

    @Test
    void shouldCloseALockFileThatIsOpenToOthers() throws IOException {
        final Path lock = Files.createFile(folder.resolve("lender.lock"));
        Files.setPosixFilePermissions(lock, PosixFilePermissions.fromString("rw-r--r--"));

        try (Lender lender = start(folder.resolve("lender"))) {
            assertEquals("rw-------", permissions(lock), () -> "lock of " + lender.socket());
        }
    }

    @Test
    void shouldMakeItsFolderForItsUserOnly() throws IOException {
        final Path made = folder.resolve("user").resolve("outboard");

        try (Lender lender = start(made.resolve("lender"))) {
            assertEquals("rwx------", permissions(made), () -> "folder of " + lender.socket());
            assertEquals("rwx------", permissions(folder.resolve("user")));
        }
    }

    @Test
    void shouldNotWaitForAFifoInPlaceOfItsLock() throws Exception {
        final Path fifo = folder.resolve("lender.lock");
        assertEquals(
                0, NativeProgram.run("mkfifo", "-m", "644", fifo.toString()).code());

        assertRefused("must be a file or nothing");

        assertEquals("rw-r--r--", permissions(fifo));
    }

    @Test
    void shouldNotDeleteAFifoInPlaceOfItsSocket() throws Exception {
        final Path fifo = folder.resolve("lender");
        assertEquals(0, NativeProgram.run("mkfifo", fifo.toString()).code());

        assertRefused("must be a socket or nothing");

        assertTrue(Files.exists(fifo));
    }

    @Test
    void shouldNotFollowALinkInPlaceOfItsLock() throws IOException {
        final Path file = folder.resolve("file");
        Files.createSymbolicLink(folder.resolve("lender.lock"), file);

        assertRefused("link");

        assertTrue(Files.notExists(file, LinkOption.NOFOLLOW_LINKS));
    }

    /** The file with two names may be any of the user's, which must neither be locked nor change. */
    @Test
    void shouldRefuseALockThatIsAnotherFileToo() throws IOException {
        final Path file = Files.createFile(folder.resolve("file"));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.createLink(folder.resolve("lender.lock"), file);

        assertRefused("must be a file's only name, and its file has 2");

        assertEquals("rwxr-xr-x", permissions(file));
    }

    @Test
    void shouldRefuseAnotherUsersLock() throws IOException {
        final Path lock = Files.createFile(folder.resolve("lender.lock"));
        try {
            Files.setAttribute(lock, "unix:uid", NOBODY);
        } catch (final IOException e) {
            Assumptions.abort("skipped, needs root: " + e.getMessage());
        }

        assertRefused("is of user " + NOBODY);
    }
}
