package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.Environment;
import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.trace.Trace;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A measurement says what one allocator did on one trace. NaN and null stand for what doesn't apply or wasn't measured.
 *
 * @param trace the trace that was replayed
 * @param strategy name of the strategy, or the driver's function
 * @param device number of the GPU, or {@code none}
 * @param reusePolicy when freed memory may be handed out again; {@code IMMEDIATE} for a strategy without a pool
 * @param nsPerOp nanoseconds an operation, allocations and frees together, without clocks in between, of the fastest
 *     pass: CPU time for a strategy without a pool, since it waits for nobody
 * @param turnsNs the same of each turn; empty where there was only one pass
 * @param busy the share of the time in which other programs had the processor
 * @param cpuNsPerOp nanoseconds of CPU time an operation, of the fastest pass
 * @param allocate latencies of allocations
 * @param free latencies of frees
 * @param gcBytesPerOp garbage an operation, in bytes
 * @param marksPerOp how many marks were set on the device, an operation
 * @param peakExtentBytes greatest distance from the region's start to the end of a block
 * @param smallestRegionBytes smallest region that serves the trace, if it was looked for
 * @param externalFragmentation equation 3 of Vinkler and Havran (2014) at the peak of live bytes
 * @param internalFragmentation equation 2 of the same paper at the same moment
 * @param hostBytes host memory of the strategy
 * @param hostBytesPerBlock host memory for each live block when the strategy's tables are full
 * @param failures number of allocations that found no memory
 * @param regionBytes size of the region
 * @param memory memory over time
 * @param operations times by operation number, in the first pass
 */
public record Measurement(
        Trace trace,
        String strategy,
        String device,
        @Nullable String reusePolicy,
        double nsPerOp,
        List<Double> turnsNs,
        double busy,
        double cpuNsPerOp,
        Latencies allocate,
        Latencies free,
        double gcBytesPerOp,
        double marksPerOp,
        @Nullable Long peakExtentBytes,
        @Nullable Long smallestRegionBytes,
        double externalFragmentation,
        double internalFragmentation,
        @Nullable Long hostBytes,
        double hostBytesPerBlock,
        long failures,
        @Nullable Long regionBytes,
        List<MemorySample> memory,
        OperationTimes operations) {

    /** Copies this measurement and adds results that other runs found. */
    public Measurement with(final @Nullable Long smallestBytes, final double fullTableBytesPerBlock) {
        return copy(nsPerOp, turnsNs, cpuNsPerOp, smallestBytes, fullTableBytesPerBlock);
    }

    /** Copies this measurement; each turn becomes the faster one of two measurements of as many turns. */
    Measurement fasterTurns(final Measurement other) {
        return withTurns(IntStream.range(0, turnsNs.size())
                .mapToObj(turn -> Math.min(turnsNs.get(turn), other.turnsNs.get(turn)))
                .toList());
    }

    /** Copies this measurement with the times of other turns. */
    Measurement withTurns(final List<Double> turns) {
        final double least = Collections.min(turns);
        return copy(least, List.copyOf(turns), least, smallestRegionBytes, hostBytesPerBlock);
    }

    private Measurement copy(
            final double ns,
            final List<Double> turns,
            final double cpuNs,
            final @Nullable Long smallestBytes,
            final double fullTableBytesPerBlock) {
        return new Measurement(
                trace,
                strategy,
                device,
                reusePolicy,
                ns,
                turns,
                busy,
                cpuNs,
                allocate,
                free,
                gcBytesPerOp,
                marksPerOp,
                peakExtentBytes,
                smallestBytes,
                externalFragmentation,
                internalFragmentation,
                hostBytes,
                fullTableBytesPerBlock,
                failures,
                regionBytes,
                memory,
                operations);
    }

    /** Returns the name of the strategy, with the reuse policy if other measurements differ only by the policy. */
    public String label(final List<Measurement> others) {
        final boolean shared = others.stream()
                .anyMatch(other -> other.strategy.equals(strategy) && !Objects.equals(other.reusePolicy, reusePolicy));
        return shared ? strategy + ", " + reusePolicy : strategy;
    }

    /** Returns the turns, as {@link io.outboard.bench.cli.common.Fastest} compares them. */
    public List<Double> turnsOrMean() {
        return turnsNs.isEmpty() ? List.of(nsPerOp) : turnsNs;
    }

    /** Tells whether operations were timed by themselves, too. */
    public boolean hasLatencies() {
        return allocate.histogram().getTotalCount() > 0;
    }

    /** Returns the number of allocations in the trace, served or not. */
    public long allocations() {
        return Arrays.stream(trace.operations())
                .filter(operation -> !Trace.isFree(operation))
                .count();
    }

    /** Tells whether any allocation found memory; if none did, the measurement has no speed. */
    public boolean servedAny() {
        return failures < allocations();
    }

    /** Tells whether no allocation failed; only then may the measurement be marked as the best at anything. */
    public boolean servedAll() {
        return failures == 0;
    }

    /** Formats one line of {@code results.jsonl}. */
    public JsonLine json(final @Nullable String gpu) {
        final boolean served = servedAny();
        final Latencies none = new Latencies(0);
        final JsonLine turns = new JsonLine();
        for (int turn = 0; served && turn < turnsNs.size(); turn++) {
            turns.put(String.valueOf(turn + 1), turnsNs.get(turn), 2);
        }
        return new JsonLine()
                .put("trace", trace.name())
                .put("strategy", strategy)
                .put("device", device)
                .put("reusePolicy", reusePolicy)
                .put("ops", (long) trace.operationCount())
                .put("nsPerOp", served ? nsPerOp : Double.NaN, 2)
                .put("turnsNs", turns)
                .put("busy", busy, 3)
                .put("allocate", (served ? allocate : none).json())
                .put("free", (served ? free : none).json())
                .put("cpuNsPerOp", served ? cpuNsPerOp : Double.NaN, 2)
                .put("gcBytesPerOp", gcBytesPerOp, 3)
                .put("marksPerOp", marksPerOp, 7)
                .put("peakLiveBytes", trace.peakLiveBytes())
                .put("peakLiveBlocks", (long) trace.peakLiveBlocks())
                .put("peakExtentBytes", peakExtentBytes)
                .put("regionBytes", regionBytes)
                .put("smallestRegionBytes", smallestRegionBytes)
                .put("externalFragmentation", externalFragmentation, 4)
                .put("internalFragmentation", internalFragmentation, 4)
                .put("hostBytes", hostBytes)
                .put("hostBytesPerBlock", hostBytesPerBlock, 2)
                .put("allocations", allocations())
                .put("failures", failures)
                .put("jdk", Environment.jdk())
                .put("gpu", gpu)
                .put("commit", Environment.commit());
    }
}
