package io.outboard.bench.common;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where results go: options that every measuring command has. */
public final class OutputOptions {

    /** What a table or a program reads. */
    public enum Format {
        /** For people. */
        TABLE,
        /** For programs: one object a line. */
        JSON
    }

    /** About as much as the results of one strategy. */
    private static final int PROBE_BYTES = 64 << 10;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "Write the results, report.html and what else belongs to them into this folder.")
    private @Nullable Path out;

    @Option(
            names = "--format",
            paramLabel = "table|json",
            defaultValue = "table",
            description = "What to print: a table, or one JSON object a line. Default: ${DEFAULT-VALUE}.")
    private Format format = Format.TABLE;

    /** As without any of them. */
    public OutputOptions() {}

    /**
     * Checks everything that can be wrong, and makes the folder for results, if one is wanted.
     *
     * @throws WrongUseException if results can't be written there
     */
    public void check() {
        checkWritable();
    }

    /**
     * Makes the folder for results, if one is wanted, and writes a small file there for a moment: what has been measured for
     * minutes must not be lost for want of a place.
     *
     * @throws WrongUseException if that can't be done
     */
    public void checkWritable() {
        if (out == null) {
            return;
        }
        if (out.toString().isBlank()) {
            throw new WrongUseException("--out=" + out + " must be the name of a folder, not empty");
        }
        try {
            Files.createDirectories(out);
            final Path probe = Files.createTempFile(out, ".outboard", ".tmp");
            try {
                Files.write(probe, new byte[PROBE_BYTES]);
            } finally {
                Files.deleteIfExists(probe);
            }
        } catch (final IOException e) {
            final String reason = e instanceof FileSystemException failure ? failure.getReason() : e.getMessage();
            throw new WrongUseException("--out=" + out + " must be a folder in which files can be written"
                    + (reason == null ? "" : ": " + reason));
        }
    }

    /**
     * Where results go.
     *
     * @return the folder, null if none is wanted
     */
    public @Nullable Path out() {
        return out;
    }

    /**
     * What to print.
     *
     * @return true for one JSON object a line, false for a table
     */
    public boolean json() {
        return format == Format.JSON;
    }
}
