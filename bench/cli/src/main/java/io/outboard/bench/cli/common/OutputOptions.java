package io.outboard.bench.cli.common;

import io.outboard.bench.cli.report.AtomicFile;
import io.outboard.bench.cli.report.PagePart;
import io.outboard.bench.cli.report.ReportPage;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** These options of every measuring command say where results go. */
public final class OutputOptions {

    /** A format says how results are printed. */
    public enum Format {
        /** A table for people. */
        TABLE,
        /** One JSON object a line, for programs. */
        JSON
    }

    /** The size of the probe file, about that of the results of one strategy. */
    private static final int PROBE_BYTES = 64 << 10;

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

    /** Makes the options as they are when the user gives none. */
    public OutputOptions() {}

    /**
     * Makes options for another folder, such as one within this folder, which replace old results as these do. Tables
     * are wanted there.
     *
     * @param folder where results go
     * @return new options
     */
    public OutputOptions within(final Path folder) {
        final OutputOptions options = new OutputOptions();
        options.out = folder;
        options.overwrite = overwrite;
        return options;
    }

    /**
     * Checks everything that can be wrong with the options, and makes the folder for results if one is wanted. A folder
     * holds the results of one run.
     *
     * @throws WrongUseException if results can't be written there, or if the folder has another run's results that the
     *     user doesn't want replaced
     */
    public void check() {
        check(RunFiles::isOfRun);
    }

    /**
     * Checks like {@link #check()}, for a command that continues with its own earlier results in the folder.
     *
     * @param foreign tells whether a file of a given name must not be there
     * @throws WrongUseException as {@link #check()}
     */
    public void check(final Predicate<String> foreign) {
        checkWritable();
        if (out != null && !overwrite) {
            RunFiles.checkNone(out, foreign);
        }
    }

    /**
     * Makes the folder for results, if one is wanted, and writes a small file there for a moment, so that no results of
     * minutes of measuring are lost because the folder can't be written.
     *
     * @throws WrongUseException if the folder can't be made or written
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
     * Deletes another run's results if the user wants them replaced. Only commands that don't use {@link #write} need
     * to call this method; {@code write} deletes old results itself.
     *
     * @throws IOException if a file can't be deleted
     */
    public void deleteOld() throws IOException {
        if (out != null && overwrite) {
            RunFiles.delete(out);
        }
    }

    /**
     * Gives the folder for results.
     *
     * @return the folder, null if none is wanted
     */
    public @Nullable Path out() {
        return out;
    }

    /**
     * Writes a file into the folder for results, either whole or not at all. The first call deletes what another run
     * left in the folder.
     *
     * @param name of the file
     * @param text the content of the file
     * @throws IOException if the file can't be written
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
     * @param name as in {@link #write}
     * @param lines without line feeds, which are added
     * @throws IOException as {@link #write}
     */
    public void writeLines(final String name, final List<String> lines) throws IOException {
        write(name, lines.stream().map(line -> line + "\n").collect(Collectors.joining()));
    }

    /**
     * Makes the page of the folder for results, if a folder is wanted. Prints where the page is, unless lines for
     * programs are printed.
     *
     * @param parts what the page shows
     * @param printer where to print; flushed
     * @throws IOException if the page can't be written
     */
    public void writePage(final List<PagePart> parts, final PrintWriter printer) throws IOException {
        if (out != null) {
            final Path page = ReportPage.write(out, parts);
            if (!json()) {
                printer.println("report: " + page);
            }
        }
        printer.flush();
    }

    /**
     * Tells which format is printed.
     *
     * @return true for one JSON object a line, false for a table
     */
    public boolean json() {
        return format == Format.JSON;
    }
}
