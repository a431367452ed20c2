package io.outboard.bench.report.page;

import io.outboard.bench.report.ChartGroup;
import io.outboard.bench.report.Html;
import io.outboard.bench.report.HtmlTable;
import io.outboard.bench.report.Result;
import io.outboard.bench.report.ResultFolder;
import io.outboard.bench.report.Section;
import io.outboard.bench.report.Series;
import io.outboard.bench.report.Template;
import io.outboard.bench.report.Units;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * One trace: a summary of all strategies and baselines, latency by percentile as figure 3 of Bell, Kumar and Gill
 * (2024), and memory over time as their figure 4.
 */
final class TraceSection implements Section {

    private static final double[] PERCENTILES = {0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999, 0.9999999, 1};
    private static final int LONGEST_OPEN_TABLE = 12;
    /** Lines above this multiple of what the trace needs would press all others flat: they wait to be switched on. */
    private static final double OFF_SCALE = 4;

    private final ResultFolder folder;
    private final String trace;
    private final List<Result> results;
    private final Map<String, Series> series;

    /**
     * The section of one trace.
     *
     * @param folder where its files are
     * @param trace its name
     * @param results its lines of results
     * @param series the looks of strategies, by name
     */
    TraceSection(
            final ResultFolder folder,
            final String trace,
            final List<Result> results,
            final Map<String, Series> series) {
        this.folder = folder;
        this.trace = trace;
        this.results = results;
        this.series = series;
    }

