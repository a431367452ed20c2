package io.outboard.bench.report;

import java.io.IOException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Files that are there whole or not at all, so that who is interrupted leaves none that is torn. */
public final class AtomicFile {

    private AtomicFile() {}

    /**
     * Writes a text, in place of what the file held.
     *
     * @param file in a folder that exists
     * @param text in UTF-8
     * @throws IOException if it can't be written; then an older file stays as it was
     */
    public static void write(final Path file, final String text) throws IOException {
        final Path unfinished = file.resolveSibling(
                "." + file.getFileName() + "." + ProcessHandle.current().pid() + ".tmp");
        try {
            Files.writeString(unfinished, text);
            try {
                Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
            } catch (final AtomicMoveNotSupportedException e) {
                Files.move(unfinished, file, StandardCopyOption.REPLACE_EXISTING);
            }
        } finally {
            Files.deleteIfExists(unfinished);
        }
    }
}
