package io.outboard.bench.measure.threads;

import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.common.ResultOutput;
import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.measurement.ThreadProfile;
import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.report.Percentile;
import io.outboard.bench.cli.report.ResultsSection;
import io.outboard.bench.cli.report.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * The sweep measures latencies by size: each thread replaces blocks of one size, from a granule to a quarter of a
 * gigabyte. Drivers serve small blocks in another way than large ones, so a speedup without its size says little.
 * Confined to one thread.
 */
public final class SizeSweep {

    /** The part of result pages that shows the results. */
    public static final ResultsSection.Kind RESULTS = new ResultsSection.Kind(
            "sweep.jsonl",
            "Latency by size",
            List.of("sizeBytes", "strategy", "allocator", "reusePolicy", "threads"),
            List.of(),
            List.of("allocate", "free"));

    private static final long SMALLEST_BYTES = 256;
    private static final long LARGEST_BYTES = 256L << 20;
    private static final int STEP_LOG2 = 2;
    private static final List<Percentile> PERCENTILES =
            List.of(Percentile.P50, Percentile.P999, Percentile.P9999, Percentile.MAX);

    /**
     * The most blocks that a thread has at a time, and the most bytes of all threads: 16 threads with 2 blocks of the
     * largest size.
     */
    private static final int MOST_LIVE = 8;

    private static final long MOST_LIVE_BYTES = 8L << 30;

    private final ThreadRequest request;

    /**
     * Makes a measurement that has measured nothing yet.
     *
     * @param request on what
     */
    public SizeSweep(final ThreadRequest request) {
        this.request = request;
    }

    private record Row(ThreadSettings settings, ThreadBench.Clocked clocked) {

        JsonLine json() {
            final boolean ours = settings.kind().isOurs();
            return new JsonLine()
                    .put("sizeBytes", settings.largestBytes())
                    .put("allocator", settings.kind().label())
                    .put("strategy", ours ? settings.strategy() : null)
                    .put("reusePolicy", ours ? settings.reusePolicy() : null)
                    .put("device", settings.deviceText())
                    .put("threads", (long) settings.threads())
                    .put("others", (long) settings.others())
                    .put("liveBlocks", (long) settings.liveBlocks())
                    .put("allocate", clocked.allocate().json())
                    .put("free", clocked.free().json());
        }
    }

    /**
     * Measures, then prints.
     *
     * @throws IOException if results can't be written
     * @throws InterruptedException if the thread is interrupted
     */
    public void run() throws IOException, InterruptedException {
        final List<ThreadSettings> plan = plan();
        final List<Row> rows = new ArrayList<>();
        final ResultOutput output = request.results(RESULTS);
        try (Progress progress = new Progress(plan.size())) {
            for (final ThreadSettings settings : plan) {
                progress.stage(settings.label() + ", " + settings.threads() + " threads");
                progress.pass("blocks of " + TextTable.plain(Units.bytes((double) settings.largestBytes())));
                final Row row = new Row(settings, ThreadBench.open(settings).clocked());
                rows.add(row);
                output.add(row.json());
                progress.step(1);
            }
        }
        output.print(out -> print(rows, out));
    }

    private List<ThreadSettings> plan() {
        final List<ThreadSettings> plan = new ArrayList<>();
        for (long bytes = SMALLEST_BYTES; bytes <= LARGEST_BYTES; bytes <<= STEP_LOG2) {
            for (final int count : request.threads()) {
                final int live = (int) Math.max(1, Math.min(MOST_LIVE, MOST_LIVE_BYTES / count / bytes));
                request.settings(ThreadProfile.OWN, count, bytes, bytes, live).stream()
                        // On a GPU, the facade that programs call is measured in place of the pool.
                        .filter(settings -> request.gpu() == null || settings.kind() != ThreadSettings.Kind.POOL)
                        .forEach(plan::add);
            }
        }
        return plan;
    }

    private void print(final List<Row> rows, final PrintWriter out) {
        out.println("Blocks of one size, at most " + MOST_LIVE + " live a thread; "
                + (request.gpu() == null ? "no GPU, so addresses only" : request.gpu()) + "\n");
        final TextTable<Row> table = new TextTable<Row>()
                .column("size", row -> Units.bytes((double) row.settings().largestBytes()))
                .column("threads", row -> String.valueOf(row.settings().threads()))
                .column("allocator", row -> row.settings().label())
                .names()
                .group("allocate");
        addPercentiles(table, false);
        table.group("free");
        addPercentiles(table, true);
        table.print(rows, out);
    }

    private static void addPercentiles(final TextTable<Row> table, final boolean ofFrees) {
        for (final Percentile percentile : PERCENTILES) {
            table.column(percentile.title(), row -> {
                final Latencies latencies =
                        ofFrees ? row.clocked().free() : row.clocked().allocate();
                return Units.time(latencies.percentile(percentile));
            });
        }
    }
}
