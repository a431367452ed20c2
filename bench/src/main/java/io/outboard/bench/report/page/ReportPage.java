package io.outboard.bench.report.page;

import io.outboard.bench.report.FiguresSection;
import io.outboard.bench.report.Html;
import io.outboard.bench.report.JsonObject;
import io.outboard.bench.report.ResultFolder;
import io.outboard.bench.report.Section;
import io.outboard.bench.report.Series;
import io.outboard.bench.report.Template;
import io.outboard.bench.report.kernels.KernelsSection;
import io.outboard.bench.report.programs.ProgramsSection;
import java.io.IOException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Makes {@code report.html} from the results in a folder: one page that carries its style, scripts and data and asks
 * the network for nothing. Tables are complete without scripts; charts are drawn by the browser.
 *
 * <p>The folder holds {@code results.json} (one object a line) and, if they were written, {@code environment.json},
 * {@code <files>-allocate.hgrm}, {@code <files>-free.hgrm} and {@code <files>-memory.csv}, where {@code files} is that key
 * of the object, {@code <trace>-<strategy>} if it has none; and {@code threads.json}, {@code kernels.json} and {@code
 * programs.json}, the last two also alone, as can be the figures of {@code thread-profiles.json}, {@code thread-memory.json}, {@code sweep.json} and
 * {@code soak.json}; and {@code ratios.json}. What is missing or null is left out of the page; what is malformed is an error.
 *
 * <p>Safe for any number of threads, as long as each writes to its own folder. The page is held in host memory until it
 * is complete: about 0.3 MiB and the size of the result files.
 */
public final class ReportPage {

    /** Name of the page within its folder. */
    public static final String FILE_NAME = "report.html";

    private static final Map<String, String> ENVIRONMENT = environmentLabels();

    private ReportPage() {}

    /**
     * Writes the page of a folder, in place of an older one.
     *
     * @param directory the folder that holds the results and receives the page
     * @return the page
     * @throws IllegalArgumentException if the folder is missing or has no results, or a file is malformed;
     *     the message is one line that names the file, the line and the rule. No page was written, an older one stays
     * @throws IOException if a file cannot be read or the page cannot be written; an older page stays
     */
    public static Path write(final Path directory) throws IOException {
        final ResultFolder folder = ResultFolder.open(directory);
        final String html = html(folder);
        final Path page = directory.resolve(FILE_NAME);
        final Path unfinished = directory.resolve(
                "." + FILE_NAME + "." + ProcessHandle.current().pid() + ".tmp");
        try {
            Files.writeString(unfinished, html);
            try {
                Files.move(unfinished, page, StandardCopyOption.ATOMIC_MOVE);
            } catch (final AtomicMoveNotSupportedException e) {
                Files.move(unfinished, page, StandardCopyOption.REPLACE_EXISTING);
            }
        } finally {
            Files.deleteIfExists(unfinished);
        }
        return page;
    }

    private static String html(final ResultFolder folder) throws IOException {
        final StringBuilder links = new StringBuilder();
        final StringBuilder content = new StringBuilder();
        final List<Section> sections = sections(folder);
        for (int i = 0; i < sections.size(); i++) {
            final String title = Html.escape(sections.get(i).title());
            links.append("<li><a href=\"#section-" + i + "\">" + title + "</a></li>\n");
            content.append("<section id=\"section-" + i + "\" aria-labelledby=\"title-" + i + "\">\n<h2 id=\"title-" + i
                    + "\">" + title + "</h2>\n" + sections.get(i).html() + "</section>\n");
        }
        final String contents =
                sections.size() > 1 ? Template.fill("contents.html", Map.of("links", links.toString())) : "";
        final JsonObject environment = folder.environment();
        final String about = Stream.of(environment.text("gpu").isEmpty() ? "cpu" : "gpu", "date")
                .map(environment::text)
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining(", "));
        return Template.fill(
                "report.html",
                Map.of(
                        "style", Template.load("report.css"),
                        "about", Html.escape(about.isEmpty() ? "benchmark results" : about),
                        "environment", environment(environment),
                        "contents", contents,
                        "sections", content.toString(),
                        "chartVersion", Html.escape(ChartLibrary.version()),
                        "chartLibrary", ChartLibrary.script(),
                        "script", ChartLibrary.embeddable(Template.load("report.js"))));
    }

    private static List<Section> sections(final ResultFolder folder) {
        final Map<String, Series> series = Series.ofStrategies(folder.names()).stream()
                .collect(Collectors.toMap(Series::name, Function.identity(), (a, b) -> a, LinkedHashMap::new));
        final List<Section> sections = new ArrayList<>();
        if (folder.resultsByTrace().size() > 1) {
            sections.add(new OverviewSection(folder.resultsByTrace(), series));
        }
        folder.resultsByTrace()
                .forEach((trace, results) -> sections.add(new TraceSection(folder, trace, results, series)));
        if (folder.contains(ThreadsSection.FILE_NAME)) {
            sections.add(new ThreadsSection(folder));
        }
        for (final FiguresSection.Kind kind : FiguresSection.KINDS) {
            if (folder.contains(kind.fileName())) {
                sections.add(new FiguresSection(folder, kind));
            }
        }
        if (folder.contains(KernelsSection.FILE_NAME)) {
            sections.add(new KernelsSection(folder));
        }
        if (folder.contains(ProgramsSection.FILE_NAME)) {
            sections.add(new ProgramsSection(folder));
        }
        return sections;
    }

    private static String environment(final JsonObject environment) {
        final Set<String> keys = new LinkedHashSet<>(ENVIRONMENT.keySet());
        keys.addAll(environment.keys());
        final String rows = keys.stream()
                .filter(key -> !environment.text(key).isEmpty())
                .map(key -> "<div><dt>" + Html.escape(ENVIRONMENT.getOrDefault(key, key)) + "</dt><dd>"
                        + value(key, environment.text(key)) + "</dd></div>")
                .collect(Collectors.joining("\n"));
        return rows.isEmpty()
                ? "<p class=\"note\">The folder does not say which machine and command made these results.</p>"
                : "<dl class=\"environment\">\n" + rows + "\n</dl>";
    }

    private static String value(final String key, final String text) {
        final boolean code = key.equals("command") || key.equals("flags") || key.equals("commit");
        if (!code) {
            return Html.escape(text);
        }
        // Browsers break lines behind a hyphen, which tears options from their dashes: words are kept whole.
        return Pattern.compile(" ")
                .splitAsStream(text)
                .map(word -> "<span>" + Html.escape(word) + "</span>")
                .collect(Collectors.joining(" ", "<code>", "</code>"));
    }

    private static Map<String, String> environmentLabels() {
        final Map<String, String> labels = new LinkedHashMap<>();
        labels.put("command", "Command");
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