    @Override
    public String title() {
        return trace;
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
                        "memory", memory()));
    }

    private String lead() {
        final StringBuilder lead = new StringBuilder();
        best(result -> result.number("nsPerOp")).ifPresent(result -> {
            final double speedUp = SummaryTable.speedUp(result, results);
            lead.append("Fastest: <b>")
                    .append(Html.escape(result.name()))
                    .append("</b>, ")
                    .append(Units.time(result.number("nsPerOp")))
                    .append(" an operation")
                    .append(Double.isNaN(speedUp) ? "" : ", " + Units.factor(speedUp) + " the speed of cudaMalloc")
                    .append(". ");
        });
        best(Result::regionOverLive)
                .ifPresent(result -> lead.append("Tightest: <b>")
                        .append(Html.escape(result.name()))
                        .append("</b>, a region ")
                        .append(Units.ratio(result.regionOverLive()))
                        .append(" times the peak of live bytes."));
        return lead.toString();
    }

    private Optional<Result> best(final ToDoubleFunction<Result> measure) {
        return results.stream()
                .filter(result -> !result.isBaseline() && !Double.isNaN(measure.applyAsDouble(result)))
                .min(Comparator.comparingDouble(measure));
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
        final ChartGroup group = new ChartGroup("latency");
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
            if (curves.isEmpty()) {
                continue;
            }
            curves.forEach((look, curve) -> group.line(look, curve.axis(), curve.drawnValuesNs()));
            group.figure(
                    "Latency of " + operation,
                    "Line chart of the latency of " + operation + " by percentile on " + trace + " for "
                            + names(curves.keySet()) + ". The table below it holds the numbers.",
                    "Latency of " + operation + " in numbers",
                    latencyTable(operation, curves),
                    curves.size() <= LONGEST_OPEN_TABLE);
        }
        return group.isEmpty()
                ? "<p class=\"note\">The folder has no latency histograms of this trace.</p>"
                : group.html();
    }

    private HtmlTable latencyTable(final String operation, final Map<Series, PercentileCurve> curves) {
        final HtmlTable table = new HtmlTable("Latency of " + operation + " on " + trace, "Strategy");
        final double[] percentiles = Arrays.stream(PERCENTILES)
                .filter(percentile ->
                        percentile == 1 || curves.values().stream().anyMatch(curve -> curve.reaches(percentile)))
                .toArray();
        for (final double percentile : percentiles) {
            table.column("", Units.percentile(percentile));
        }
        curves.forEach((look, curve) -> {
            final List<HtmlTable.Cell> cells = new ArrayList<>();
            for (final double percentile : percentiles) {
                cells.add(new HtmlTable.Cell(curve.valueNs(percentile), Units.time(curve.valueNs(percentile))));
            }
            table.row(look.html(), cells);
        });
        return table;
    }

    private String memory() throws IOException {
        final Map<Series, MemoryCurve> curves = new LinkedHashMap<>();
        for (final Result result : results) {
            final String name = result.files() + "-memory.csv";
            if (folder.contains(name)) {
                final MemoryCurve curve = MemoryCurve.read(folder, name);
                if (!curve.isEmpty()) {
                    curves.put(look(result), curve);
                }
            }
        }
        if (curves.isEmpty()) {
            return "<p class=\"note\">The folder has no memory samples of this trace.</p>";
        }
        final double needed = Math.max(peak(curves, MemoryCurve.LIVE), peak(curves, MemoryCurve.EXTENT));
        final Series device =
                new Series("device", "--device", "--dash-2", peak(curves, MemoryCurve.DEVICE) > OFF_SCALE * needed);
        final Series wholeRegion = new Series("region", "--region", "--dash-1", true);
        final Series held = new Series("held", "--region", "--dash-1");
        final Set<Series> hiddenLines = new LinkedHashSet<>();
        final ChartGroup group = new ChartGroup("memory");
        curves.forEach((look, curve) -> {
            final Map<Integer, Series> lines = new LinkedHashMap<>();
            lines.put(MemoryCurve.LIVE, new Series("live bytes", "--live", "--dash-0"));
            lines.put(MemoryCurve.EXTENT, new Series("extent", "--extent", "--dash-0"));
            // A region that dwarfs the trace beside a pool that grows with it: the pool's is to be seen.
            lines.put(MemoryCurve.REGION, curve.peak(MemoryCurve.REGION) > OFF_SCALE * needed ? wholeRegion : held);
            lines.put(MemoryCurve.DEVICE, device);
            lines.forEach((column, line) -> {
                if (curve.peak(column) > 0) {
                    group.line(line, curve.column(0), curve.column(column));
                    if (line.hidden()) {
                        hiddenLines.add(line);
                    }
                }
            });
            group.figure(
                    look.name(),
                    memoryLabel(look, curve),
                    "Memory of " + look.name() + " in numbers",
                    memoryTable(look, curve),
                    false);
        });
        final String hidden = hiddenLines.stream().map(Series::name).collect(Collectors.joining(" and "));
        return (hidden.isEmpty()
                        ? ""
                        : "<p class=\"note needs-script\">Off the scale and therefore switched off in the legend: "
                                + hidden + ".</p>\n")
                + group.html();
    }

    private String memoryLabel(final Series look, final MemoryCurve curve) {
        final double extent = curve.peak(MemoryCurve.EXTENT);
        return "Line chart of memory over the operations of " + trace + " with " + look.name() + ": live bytes up to "
                + Units.bytes(curve.peak(MemoryCurve.LIVE))
                + (extent > 0 ? ", extent up to " + Units.bytes(extent) : "")
                + ". The table below it holds the numbers.";
    }

    private HtmlTable memoryTable(final Series look, final MemoryCurve curve) {
        final HtmlTable table = new HtmlTable("Memory of " + look.name() + " on " + trace, "Operation");
        for (final String heading : List.of("live bytes", "extent", "held", "device")) {
            table.column("", heading);
        }
        for (final double[] row : curve.sampledRows()) {
            final List<HtmlTable.Cell> cells = new ArrayList<>();
            for (int column = MemoryCurve.LIVE; column <= MemoryCurve.DEVICE; column++) {
                // An extent, region or device figure that is 0 throughout is one that nobody measured.
                final double value = curve.peak(column) > 0 ? row[column] : Double.NaN;
                cells.add(new HtmlTable.Cell(value, Units.bytes(value)));
            }
            table.row(Units.count(row[0]), cells);
        }
        return table;
    }

    private static double peak(final Map<Series, MemoryCurve> curves, final int column) {
        return curves.values().stream()
                .mapToDouble(curve -> curve.peak(column))
                .max()
                .orElse(0);
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
