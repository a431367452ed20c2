package io.outboard.bench.cli.report.strategies;

import io.outboard.bench.cli.report.ChartGroup;
import io.outboard.bench.cli.report.HtmlTable;
import io.outboard.bench.cli.report.Result;
import io.outboard.bench.cli.report.ResultFolder;
import io.outboard.bench.cli.report.Series;
import io.outboard.bench.cli.report.Units;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * This class draws memory over the operations of a trace, as figure 4 of Bell, Kumar and Gill (2024), with a chart for
 * each result.
 */
final class MemoryCharts {

    /**
     * The multiple of the trace's need above which a region is hidden until it is switched on, because the region would
     * press all other lines flat.
     */
    private static final double OFF_SCALE = 4;

    private static final double HALF = 2;
    private static final Series LIVE = Series.of(Series.LIVE_BYTES);
    private static final Series EXTENT = new Series("extent", "--extent", "--dash-0");
    private static final Series HELD = new Series("held", "--region", "--dash-1");
    private static final Series REGION = new Series("region", "--region", "--dash-1", true);
    private static final Series DEVICE = new Series("device", "--device", "--dash-2");
    private static final Series TWICE = new Series("50 % in use", "--baseline-1", "--dash-3");

    private final ResultFolder folder;
    private final String trace;
    private final List<Result> results;
    private final Function<Result, Series> looks;

    MemoryCharts(
            final ResultFolder folder,
            final String trace,
            final List<Result> results,
            final Function<Result, Series> looks) {
        this.folder = folder;
        this.trace = trace;
        this.results = results;
        this.looks = looks;
    }

    /** Returns the charts; nothing if the folder has no samples. */
    String html() throws IOException {
        final Map<Series, MemoryCurve> curves = new LinkedHashMap<>();
        for (final Result result : results) {
            final String name = result.files() + "-memory.csv";
            if (folder.contains(name)) {
                final MemoryCurve curve = MemoryCurve.read(folder, name);
                if (!curve.isEmpty()) {
                    curves.put(looks.apply(result), curve);
                }
            }
        }
        if (curves.isEmpty()) {
            return "";
        }
        final double needed = Math.max(peak(curves, MemoryCurve.LIVE), peak(curves, MemoryCurve.EXTENT));
        final ChartGroup group = new ChartGroup("memory", "operations done", "memory");
        boolean hidden = false;
        for (final Map.Entry<Series, MemoryCurve> entry : curves.entrySet()) {
            final MemoryCurve curve = entry.getValue();
            // A region much larger than the trace needs is hidden, so that the line of a pool that grows with the trace
            // stays visible.
            final boolean whole = curve.peak(MemoryCurve.REGION) > OFF_SCALE * needed;
            hidden |= whole;
            line(group, curve, LIVE, curve.column(MemoryCurve.LIVE));
            line(group, curve, EXTENT, curve.column(MemoryCurve.EXTENT));
            line(group, curve, whole ? REGION : HELD, curve.column(MemoryCurve.REGION));
            line(group, curve, DEVICE, curve.deviceSinceStart());
            final double[] half = curve.column(MemoryCurve.LIVE);
            Arrays.fill(half, HALF * curve.peak(MemoryCurve.LIVE));
            line(group, curve, TWICE, half);
            group.figure(
                    entry.getKey().name(),
                    label(entry.getKey(), curve),
                    "Memory of " + entry.getKey().name() + " in numbers",
                    table(entry.getKey(), curve),
                    false);
        }
        return "<h3>Memory over time</h3>\n<p class=\"note\">From the first operation of the trace to the last, all charts"
                + " on one scale. Live bytes are what it asked for; the extent reaches to the end of the last block in use;"
                + " held is what was taken from the device, a region or the memory of a pool. The device\u2019s own figure is"
                + " shown less what was in use at the start; where that wasn\u2019t recorded, less all but the live bytes of"
                + " the first sample. 50\u00A0% in use: twice the most live bytes, by the fragmentation that Bell, Kumar and Gill"
                + " (2024, figure 4) saw.</p>\n"
                + (hidden
                        ? "<p class=\"note needs-script\">Off the scale and therefore switched off in the legend: region.</p>\n"
                        : "")
                + group.html();
    }

    private static void line(
            final ChartGroup group, final MemoryCurve curve, final Series look, final double[] values) {
        if (Arrays.stream(values).anyMatch(value -> value > 0)) {
            group.line(look, curve.column(0), values);
        }
    }

    private String label(final Series look, final MemoryCurve curve) {
        final double extent = curve.peak(MemoryCurve.EXTENT);
        return "Line chart of memory over the operations of " + trace + " with " + look.name() + ": live bytes up to "
                + Units.bytes(curve.peak(MemoryCurve.LIVE))
                + (extent > 0 ? ", extent up to " + Units.bytes(extent) : "")
                + ". The table below it holds the numbers.";
    }

    private HtmlTable table(final Series look, final MemoryCurve curve) {
        final HtmlTable table = new HtmlTable("Memory of " + look.name() + " on " + trace, "Operation");
        for (final String heading : List.of("live bytes", "extent", "held", "device, all of it")) {
            table.column("", heading);
        }
        for (final double[] row : curve.sampledRows()) {
            final List<HtmlTable.Cell> cells = new ArrayList<>();
            for (int column = MemoryCurve.LIVE; column <= MemoryCurve.DEVICE; column++) {
                // A column of extents, regions or device figures that is 0 throughout was not measured.
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
}
