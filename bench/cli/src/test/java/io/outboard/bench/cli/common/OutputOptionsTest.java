package io.outboard.bench.cli.common;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Places for results that results can't be written to: told before anything is measured. */
class OutputOptionsTest {

    @TempDir
    private Path folder;

    private static OutputOptions out(final String value) {
        final OutputOptions options = new OutputOptions();
        new CommandLine(options).setCaseInsensitiveEnumValuesAllowed(true).parseArgs("--out", value);
        return options;
    }

    private static void assertRefused(final String value) {
        final WrongUseException thrown =
                assertThrows(WrongUseException.class, () -> out(value).check());
        assertTrue(String.valueOf(thrown.getMessage()).startsWith("--out=" + value + " must be "), thrown.getMessage());
    }

    @Test
    void shouldMakeTheFolderAndLeaveNothingInIt() throws IOException {
        final Path made = folder.resolve("a/b");

        out(made.toString()).check();

        try (Stream<Path> files = Files.list(made)) {
            assertEquals(List.of(), files.toList());
        }
    }

    @Test
    void shouldDoWithoutAFolder() {
        assertDoesNotThrow(() -> new OutputOptions().check());
    }

    @Test
    void shouldRefuseAnEmptyName() {
        assertRefused("");
    }

    @Test
    void shouldRefuseAFileInTheWay() throws IOException {
        final Path file = Files.writeString(folder.resolve("file"), "kept");

        assertRefused(file.toString());
        assertRefused(file.resolve("sub").toString());

        assertEquals("kept", Files.readString(file));
    }

    /** A folder that is there, to which not even root can write. */
    @Test
    void shouldRefuseAFolderThatTakesNoFiles() {
        assumeTrue(Files.isDirectory(Path.of("/proc/self")), "no /proc here");

        assertRefused("/proc");
    }

    @Test
    void shouldRefuseAFolderOfSomebodyElse() {
        assertTrue(folder.toFile().setWritable(false));
        try {
            assumeFalse(Files.isWritable(folder), "root may write anywhere");

            assertRefused(folder.toString());
        } finally {
            assertTrue(folder.toFile().setWritable(true));
        }
    }

    /** A disk of 16 KiB, where this user may mount one. */
    @Test
    void shouldRefuseAFullDisk() throws Exception {
        final Path disk = Files.createDirectory(folder.resolve("disk"));
        assumeTrue(run("mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk.toString()), "no disk can be mounted");
        try {
            assertRefused(disk.toString());
            try (Stream<Path> files = Files.list(disk)) {
                assertEquals(List.of(), files.toList());
            }
        } finally {
            assertTrue(run("umount", disk.toString()));
        }
    }

    private static boolean run(final String... command) throws IOException, InterruptedException {
        try {
            return new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (final IOException e) {
            return false;
        }
    }
}
