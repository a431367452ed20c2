package io.outboard.bench.cli.report;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * This class reads the result files of one folder. Every file is found through the folder's own list of names, so that
 * no trace name, whatever it holds, can lead out of the folder.
 */
public final class ResultFolder {

    /** The file with the results of strategies. */
    public static final String RESULTS = "results.jsonl";

    private static final String ENVIRONMENT = "environment.json";

    private final Path directory;
    private final Set<String> fileNames;
    private final List<Result> results;
    private final JsonObject environment;

    private ResultFolder(final Path directory, final Set<String> fileNames) throws IOException {
        this.directory = directory;
        this.fileNames = fileNames;
        this.results = fileNames.contains(RESULTS) ? readResults() : List.of();
        this.environment = fileNames.contains(ENVIRONMENT)
                ? JsonReader.read(path(ENVIRONMENT), 1, read(ENVIRONMENT))
                : new JsonObject(path(ENVIRONMENT), Map.of());
    }

    /**
     * Opens a folder and reads its results and environment.
     *
     * @param parts what to show
     * @throws IllegalArgumentException if there is no such folder, if the folder has nothing to show, or if one of the
     *     two files breaks a rule
     * @throws IOException if the folder or a file cannot be read
     */
    public static ResultFolder open(final Path directory, final List<PagePart> parts) throws IOException {
        if (!Files.isDirectory(directory)) {
            throw new IllegalArgumentException(directory + ": must be a folder with result files");
        }
        final Set<String> names;
        try (Stream<Path> files = Files.list(directory)) {
            names = files.map(file -> file.toFile().getName())
                    .flatMap(name -> Stream.of(name, LineFile.nameOf(name)))
                    .collect(Collectors.toUnmodifiableSet());
        }
        if (parts.stream().map(PagePart::fileName).noneMatch(names::contains)) {
            throw new IllegalArgumentException(directory + ": must contain "
                    + parts.stream().map(PagePart::fileName).collect(Collectors.joining(" or ")));
        }
        return new ResultFolder(directory, names);
    }

    /** Returns the results by trace, both in the order of the file. */
    public Map<String, List<Result>> resultsByTrace() {
        return byTrace(results);
    }

    /**
     * Returns the results that stand for the folder, by trace: the medians of several processes, if the folder has
     * these, and otherwise the results themselves.
     *
     * @throws IllegalArgumentException if the file of processes is malformed; names file, line and rule
     * @throws IOException if the file cannot be read
     */
    public Map<String, List<Result>> headlineResults() throws IOException {
        return fileNames.contains(ProcessMedians.FILE_NAME) ? byTrace(ProcessMedians.read(this)) : resultsByTrace();
    }

    private static Map<String, List<Result>> byTrace(final List<Result> results) {
        return results.stream().collect(Collectors.groupingBy(Result::trace, LinkedHashMap::new, Collectors.toList()));
    }

    /** Returns the names of the results of all traces, in the order of the file. */
    public List<String> names() {
        return results.stream().map(Result::name).distinct().collect(Collectors.toList());
    }

    /** Returns which machine and command made the results; without keys if the folder does not say. */
    public JsonObject environment() {
        return environment;
    }

    public boolean contains(final String name) {
        return fileNames.contains(name);
    }

    /** Returns the path of a file in this folder, for error messages. */
    public String path(final String name) {
        return LineFile.in(directory, name).toString();
    }

    private List<String> lines(final String name) throws IOException {
        return read(name).lines().toList();
    }

    /**
     * Reads a file of the folder that has one result a line, besides blank lines.
     *
     * @param <T> what a line becomes
     * @param name the file's name
     * @param reader reads a line
     * @return results in the order of the file
     * @throws IllegalArgumentException if a line breaks a rule; names file, line and rule
     * @throws IOException if the file cannot be read
     */
    public <T> List<T> results(final String name, final LineReader<T> reader) throws IOException {
        final List<T> results = new ArrayList<>();
        final List<String> lines = lines(name);
        for (int i = 0; i < lines.size(); i++) {
            if (!lines.get(i).isBlank()) {
                results.add(reader.read(path(name), i + 1, lines.get(i)));
            }
        }
        return results;
    }

    /** A reader makes a result of one line; its errors name the file and the number of the line. */
    @FunctionalInterface
    public interface LineReader<T> {

        T read(String file, int number, String line);
    }

    /**
     * Reads the lines of a file of the folder, without blank lines and comments.
     *
     * @param name the file's name
     * @param heading tells whether a line is the heading, which has to come first
     * @param headingText the heading, for the error
     * @return the lines after the heading
     * @throws IllegalArgumentException if there is no heading; names file and line
     * @throws IOException if the file cannot be read
     */
    public List<DataLine> dataLines(final String name, final Predicate<String> heading, final String headingText)
            throws IOException {
        final List<String> lines = lines(name);
        final List<DataLine> data = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            final String text = lines.get(i).strip();
            if (!text.isEmpty() && !text.startsWith("#")) {
                data.add(new DataLine(path(name) + ":" + (i + 1), text));
            }
        }
        if (data.isEmpty()) {
            final String end = path(name) + ":" + Math.max(1, lines.size());
            throw new IllegalArgumentException(end + ": must have the heading " + headingText);
        }
        if (!heading.test(data.get(0).text())) {
            throw new IllegalArgumentException(data.get(0).where() + ": must be the heading " + headingText);
        }
        return data.subList(1, data.size());
    }

    /** A data line has the text of a line, and the line's place as {@code file:line}. */
    public record DataLine(String where, String text) {}

    private List<Result> readResults() throws IOException {
        final List<JsonObject> read = results(RESULTS, JsonReader::read);
        if (read.isEmpty()) {
            throw new IllegalArgumentException(path(RESULTS) + ":1: must hold at least one JSON object, one a line");
        }
        return Result.ofLines(read);
    }

    private String read(final String name) throws IOException {
        try {
            return Files.readString(LineFile.in(directory, name));
        } catch (final CharacterCodingException e) {
            throw new IllegalArgumentException(path(name) + ": must be text in UTF-8", e);
        }
    }
}
