package io.outboard.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where results go: options that every measuring command has. */
final class OutputOptions {

    /** What a table or a program reads. */
    enum Format {
        TABLE,
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

    /** Makes the folder for results, if one is wanted. */
    void check() {
        if (out != null) {
            try {
                Files.createDirectories(out);
            } catch (final IOException e) {
                throw new WrongUseException("--out=" + out + " must be a folder, or one that can be made");
            }
        }
    }

    @Nullable
    Path out() {
        return out;
    }

    boolean json() {
        return format == Format.JSON;
    }
}
