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
     * Checks everything that can be wrong, and makes the folder for results, if one is wanted. One folder holds one
     * run.
     *
     * @throws WrongUseException if results can't be written there, or another run's are there and aren't to be
     *     replaced
     */
    public void check() {
        check(RunFiles::isOfRun);
    }

    /**
     * The same for a command that goes on with what it finds of its own.
     *
     * @param foreign which names are of files that mustn't be there
     * @throws WrongUseException as {@link #check()}
     */
    public void check(final Predicate<String> foreign) {
        checkWritable();
        if (out != null && !overwrite) {
            RunFiles.checkNone(out, foreign);
        }
    }

    /**
     * Makes the folder for results, if one is wanted, and writes a small file there for a moment: what has been
     * measured for minutes must not be lost for want of a place.
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
     * Deletes another run's results, if the user wants them replaced. Only for commands that don't use {@link #write},
     * which does so itself.
     *
     * @throws IOException if they can't be deleted
     */
    public void deleteOld() throws IOException {
        if (out != null && overwrite) {
            RunFiles.delete(out);
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
     * Writes a file into the folder for results, whole or not at all. Before the first one, what another run left there
     * is deleted.
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
     * Makes the page of the folder for results, if one is wanted, and says so, unless lines for programs are printed.
     *
     * @param parts what to show
     * @param printer where to say it; flushed
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
     * What to print.
     *
     * @return true for one JSON object a line, false for a table
     */
    public boolean json() {
        return format == Format.JSON;
    }
}
