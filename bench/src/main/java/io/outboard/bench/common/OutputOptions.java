package io.outboard.bench.common;

import io.outboard.bench.report.AtomicFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
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

    @Option(names = "--overwrite", description = "Replace the results of another run that are in the folder of --out.")
    private boolean overwrite;

    private boolean isBegun;

    @Option(
            names = "--format",
            paramLabel = "table|json",
            defaultValue = "table",
            description = "What to print: a table, or one JSON object a line. Default: ${DEFAULT-VALUE}.")
    private Format format = Format.TABLE;

    /** As without any of them. */
    public OutputOptions() {}

    /**
     * Makes the folder for results, if one is wanted. One folder holds one run.
     *
     * @throws WrongUseException if it can't be made, or has another run's results that aren't to be replaced
     */
    public void check() {
        if (out != null) {
            try {
                Files.createDirectories(out);
            } catch (final IOException e) {
                throw new WrongUseException("--out=" + out + " must be a folder, or one that can be made");
            }
            if (!overwrite) {
                RunFiles.checkNone(out, RunFiles::isOfRun);
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
     * Writes a file into the folder for results, whole or not at all. Before the first one, what another run left there is
     * deleted.
     *
     * @param name of the file
     * @param text its content
     * @throws IOException if it can't be written
     * @throws IllegalStateException if no folder is wanted
     */
    public void write(final String name, final String text) throws IOException {
        if (out == null) {
            throw new IllegalStateException("--out must be given");
        }
        if (!isBegun) {
            Files.createDirectories(out);
            RunFiles.delete(out);
            isBegun = true;
        }
        AtomicFile.write(out.resolve(name), text);
    }

    /**
     * Writes a file of lines.
     *
     * @param name as {@link #write}
     * @param lines each ends in a line feed
     * @throws IOException as {@link #write}
     */
    public void writeLines(final String name, final List<String> lines) throws IOException {
        write(name, lines.stream().map(line -> line + "\n").collect(Collectors.joining()));
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
