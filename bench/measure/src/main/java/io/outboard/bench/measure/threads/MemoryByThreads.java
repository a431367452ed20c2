package io.outboard.bench.measure.threads;

import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.common.ResultOutput;
import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.report.ResultsSection;
import io.outboard.bench.cli.report.Units;
import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.bench.cli.trace.TraceReader;
import io.outboard.core.StrategyOptions;
import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.DeviceWork;
import io.outboard.pool.Pool;
import io.outboard.pool.PoolBuilder;
import io.outboard.pool.ReusePolicy;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The class measures what a pool holds when several threads use it, and when one thread does the same: what arenas,
 * caches and queues of remote frees cost in memory. No device is used, so all work counts as finished. Confined to one
 * thread.
 */
public final class MemoryByThreads {

    /** The part of result pages that shows the results. */
    public static final ResultsSection.Kind RESULTS = new ResultsSection.Kind(
            "thread-memory.jsonl",
            "Memory by threads",
            List.of("trace", "mode", "strategy", "reusePolicy", "slackBytes", "threads"),
            List.of("heldBytes", "peakLiveBytes", "heldBytesOfOne", "ratio"),
            List.of());

    private static final int ROUNDS = 3;

    /**
     * The entries of the strategy's tables for each live block: the block, the free one behind it, and as many in
     * limbo.
     */
    private static final int RECORDS_A_BLOCK = 4;

    private static final int MOST_RECORDS = 1 << 26;

    private final ThreadRequest request;
    private final String profile;
    private final int operations;
    private final int scale;

    /**
     * Makes a measurement that has measured nothing yet.
     *
     * @param request on what
     * @param profile name of the profile, unless the request names a recorded trace
     * @param operations how many of the profile's
     * @param scale how many times as many blocks as it has
     */
    public MemoryByThreads(final ThreadRequest request, final String profile, final int operations, final int scale) {
        this.request = request;
        this.profile = profile;
        this.operations = operations;
        this.scale = scale;
    }

    /**
     * A row has the results of one number of threads. {@code mode} is "shared" for the operations of one trace, "own"
     * for a trace for each thread. Held bytes are medians of rounds, mappings those of the last round; late mappings
     * come after the first tenth of the operations.
     */
    private record Row(
            String trace,
            String mode,
            String strategy,
            String policy,
            int threads,
            long heldBytes,
            long mostHeldBytes,
            long peakLiveBytes,
            long heldBytesOfOne,
            long mappings,
            long lateMappings) {

        double heldOverLive() {
            return (double) heldBytes / peakLiveBytes;
        }

        double ratio() {
            return (double) heldBytes / heldBytesOfOne;
        }

        JsonLine json() {
            return new JsonLine()
                    .put("trace", trace)
                    .put("mode", mode)
                    .put("strategy", strategy)
                    .put("reusePolicy", policy)
                    .put("threads", (long) threads)
                    .put("heldBytes", heldBytes)
                    .put("mostHeldBytes", mostHeldBytes)
                    .put("peakLiveBytes", peakLiveBytes)
                    .put("heldBytesOfOne", heldBytesOfOne)
                    .put("ratio", ratio(), 3)
                    .put("heldOverLive", heldOverLive(), 4)
                    .put("mappings", mappings)
                    .put("lateMappings", lateMappings);
        }
    }

    /** Several rounds give medians of held bytes and of live bytes. */
    private record Rounds(long heldBytes, long mostHeldBytes, long peakLiveBytes, MemoryReplay.Held last) {}

    /**
     * Measures, then prints.
     *
     * @throws IOException if the trace can't be read, or results can't be written
     * @throws InterruptedException if the thread is interrupted
     */
    public void run() throws IOException, InterruptedException {
        final Path file = request.options().trace();
        final Trace trace = file == null ? variants(1).get(0) : TraceReader.read(file, "--trace");
        final List<Row> rows = new ArrayList<>();
        final int runs = request.strategies().size()
                * request.policies().size()
                * request.threads().size();
        final ResultOutput output = request.results(RESULTS);
        try (Progress progress = new Progress(runs)) {
            for (final String strategy : request.strategies()) {
                for (final String policy : request.policies()) {
                    final Rounds one = rounds(strategy, policy, trace.peakLiveBlocks(), MemoryReplay.deal(trace, 1));
                    for (final int threads : request.threads()) {
                        progress.stage(strategy + ", " + policy + ", " + threads + " threads");
                        final Row shared = row(
                                trace.name(),
                                "shared",
                                strategy,
                                policy,
                                threads,
                                rounds(
                                        strategy,
                                        policy,
                                        2L * trace.peakLiveBlocks(),
                                        MemoryReplay.deal(trace, threads)),
                                one);
                        rows.add(shared);
                        output.add(json(shared));
                        if (file == null) {
                            final Row own = ownRow(strategy, policy, threads);
                            rows.add(own);
                            output.add(json(own));
                        }
                        progress.step(1);
                    }
                }
            }
        }
        output.print(out -> print(rows, out));
    }

