package io.outboard.bench.cli.report.strategies;

import io.outboard.bench.cli.common.Fastest;
import io.outboard.bench.cli.report.ChartGroup;
import io.outboard.bench.cli.report.Headline;
import io.outboard.bench.cli.report.Html;
import io.outboard.bench.cli.report.HtmlTable;
import io.outboard.bench.cli.report.Percentile;
import io.outboard.bench.cli.report.Result;
import io.outboard.bench.cli.report.ResultFolder;
import io.outboard.bench.cli.report.Section;
import io.outboard.bench.cli.report.Series;
import io.outboard.bench.cli.report.Template;
import io.outboard.bench.cli.report.Units;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * This class shows one trace: a summary of all strategies and baselines, latency by percentile as figure 3 of Bell,
 * Kumar and Gill (2024), and memory over time as figure 4 of the same paper.
 */
final class TraceSection implements Section {

    private static final int LONGEST_OPEN_TABLE = 12;
    private static final String CURVES = "The share of operations that took no longer than the height of the line."
            + " To the right, every step leaves a tenth of the operations; the right end is the slowest of all. Both scales are"
            + " logarithmic. ";

    private final ResultFolder folder;
    private final String trace;
    private final List<Result> results;
    private final Map<String, Series> series;
    private final boolean isOnly;

    /**
     * Makes the section of one trace.
     *
     * @param folder the folder that has the trace's files
     * @param trace name of the trace
     * @param results results of the trace
     * @param series the looks of strategies, by name
     * @param isOnly whether the page has no other trace
     */
    TraceSection(
            final ResultFolder folder,
            final String trace,
            final List<Result> results,
            final Map<String, Series> series,
            final boolean isOnly) {
        this.folder = folder;
        this.trace = trace;
        this.results = results;
        this.series = series;
        this.isOnly = isOnly;
    }

    @Override
    public String title() {
        return trace;
    }

    /** Returns the headline of all traces together. */
    @Override
    public Optional<Headline> headline() throws IOException {
        return Optional.of(new ResultHeadline(folder.headlineResults()).headline());
    }

    @Override
    public String html() throws IOException {
        return Template.fill(
                "trace.html",
                Map.of(
                        "lead", lead(),
                        "facts", facts(),
                        "summary", SummaryTable.html(trace, results, series),
                        "latency", latency(),
                        "operations", operations(),
                        "memory", new MemoryCharts(folder, trace, results, this::look).html()));
    }

    private String lead() {
        final StringBuilder lead = new StringBuilder();
        final List<Result> fastest = Fastest.of(served().toList(), result -> result.number("nsPerOp"), Result::turnsNs);
        if (!fastest.isEmpty()) {
            final double speedUp = SummaryTable.speedUp(fastest.get(0), results);
            lead.append(fastest.size() > 1 ? "Equally fast: <b>" : "Fastest: <b>")
                    .append(Html.escape(
                            Fastest.join(fastest.stream().map(Result::name).toList())))
                    .append("</b>, ")
                    .append(Units.time(fastest.get(0).number("nsPerOp")))
                    .append(" per operation")
                    .append(Double.isNaN(speedUp) ? "" : ", " + Units.factor(speedUp) + " the speed of cudaMalloc")
                    .append(". ");
        }
        served().filter(result -> !Double.isNaN(result.regionOverLive()))
                .min(Comparator.comparingDouble(Result::regionOverLive))
                .ifPresent(result -> lead.append("Tightest: <b>")
                        .append(Html.escape(result.name()))
                        .append("</b>, a region ")
                        .append(Units.ratio(result.regionOverLive()))
                        .append(" times the peak of live bytes. "));
        return lead.append(Html.escape(Units.busy(results.stream().mapToDouble(result -> result.number("busy")))))
                .toString();
    }

    private Stream<Result> served() {
        return results.stream().filter(result -> !result.isBaseline() && !result.hasFailures());
    }

    private String facts() {
        final Map<String, String> facts = new LinkedHashMap<>();
        facts.put("Operations", Units.count(firstNumber("ops")));
        facts.put("Peak live memory", Units.bytes(firstNumber("peakLiveBytes")));
        facts.put("Peak live blocks", Units.count(firstNumber("peakLiveBlocks")));
        facts.put("Reuse policy", texts("reusePolicy"));
        facts.put("Device", texts("device"));
        return facts.entrySet().stream()
                .filter(fact -> !fact.getValue().equals(Html.NONE))
                .map(fact -> "<div><dt>" + fact.getKey() + "</dt><dd>" + Html.escape(fact.getValue()) + "</dd></div>")
                .collect(Collectors.joining("\n"));
    }

    private double firstNumber(final String key) {
        return results.stream()
                .mapToDouble(result -> result.number(key))
                .filter(number -> !Double.isNaN(number))
                .findFirst()
                .orElse(Double.NaN);
    }

    private String texts(final String key) {
        final String texts = results.stream()
                .map(result -> result.values().text(key))
                .filter(text -> !text.isEmpty())
                .distinct()
                .collect(Collectors.joining(", "));
        return texts.isEmpty() ? Html.NONE : texts;
    }

