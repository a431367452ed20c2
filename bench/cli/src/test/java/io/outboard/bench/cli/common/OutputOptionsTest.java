package io.outboard.bench.cli.common;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.outboard.bench.cli.Main;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** These tests check that places to which results can't be written are reported before anything is measured. */
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

    /** {@code /proc} is a folder that exists, but to which not even root can write. */
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

    /** On a full disk, the folder takes a file, but no bytes. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void shouldRefuseAFolderWhoseFilesStayEmpty() throws Exception {
        final Process process = new ProcessBuilder(
                        "sh",
                        "-c",
                        "ulimit -f 0 && exec \"$0\" -XX:-UsePerfData -cp \"$1\" \"$2\" malloc-large --device none --out \"$3\"",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        folder.toString())
                .redirectErrorStream(true)
                .start();
        final String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

        assertEquals(2, process.waitFor(), said);
        assertTrue(said.contains("--out=" + folder + " must be a folder in which files can be written"), said);
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(List.of(), files.toList());
        }
    }
}
