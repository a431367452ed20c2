package io.outboard.bench.common;

import java.io.IOException;
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
     * Makes the folder for results, if one is wanted.
     *
     * @throws WrongUseException if it can't be made
     */
    public void check() {
        if (out != null) {
            try {
                Files.createDirectories(out);
            } catch (final IOException e) {
                throw new WrongUseException("--out=" + out + " must be a folder, or one that can be made");
            }
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
