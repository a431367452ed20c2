package io.outboard.bench.measure.threads;

import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.common.ResultOutput;
import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.measurement.ThreadProfile;
import io.outboard.bench.cli.report.Percentile;
import io.outboard.bench.cli.report.ResultsSection;
import io.outboard.bench.cli.report.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The run runs one thread profile on every pool that is asked for, with each number of threads. Confined to one thread.
 */
public final class ThreadProfileRun {

    /** The part of result pages that shows the results. */
    public static final ResultsSection.Kind RESULTS = new ResultsSection.Kind(
            "thread-profiles.jsonl",
            "Thread profiles",
            List.of("profile", "strategy", "allocator", "reusePolicy", "threads", "others", "launchers"),
            List.of(
                    "opsPerSecond",
                    "ratio",
                    "cpuNsPerOp",
                    "bareOpsPerSecond",
                    "gcBytesPerOp",
                    "heldBytes",
                    "peakHeldBytes",
                    "peakLiveBytes"),
            List.of("allocate", "free"));

    /** The rounds of a pass: five that warm up, and three that are measured. */
    private static final long ROUNDS_OF_A_PASS = 5 + 3;

    /** The rounds of all passes: one is nearly always enough to check blocks; then come speed and latencies. */
    private static final long ROUNDS_OF_ALL_PASSES = 1 + 2 * ROUNDS_OF_A_PASS;

    private final ThreadProfile profile;
    private final ThreadRequest request;

    /**
     * Makes a run that has measured nothing yet.
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
        final ResultOutput output = request.results(RESULTS);
        final List<ThreadResult> results = new ArrayList<>();
        final List<List<ThreadSettings>> plan = new ArrayList<>();
        for (final int count : request.threads()) {
            plan.add(request.settings(
                    profile,
                    count,
                    request.options().smallestBytes(),
                    request.options().largestBytes(),
                    request.options().liveBlocks()));
        }
        final long rounds = plan.stream().mapToLong(List::size).sum() * ROUNDS_OF_ALL_PASSES
                + (long) plan.size() * ROUNDS_OF_A_PASS;
        try (Progress progress = new Progress(rounds)) {
            final Map<String, Double> rates = new HashMap<>();
            for (final List<ThreadSettings> sameThreads : plan) {
                progress.stage("no allocator, " + sameThreads.get(0).threads() + " threads");
                final double bare = ThreadBench.open(sameThreads.get(0).of(ThreadSettings.Kind.BARE))
                        .speed()
                        .opsPerSecond();
                progress.step(ROUNDS_OF_A_PASS);
                for (final ThreadSettings settings : sameThreads) {
                    final ThreadResult row = measure(settings, bare, rates, progress);
                    results.add(row);
                    output.add(row.json());
                }
            }
        }
        output.print(out -> print(results, out));
    }

    private static ThreadResult measure(
            final ThreadSettings settings, final double bare, final Map<String, Double> rates, final Progress progress)
            throws InterruptedException {
        progress.stage(settings.label() + ", " + settings.threads() + " threads");
        // This pass is first, since a wrong pool's figures aren't worth the wait.
        progress.pass("pass 1 of 3: every block looked at");
        final ThreadBench.Checked checked = ThreadBench.open(settings).checked();
        progress.step(1);
        progress.pass("pass 2 of 3: speed");
        final ThreadBench.Speed speed = ThreadBench.open(settings).speed();
        progress.step(ROUNDS_OF_A_PASS);
        progress.pass("pass 3 of 3: latencies");
        final ThreadBench.Clocked clocked = ThreadBench.open(settings).clocked();
        progress.step(ROUNDS_OF_A_PASS);
        // Other results are compared with the first number of threads.
        final double first = rates.computeIfAbsent(settings.label(), label -> speed.opsPerSecond());
        return new ThreadResult(settings, speed, clocked, checked, speed.opsPerSecond() / first, bare);
    }

    private void print(final List<ThreadResult> results, final PrintWriter out) {
        final ThreadOptions options = request.options();
        out.printf(
                Locale.ROOT,
                "%s: blocks of %s to %s, %d live a thread, %d others, %d launchers%n%s%n%n",
                profile.label(),
                TextTable.plain(Units.bytes((double) options.smallestBytes())),
                TextTable.plain(Units.bytes((double) options.largestBytes())),
                options.liveBlocks(),
                options.others(),
                options.launchers(),
                request.gpu() == null ? "no GPU, so addresses only and a device that is always idle" : request.gpu());
        new TextTable<ThreadResult>()
                .column("allocator", row -> row.settings().label())
                .column(
                        profile.unit() + "s",
                        row -> String.valueOf(row.settings().threads()))
                .names()
                .column("operations/s", row -> Units.count(row.speed().opsPerSecond()))
                .column("over first", row -> Units.ratio(row.ratio()))
                .column("CPU/op", row -> Units.time(row.speed().cpuNsPerOp()))
                .column("no allocator", row -> Units.count(row.bareOpsPerSecond()))
                .column("garbage/op", row -> Units.bytes(row.speed().gcBytesPerOp()))
                .column("held", row -> held(row, row.speed().heldBytes()))
                .column("peak held", row -> held(row, row.speed().peakHeldBytes()))
                .column("ops/mark", row -> {
                    final double marks = row.speed().marksPerOp();
                    return Units.count(marks > 0 ? 1 / marks : Double.NaN);
                })
                .column("peak live", row -> Units.bytes((double) row.checked().peakLiveBytes()))
                .column("checked", row -> Units.count((double) row.checked().blocks()))
                .print(results, out);
        out.println();
        final TextTable<ThreadResult> latencies = new TextTable<ThreadResult>()
                .column("allocator", row -> row.settings().label())
                .column(
                        profile.unit() + "s",
                        row -> String.valueOf(row.settings().threads()))
                .names()
                .group("allocate");
        addPercentiles(latencies, false);
        latencies.group("free");
        addPercentiles(latencies, true);
        latencies.print(results, out);
    }

    private static void addPercentiles(final TextTable<ThreadResult> table, final boolean ofFrees) {
        for (final Percentile percentile : Percentile.OF_RESULTS) {
            table.column(percentile.title(), row -> {
                final Latencies latencies =
                        ofFrees ? row.clocked().free() : row.clocked().allocate();
                return Units.time(latencies.percentile(percentile));
            });
        }
    }

    private static String held(final ThreadResult row, final long bytes) {
        return Units.bytes(row.settings().kind().isOurs() ? bytes : Double.NaN);
    }
}
