package io.outboard.bench.threads;

import io.outboard.bench.common.FigureOutput;
import io.outboard.bench.common.Latencies;
import io.outboard.bench.common.Progress;
import io.outboard.bench.common.TextTable;
import io.outboard.bench.report.Percentile;
import io.outboard.bench.report.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** One thread profile on every pool that is asked for, by each number of threads. Confined to one thread. */
public final class ThreadProfileRun {

    /** Name of the file in the folder of results. */
    public static final String FILE_NAME = "thread-profiles.json";

    private final ThreadProfile profile;
    private final ThreadRequest request;

    /**
     * Nothing measured yet.
     *
     * @param profile what threads do
     * @param request on what
     */
    public ThreadProfileRun(final ThreadProfile profile, final ThreadRequest request) {
        this.profile = profile;
        this.request = request;
    }

    /**
     * Measures, then prints.
     *
     * @throws IOException if results can't be written
     * @throws InterruptedException if the thread is interrupted
     * @throws IllegalStateException if a pool hands out what is in use, or loses a block
     */
    public void run() throws IOException, InterruptedException {
        final List<ThreadFigures> figures = new ArrayList<>();
        final List<List<ThreadSettings>> plan = new ArrayList<>();
        for (final int count : request.threads()) {
            plan.add(request.settings(
                    profile,
                    count,
                    request.options().smallestBytes(),
                    request.options().largestBytes(),
                    request.options().liveBlocks()));
        }
        final long passes = plan.stream().mapToLong(List::size).sum() * 3 + plan.size();
        final FigureOutput output = request.figures();
        try (Progress progress = new Progress(passes)) {
            final Map<String, Double> rates = new HashMap<>();
            for (final List<ThreadSettings> sameThreads : plan) {
                progress.stage("harness");
                final double bare = ThreadBench.open(sameThreads.get(0).of(ThreadSettings.Kind.BARE))
                        .speed()
                        .opsPerSecond();
                progress.step(1);
                for (final ThreadSettings settings : sameThreads) {
                    figures.add(measure(settings, bare, rates, progress));
                    output.keep(
                            FILE_NAME, figures.stream().map(ThreadFigures::json).toList());
                }
            }
        }
        output.print(FILE_NAME, figures.stream().map(ThreadFigures::json).toList(), out -> print(figures, out));
    }

    private static ThreadFigures measure(
            final ThreadSettings settings, final double bare, final Map<String, Double> rates, final Progress progress)
            throws InterruptedException {
        progress.stage(settings.label() + ", " + settings.threads() + " threads");
        // Wrong figures of a wrong pool aren't worth the wait.
        final ThreadBench.Checked checked = ThreadBench.open(settings).checked();
        progress.step(1);
        final ThreadBench.Speed speed = ThreadBench.open(settings).speed();
        progress.step(1);
        final ThreadBench.Clocked clocked = ThreadBench.open(settings).clocked();
        progress.step(1);
        // The first number of threads is what others are compared with.
        final double first = rates.computeIfAbsent(settings.label(), label -> speed.opsPerSecond());
        return new ThreadFigures(settings, speed, clocked, checked, speed.opsPerSecond() / first, bare);
    }

    private void print(final List<ThreadFigures> figures, final PrintWriter out) {
        final ThreadOptions options = request.options();
        out.printf(
                Locale.ROOT,
                "%s: blocks of %s to %s, %d live a thread, %d other threads; %s%n%n",
                profile.label(),
                TextTable.plain(Units.bytes((double) options.smallestBytes())),
                TextTable.plain(Units.bytes((double) options.largestBytes())),
                options.liveBlocks(),
                options.others(),
                request.gpu() == null ? "no GPU, so addresses only and a device that is always idle" : request.gpu());
        new TextTable<ThreadFigures>()
                .column("allocator", row -> row.settings().label())
                .column(
                        profile.unit() + "s",
                        row -> String.valueOf(row.settings().threads()))
                .column("operations/s", row -> Units.count(row.speed().opsPerSecond()))
                .column("over first", row -> Units.ratio(row.ratio()))
                .column("CPU/op", row -> Units.time(row.speed().cpuNsPerOp()))
                .column("no allocator", row -> Units.count(row.bareOpsPerSecond()))
                .column("garbage/op", row -> Units.bytes(row.speed().gcBytesPerOp()))
                .column("held", row -> held(row, row.speed().heldBytes()))
                .column("peak held", row -> held(row, row.speed().peakHeldBytes()))
                .column("peak live", row -> Units.bytes((double) row.checked().peakLiveBytes()))
                .column("checked", row -> Units.count((double) row.checked().blocks()))
                .print(figures, out);
        out.println();
        final TextTable<ThreadFigures> latencies = new TextTable<ThreadFigures>()
                .column("allocator", row -> row.settings().label())
                .column(
                        profile.unit() + "s",
                        row -> String.valueOf(row.settings().threads()));
        addPercentiles(latencies, "allocate ", false);
        addPercentiles(latencies, "free ", true);
        latencies.print(figures, out);
    }

    private static void addPercentiles(final TextTable<ThreadFigures> table, final String kind, final boolean ofFrees) {
        for (final Percentile percentile : Percentile.OF_RESULTS) {
            table.column((percentile == Percentile.P50 ? kind : "") + percentile.title(), row -> {
                final Latencies latencies =
                        ofFrees ? row.clocked().free() : row.clocked().allocate();
                return Units.time(latencies.percentile(percentile));
            });
        }
    }

    private static String held(final ThreadFigures row, final long bytes) {
        return Units.bytes(row.settings().kind().isOurs() ? bytes : Double.NaN);
    }
}
