package io.outboard.bench.cli.report;

import java.io.IOException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * Files that are there whole or not at all, so that who is interrupted leaves none that is torn. Behind a symbolic link
 * the file that it names is written. What is no regular file, such as a device or a pipe, is written to as it is.
 */
public final class AtomicFile {

    private static final int MOST_LINKS = 40;

    /** What writes a file, over whatever it held. */
    public interface Content {
        /**
         * Writes it.
         *
         * @param file the file
         * @throws IOException if it can't be written
         */
        void writeTo(Path file) throws IOException;
    }

    private AtomicFile() {}

    /**
     * Writes a text, in place of what the file held.
     *
     * @param file in a folder that exists
     * @param text in UTF-8
     * @throws FileSystemException of {@code file}, if it can't be written; then an older file stays as it was
     */
    public static void write(final Path file, final String text) throws IOException {
        write(file, to -> Files.writeString(to, text));
    }

    /**
     * Writes a file, in place of what it held.
     *
     * @param file in a folder that exists
     * @param content what writes it, under another name at first
     * @throws FileSystemException as {@link #write(Path, String)}
     */
    public static void write(final Path file, final Content content) throws IOException {
        try {
            // The kernel follows a link to a pipe that has no name.
            if (Files.exists(file) && !Files.isRegularFile(file)) {
                content.writeTo(file);
            } else {
                replace(behindLinks(file), content);
            }
        } catch (final IOException e) {
            final FileSystemException failure = new FileSystemException(file.toString(), null, reasonOf(e));
            failure.initCause(e);
            throw failure;
        }
    }

    private static void replace(final Path file, final Content content) throws IOException {
        final Path unfinished = file.resolveSibling(
                "." + file.getFileName() + "." + ProcessHandle.current().pid() + ".tmp");
        try {
            content.writeTo(unfinished);
            try {
                Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
            } catch (final AtomicMoveNotSupportedException e) {
                Files.move(unfinished, file, StandardCopyOption.REPLACE_EXISTING);
            }
        } finally {
            Files.deleteIfExists(unfinished);
        }
    }

    private static Path behindLinks(final Path file) throws IOException {
        Path target = file;
        for (int links = 0; Files.isSymbolicLink(target); links++) {
            if (links == MOST_LINKS) {
                throw new FileSystemLoopException(file.toString());
            }
            target = target.resolveSibling(Files.readSymbolicLink(target));
        }
        return target;
    }

    /** For who reads it after the file's name. */
    private static String reasonOf(final IOException e) {
        if (e instanceof NoSuchFileException) {
            return "must be in a folder that exists";
        }
        final String reason = e instanceof FileSystemException failure ? failure.getReason() : e.getMessage();
        return reason == null ? e.getClass().getSimpleName().replace("Exception", "") : reason;
    }
}