    private String latency() throws IOException {
        final ChartGroup group =
                new ChartGroup("latency", "share of operations that took no longer", "time, logarithmic");
        final StringBuilder tables = new StringBuilder();
        for (final String operation : List.of("allocate", "free")) {
            final Map<Series, PercentileCurve> curves = new LinkedHashMap<>();
            for (final Result result : results) {
                final String name = result.files() + "-" + operation + ".hgrm";
                if (folder.contains(name)) {
                    final PercentileCurve curve = PercentileCurve.read(folder, name);
                    if (!curve.isEmpty()) {
                        curves.put(look(result), curve);
                    }
                }
            }
            final Optional<HtmlTable> table = latencyTable(operation);
            if (curves.isEmpty()) {
                table.ifPresent(numbers -> tables.append("<details")
                        .append(isOnly ? " open" : "")
                        .append("><summary>Latency of ")
                        .append(operation)
                        .append(" in numbers</summary>\n")
                        .append(numbers.html())
                        .append("</details>\n"));
                continue;
            }
            curves.forEach((look, curve) -> group.line(look, curve.axis(), curve.drawnValuesNs()));
            group.figure(
                    "Latency of " + operation,
                    "Line chart of the latency of " + operation + " by percentile on " + trace + " for "
                            + names(curves.keySet()) + ". The table below it holds the numbers.",
                    "Latency of " + operation + " in numbers",
                    table.orElseGet(() -> new HtmlTable("Latency of " + operation, "Strategy")),
                    curves.size() <= LONGEST_OPEN_TABLE);
        }
        if (group.isEmpty() && tables.isEmpty()) {
            return "";
        }
        return "<h3>Latency by percentile</h3>\n<p class=\"note\">"
                + (group.isEmpty() ? "" : CURVES)
                + "p99.9 is the time that 99.9\u00A0% of all operations did not exceed.</p>\n"
                + (group.isEmpty() ? "" : group.html())
                + tables;
    }

    /** Returns percentiles as they were written with the results, see {@link Percentile}. */
    private Optional<HtmlTable> latencyTable(final String operation) {
        final HtmlTable table = new HtmlTable("Latency of " + operation + " on " + trace, "Strategy");
        Percentile.OF_RESULTS.forEach(percentile -> table.column("", percentile.title()));
        boolean empty = true;
        for (final Result result : results) {
            final List<HtmlTable.Cell> cells = Percentile.OF_RESULTS.stream()
                    .map(percentile -> result.latencyNs(operation, percentile))
                    .map(ns -> new HtmlTable.Cell(ns, Units.time(ns)))
                    .toList();
            if (cells.stream().anyMatch(cell -> !Double.isNaN(cell.exact()))) {
                table.row(look(result).html(), cells);
                empty = false;
            }
        }
        return empty ? Optional.empty() : Optional.of(table);
    }

    /**
     * Returns the charts of times from the first call of a fresh process on; nothing if the folder has no such file.
     */
    private String operations() throws IOException {
        final ChartGroup group =
                new ChartGroup("operations", "operations done, logarithmic", "time of an operation, logarithmic");
        final Map<Series, OperationCurve> curves = new LinkedHashMap<>();
        for (final Result result : results) {
            final String name = result.files() + OperationCurve.SUFFIX;
            if (folder.contains(name)) {
                curves.put(look(result), OperationCurve.read(folder, name));
            }
        }
        for (final boolean slowest : new boolean[] {true, false}) {
            curves.forEach((look, curve) ->
                    group.line(look, curve.operations(), slowest ? curve.slowestNs() : curve.mediansNs()));
            if (!curves.isEmpty()) {
                final String title = slowest ? "Slowest operation so far apart" : "Median operation";
                group.figure(
                        slowest ? "The slowest of each stretch" : "The median of each stretch",
                        "Line chart of the " + title + " by operation number on " + trace + " for "
                                + names(curves.keySet()) + ". The table below it holds the numbers.",
                        "In numbers",
                        operationsTable(curves, slowest),
                        false);
            }
        }
        return group.isEmpty()
                ? ""
                : "<h3>Latency by operation number</h3>\n<p class=\"note\">From the first call of a fresh process on,"
                        + " before anything is warm; stretches of operations grow with their number. Bell, Kumar and Gill"
                        + " (2024), figure 3: during initialization an allocation can take upwards of 2 ms, outliers that"
                        + " disappear as the program settles.</p>\n"
                        + group.html();
    }

    private HtmlTable operationsTable(final Map<Series, OperationCurve> curves, final boolean slowest) {
        final HtmlTable table = new HtmlTable("Time by operation number on " + trace, "Strategy");
        OperationCurve.DECADES.forEach(to -> table.column("operations up to", Units.count(to)));
        curves.forEach((look, curve) -> table.row(
                look.html(),
                OperationCurve.DECADES.stream()
                        .map(to -> slowest ? curve.slowestNs(to) : curve.medianNs(to))
                        .map(ns -> new HtmlTable.Cell(ns, Units.time(ns)))
                        .toList()));
        return table;
    }

    private Series look(final Result result) {
        return series.getOrDefault(result.name(), new Series(result.name(), "--baseline-0", "--dash-0"));
    }

    private static String names(final Iterable<Series> looks) {
        final List<String> names = new ArrayList<>();
        looks.forEach(look -> names.add(look.name()));
        return String.join(", ", names);
    }
}
