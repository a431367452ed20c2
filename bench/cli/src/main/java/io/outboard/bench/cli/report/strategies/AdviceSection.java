package io.outboard.bench.cli.report.strategies;

import io.outboard.bench.cli.report.Headline;
import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.JsonObject;
import io.outboard.bench.cli.report.JsonReader;
import io.outboard.bench.cli.report.ResultFolder;
import io.outboard.bench.cli.report.Section;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** This class shows the advice for a program, as {@code outboard advise} gave it. */
public final class AdviceSection implements Section {

    /** The name of the file in the folder, which has one JSON object. */
    public static final String FILE_NAME = "advice.jsonl";

    private final ResultFolder folder;

    /**
     * Makes the section of a folder that has the file.
     *
     * @param folder the folder
     */
    AdviceSection(final ResultFolder folder) {
        this.folder = folder;
    }

    @Override
    public String title() {
        return "Advice";
    }

    @Override
    public Optional<Headline> headline() throws IOException {
        final JsonObject advice = advice();
        final JsonObject says = advice.object("says");
        final String sentences = Stream.of(advice.text("verdict"), says.text("take"), says.text("runnerUp"))
                .map(AdviceSection::sentence)
                .collect(Collectors.joining(" "));
        return Optional.of(
                new Headline(sentences.strip(), List.of(new SpeedOverSpace(folder.resultsByTrace()).bars())));
    }

    @Override
    public String html() throws IOException {
        final JsonObject says = advice().object("says");
        return says.keys().stream()
                .map(key -> "<li>" + Html.escape(sentence(says.text(key))) + "</li>\n")
                .collect(Collectors.joining("", "<ul>\n", "</ul>\n"));
    }

    private JsonObject advice() throws IOException {
        final List<JsonObject> lines = folder.results(FILE_NAME, JsonReader::read);
        if (lines.size() != 1) {
            throw new IllegalArgumentException(folder.path(FILE_NAME) + ":1: must have one JSON object");
        }
        return lines.get(0);
    }

    /** Writes a line of the terminal as a sentence. */
    private static String sentence(final String line) {
        return line.isEmpty() ? "" : Character.toUpperCase(line.charAt(0)) + line.substring(1) + ".";
    }
}
