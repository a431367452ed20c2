package io.outboard.bench.cli.paper;

import io.outboard.bench.cli.report.JsonObject;
import io.outboard.bench.cli.report.JsonReader;
import io.outboard.bench.cli.report.LineFile;
import io.outboard.bench.cli.report.ResultFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** These are the files that one run of a paper left, and maybe those of a run on another card. */
public final class PaperResults {

    static final String ENVIRONMENT = "environment.json";

    private final Path folder;
    private final @Nullable Path beside;

    /**
     * Names the folders; files are read when they are asked for.
     *
     * @param folder with the results of the run
     * @param beside with those of another card, null without
     */
    public PaperResults(final Path folder, final @Nullable Path beside) {
        this.folder = folder;
        this.beside = beside;
    }

    /**
     * Gives the results of another card, which stand beside those of the run.
     *
     * @return nothing if there are none
     */
    public Optional<PaperResults> beside() {
        return Optional.ofNullable(beside).map(other -> new PaperResults(other, null));
    }

    /**
     * Gives the results in a folder within this one.
     *
     * @param name of the folder
     * @return its results, none if there is no such folder
     */
    public PaperResults within(final String name) {
        return new PaperResults(folder.resolve(name), null);
    }

    /**
     * Reads a file that has one result a line, besides blank lines.
     *
     * @param <T> what a line becomes
     * @param file name of the file
     * @param reader reads a line
     * @return results in the order of the file; none if there is no such file
     * @throws IllegalArgumentException if a line breaks a rule; names file, line and rule
     * @throws IOException if the file can't be read
     */
    public <T> List<T> read(final String file, final ResultFolder.LineReader<T> reader) throws IOException {
        final Path path = LineFile.in(folder, file);
        final List<T> results = new ArrayList<>();
        if (Files.exists(path)) {
            final List<String> lines = Files.readAllLines(path);
            for (int i = 0; i < lines.size(); i++) {
                if (!lines.get(i).isBlank()) {
                    results.add(reader.read(path.toString(), i + 1, lines.get(i)));
                }
            }
        }
        return results;
    }

    /**
     * Reads a table of whole numbers, as the files of operations and of memory are.
     *
     * @param file name of the file: comments, a heading, and rows separated by commas
     * @return the rows; an empty cell is NaN; none if there is no such file
     * @throws IllegalArgumentException if a cell is no number; names file and row
     * @throws IOException if the file can't be read
     */
    public List<double[]> rows(final String file) throws IOException {
        final List<String> data = read(file, (name, number, line) -> line).stream()
                .filter(line -> !line.startsWith("#"))
                .skip(1)
                .toList();
        final List<double[]> rows = new ArrayList<>();
        for (final String line : data) {
            final String[] cells = line.split(",", -1);
            final double[] row = new double[cells.length];
            for (int i = 0; i < cells.length; i++) {
                if (!cells[i].matches("[0-9]*")) {
                    throw new IllegalArgumentException(
                            folder.resolve(file) + ": " + line + " must be whole numbers with commas between");
                }
                row[i] = cells[i].isEmpty() ? Double.NaN : Double.parseDouble(cells[i]);
            }
            rows.add(row);
        }
        return rows;
    }

    /**
     * Says which machine and command made the results.
     *
     * @return without keys if the folder doesn't say
     * @throws IOException if the file can't be read
     */
    public JsonObject environment() throws IOException {
        return read(ENVIRONMENT, JsonReader::read).stream()
                .findFirst()
                .orElseGet(() -> JsonReader.read(folder.resolve(ENVIRONMENT).toString(), 1, "{}"));
    }
}