    private JsonLine json(final Row row) {
        return row.json().put("slackBytes", request.options().slackBytes());
    }

    private Row ownRow(final String strategy, final String policy, final int threads) throws InterruptedException {
        final List<Trace> traces = variants(threads);
        final long liveBlocks = traces.stream().mapToLong(Trace::peakLiveBlocks).sum();
        return row(
                profile + " by " + threads,
                "own",
                strategy,
                policy,
                threads,
                rounds(strategy, policy, liveBlocks, MemoryReplay.each(traces)),
                rounds(strategy, policy, liveBlocks, MemoryReplay.interleaved(traces)));
    }

    private static Row row(
            final String trace,
            final String mode,
            final String strategy,
            final String policy,
            final int threads,
            final Rounds several,
            final Rounds one) {
        return new Row(
                trace,
                mode,
                strategy,
                policy,
                threads,
                several.heldBytes,
                several.mostHeldBytes,
                several.peakLiveBytes,
                one.heldBytes,
                several.last.mappings(),
                several.last.lateMappings());
    }

    private List<Trace> variants(final int count) {
        try {
            return IntStream.range(0, count)
                    .mapToObj(variant -> Profiles.variant(profile, operations, variant, scale))
                    .toList();
        } catch (final IllegalArgumentException e) {
            throw new WrongUseException(("--" + e.getMessage()).replace("--operations=", "--ops="));
        }
    }

    private Rounds rounds(
            final String strategy, final String policy, final long liveBlocks, final List<MemoryReplay.Part> parts)
            throws InterruptedException {
        final long[] held = new long[ROUNDS];
        final long[] live = new long[ROUNDS];
        MemoryReplay.Held last = new MemoryReplay.Held(0, 0, 0, 0);
        for (int i = 0; i < ROUNDS; i++) {
            try (VirtualMemorySource source = new VirtualMemorySource();
                    Pool pool = pool(source, strategy, policy, liveBlocks)) {
                final MemoryReplay.Held result = new MemoryReplay(pool, parts).run();
                held[i] = result.heldBytes();
                live[i] = result.peakLiveBytes();
                last = result;
            }
        }
        Arrays.sort(held);
        Arrays.sort(live);
        return new Rounds(held[ROUNDS / 2], held[ROUNDS - 1], live[ROUNDS / 2], last);
    }

    private Pool pool(
            final VirtualMemorySource source, final String strategy, final String policy, final long liveBlocks) {
        final long records =
                Math.min(MOST_RECORDS, Math.max(StrategyOptions.DEFAULTS.maxBlocks(), RECORDS_A_BLOCK * liveBlocks));
        final PoolBuilder builder = Pool.over(source)
                .strategy(strategy, StrategyOptions.DEFAULTS.withMaxBlocks((int) records))
                .reuse(ReusePolicy.valueOf(policy), DeviceWork.NONE);
        final Long slackBytes = request.options().slackBytes();
        if (slackBytes != null) {
            builder.slackBytes(slackBytes);
        }
        if (request.regionBytes() > 0) {
            builder.firstRegionBytes(request.regionBytes()).limitBytes(request.regionBytes());
        }
        return builder.build();
    }

    private static void print(final List<Row> rows, final PrintWriter out) {
        out.println("What a pool holds when several threads do the operations of one trace (shared),\n"
                + "or each a trace of its own, beside one thread that does them all; medians of\n" + ROUNDS
                + " runs\n");
        new TextTable<Row>()
                .column("trace", Row::trace)
                .column("mode", Row::mode)
                .column("pool", row -> row.strategy() + ", " + row.policy())
                .column("threads", row -> String.valueOf(row.threads()))
                .names()
                .column("held", row -> Units.bytes((double) row.heldBytes()))
                .column("at most", row -> Units.bytes((double) row.mostHeldBytes()))
                .column("peak live", row -> Units.bytes((double) row.peakLiveBytes()))
                .column("held/live", row -> Units.ratio(row.heldOverLive()))
                .column("held by one", row -> Units.bytes((double) row.heldBytesOfOne()))
                .column("ratio", row -> Units.ratio(row.ratio()))
                .column("mappings", row -> String.valueOf(row.mappings()))
                .column("late", row -> String.valueOf(row.lateMappings()))
                .print(rows, out);
    }
}
