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
 * This class writes files either whole or not at all, so that an interrupted program leaves no partial file. For a
 * symbolic link, the file that it points to is written. A path that isn't a regular file, such as a device or a pipe,
 * is written to directly.
 */
public final class AtomicFile {

    private static final int MOST_LINKS = 40;

    /** A content writes a file, over whatever the file held. */
    public interface Content {
        /**
         * Writes the content.
         *
         * @param file the file
         * @throws IOException if the file can't be written
         */
        void writeTo(Path file) throws IOException;
    }

    private AtomicFile() {}

    /**
     * Writes a text, in place of what the file held.
     *
     * @param file in a folder that exists
     * @param text in UTF-8
     * @throws FileSystemException of {@code file}, if it can't be written; an older file then stays as it was
     */
    public static void write(final Path file, final String text) throws IOException {
        write(file, to -> Files.writeString(to, text));
    }

    /**
     * Writes a file, in place of what it held.
     *
     * @param file in a folder that exists
     * @param content writes the file, under another name at first
     * @throws FileSystemException as {@link #write(Path, String)}
     */
    public static void write(final Path file, final Content content) throws IOException {
        try {
            // Only the kernel can follow a link to a pipe without a name, so such a link is written to directly.
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

    /** Returns a reason that reads well after the file's name. */
    private static String reasonOf(final IOException e) {
        if (e instanceof NoSuchFileException) {
            return "must be in a folder that exists";
        }
        final String reason = e instanceof FileSystemException failure ? failure.getReason() : e.getMessage();
        return reason == null ? e.getClass().getSimpleName().replace("Exception", "") : reason;
    }
}
