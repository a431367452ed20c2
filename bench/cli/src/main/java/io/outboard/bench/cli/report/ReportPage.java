package io.outboard.bench.cli.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * This class makes {@code report.html} from the results in a folder: one page that carries its style, scripts and data
 * and needs no network. Tables are complete without scripts; charts are drawn by the browser.
 *
 * <p>The caller decides which parts a page can show. Each part is about one file of the folder and the other files that
 * belong to its lines. A missing file is left out of the page; a malformed file is an error. {@code environment.json},
 * if it was written, tells which machine and command made the results.
 *
 * <p>Safe for any number of threads, as long as each writes to its own folder. The page is held in host memory until it
 * is complete: about 0.3 MiB and the size of the result files.
 */
public final class ReportPage {

    /** The name of the page within its folder. */
    public static final String FILE_NAME = "report.html";

    private static final Map<String, String> ENVIRONMENT = environmentLabels();

    private ReportPage() {}

    /**
     * Writes the page of a folder, in place of an older page.
     *
     * @param directory the folder that holds the results and receives the page
     * @param parts what to show, if the folder has it
     * @return the page
     * @throws IllegalArgumentException if the folder is missing or has no results, or a file is malformed; the message
     *     is one line that names the file, the line and the rule. No page was written, an older page stays
     * @throws IOException if a file cannot be read or the page cannot be written; an older page stays
     */
    public static Path write(final Path directory, final List<PagePart> parts) throws IOException {
        final ResultFolder folder = ResultFolder.open(directory, parts);
        final String html = html(folder, parts);
        final Path page = directory.resolve(FILE_NAME);
        AtomicFile.write(page, html);
        return page;
    }

    private static String html(final ResultFolder folder, final List<PagePart> parts) throws IOException {
        final StringBuilder links = new StringBuilder();
        final StringBuilder content = new StringBuilder();
        final List<Section> sections = parts.stream()
                .filter(part -> folder.contains(part.fileName()))
                .flatMap(part -> part.sections().apply(folder).stream())
                .toList();
        for (int i = 0; i < sections.size(); i++) {
            final String title = Html.escape(sections.get(i).title());
            links.append("<li><a href=\"#section-" + i + "\">" + title + "</a></li>\n");
            content.append("<section id=\"section-" + i + "\" aria-labelledby=\"title-" + i + "\">\n<h2 id=\"title-" + i
                    + "\">" + title + "</h2>\n" + sections.get(i).html() + "</section>\n");
        }
        final String contents =
                sections.size() > 1 ? Template.fill("contents.html", Map.of("links", links.toString())) : "";
        final JsonObject environment = folder.environment();
        final Headline headline = headline(sections);
        final String about = Stream.of(environment.text("gpu").isEmpty() ? "cpu" : "gpu", "date")
                .map(environment::text)
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining(", "));
        return Template.fill(
                "report.html",
                Map.ofEntries(
                        Map.entry("style", Template.load("report.css")),
                        Map.entry("about", Html.escape(about.isEmpty() ? "benchmark results" : about)),
                        Map.entry("sentence", sentence(headline)),
                        Map.entry("bars", bars(headline)),
                        Map.entry("command", command(environment)),
                        Map.entry("environment", environment(environment)),
                        Map.entry("contents", contents),
                        Map.entry("sections", content.toString()),
                        Map.entry("chartVersion", Html.escape(ChartLibrary.version())),
                        Map.entry("chartLibrary", ChartLibrary.script()),
                        Map.entry("script", ChartLibrary.embeddable(Template.load("report.js")))));
    }

    /** Returns the headline of the first section that has one. */
    private static Headline headline(final List<Section> sections) throws IOException {
        for (final Section section : sections) {
            final Optional<Headline> headline = section.headline();
            if (headline.isPresent()) {
                return headline.get();
            }
        }
        return new Headline(sections.stream().map(Section::title).collect(Collectors.joining(", ")), List.of());
    }

    /** Returns the sentence in HTML; names with hyphens are kept on one line. */
    private static String sentence(final Headline headline) {
        return Html.escape(headline.sentence()).replaceAll("\\b[a-z]+(-[a-z]+)+\\b", "<span class=\"name\">$0</span>");
    }

    private static String bars(final Headline headline) {
        return headline.bars().isEmpty()
                ? ""
                : headline.bars().stream()
                        .map(LogBars::html)
                        .collect(Collectors.joining("", "<div class=\"bargrid\">\n", "</div>"));
    }

    private static String command(final JsonObject environment) {
        final String command = environment.text("command");
        return command.isEmpty()
                ? ""
                : "<p class=\"command\"><span>Made by</span> " + value("command", command) + "</p>";
    }

    private static String environment(final JsonObject environment) {
        final Set<String> keys = new LinkedHashSet<>(ENVIRONMENT.keySet());
        keys.addAll(environment.keys());
        keys.remove("command");
        final String rows = keys.stream()
                .filter(key -> !environment.text(key).isEmpty())
                .map(key -> "<div><dt>" + Html.escape(ENVIRONMENT.getOrDefault(key, key)) + "</dt><dd>"
                        + value(key, environment.text(key)) + "</dd></div>")
                .collect(Collectors.joining("\n"));
        return rows.isEmpty()
                ? "<p class=\"note\">The folder does not say which machine and command made these results.</p>"
                : "<details class=\"machine\"><summary>Machine and settings</summary>\n<dl class=\"environment\">\n"
                        + rows + "\n</dl></details>";
    }

    private static String value(final String key, final String text) {
        final boolean code = key.equals("command") || key.equals("flags") || key.equals("commit");
        if (!code) {
            return Html.escape(text);
        }
        // Browsers break lines behind a hyphen, which would separate options from their dashes, so words are kept
        // whole.
        return Pattern.compile(" ")
                .splitAsStream(text)
                .map(word -> "<span>" + Html.escape(word) + "</span>")
                .collect(Collectors.joining(" ", "<code>", "</code>"));
    }

    private static Map<String, String> environmentLabels() {
        final Map<String, String> labels = new LinkedHashMap<>();
        labels.put("gpu", "GPU");
        labels.put("driver", "Driver");
        labels.put("cuda", "CUDA");
        labels.put("baselines", "Baselines");
        labels.put("cpu", "CPU");
        labels.put("os", "OS");
        labels.put("jdk", "JDK");
        labels.put("flags", "JVM flags");
        labels.put("commit", "Commit");
        labels.put("date", "Date");
        return labels;
    }
}
