package io.outboard.bench.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class AtomicFileTest {

    @TempDir
    Path folder;

    private void assertNothingElse(final String... names) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            assertEquals(
                    List.of(names),
                    files.map(file -> file.getFileName().toString()).sorted().toList());
        }
    }

    @Test
    void shouldReplaceAFile() throws IOException {
        final Path file = folder.resolve("a");
        Files.writeString(file, "a longer old text");

        AtomicFile.write(file, "new");

        assertEquals("new", Files.readString(file));
        assertNothingElse("a");
    }

    @Test
    void shouldWriteTheFileBehindLinks() throws IOException {
        final Path file = folder.resolve("c");
        Files.createSymbolicLink(folder.resolve("b"), Path.of("c"));
        final Path link = Files.createSymbolicLink(folder.resolve("a"), Path.of("b"));

        AtomicFile.write(link, "first");
        AtomicFile.write(link, "second");

        assertTrue(Files.isSymbolicLink(link));
        assertTrue(Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS));
        assertEquals("second", Files.readString(file));
        assertNothingElse("a", "b", "c");
    }

    @Test
    void shouldSayThatLinksGoRound() throws IOException {
        final Path link = Files.createSymbolicLink(folder.resolve("a"), Path.of("a"));

        final FileSystemException thrown =
                assertThrows(FileSystemException.class, () -> AtomicFile.write(link, "text"));

        assertEquals(link.toString(), thrown.getFile());
        assertTrue(Files.isSymbolicLink(link));
    }

    /** As root, a write once replaced the device by a file. */
    @EnabledOnOs(OS.LINUX)
    @Test
    void shouldWriteToADeviceAndLeaveItThere() throws IOException {
        final Path full = Path.of("/dev/full");
        Assumptions.assumeTrue(Files.isWritable(full));

        final FileSystemException thrown =
                assertThrows(FileSystemException.class, () -> AtomicFile.write(full, "text"));

        assertEquals("/dev/full: No space left on device", thrown.getFile() + ": " + thrown.getReason());
        assertFalse(Files.isRegularFile(full));
        AtomicFile.write(Path.of("/dev/null"), "text");
        assertFalse(Files.isRegularFile(Path.of("/dev/null")));
    }

    @EnabledOnOs({OS.LINUX, OS.MAC})
    @Test
    @Timeout(60)
    void shouldWriteToAPipe() throws Exception {
        final Path pipe = folder.resolve("pipe");
        final Process made = new ProcessBuilder("mkfifo", pipe.toString()).start();
        assertTrue(made.waitFor(30, TimeUnit.SECONDS));
        final CompletableFuture<String> read = CompletableFuture.supplyAsync(() -> {
            try {
                return Files.readString(pipe);
            } catch (final IOException e) {
                return e.toString();
            }
        });

        AtomicFile.write(pipe, "text");

        assertEquals("text", read.get());
        assertFalse(Files.isRegularFile(pipe));
    }

    /** A shell's pipe and {@code /dev/stdout} are links that name no file. */
    @EnabledOnOs(OS.LINUX)
    @Test
    @Timeout(60)
    void shouldWriteToAPipeWithoutAName() throws IOException {
        final Set<Path> before = pipes();
        final Pipe pipe = Pipe.open();
        try (Pipe.SourceChannel source = pipe.source();
                Pipe.SinkChannel sink = pipe.sink()) {
            final Set<Path> opened = pipes();
            opened.removeAll(before);
            assertTrue(sink.isOpen());

            AtomicFile.write(opened.iterator().next(), "text");

            final ByteBuffer read = ByteBuffer.allocate(10);
            assertEquals(4, source.read(read));
            assertEquals("text", new String(read.array(), 0, 4, StandardCharsets.UTF_8));
        }
    }

    private static Set<Path> pipes() throws IOException {
        final Set<Path> pipes = new TreeSet<>();
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            for (final Path each : all.toList()) {
                try {
                    if (Files.readSymbolicLink(each).toString().startsWith("pipe:")) {
                        pipes.add(each);
                    }
                } catch (final NoSuchFileException e) {
                    // The descriptor by which the folder was read is closed by now.
                }
            }
        }
        return pipes;
    }

    @Test
    void shouldNameTheFileThatItWasAskedFor() {
        final Path file = folder.resolve("none/a");

        final FileSystemException thrown =
                assertThrows(FileSystemException.class, () -> AtomicFile.write(file, "text"));

        assertEquals(file.toString(), thrown.getFile());
        assertEquals("must be in a folder that exists", thrown.getReason());
    }

    @Test
    void shouldLeaveNothingOfWhatCouldNotBeWritten() throws IOException {
        final Path file = folder.resolve("a");
        Files.writeString(file, "old");

        final FileSystemException thrown = assertThrows(
                FileSystemException.class,
                () -> AtomicFile.write(file, to -> {
                    Files.writeString(to, "half of ");
                    throw new IOException("No space left on device");
                }));

        assertEquals("No space left on device", thrown.getReason());
        assertEquals("old", Files.readString(file));
        assertNothingElse("a");
    }
}
