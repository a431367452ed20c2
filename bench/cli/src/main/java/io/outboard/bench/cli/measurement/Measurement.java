package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.Environment;
import io.outboard.bench.cli.common.Latencies;
import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.trace.Trace;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What one allocator did on one trace. NaN and null stand for what doesn't apply or wasn't measured.
 *
 * @param trace what was replayed
 * @param strategy name of the strategy, or the driver's function
 * @param device number of the GPU, or {@code none}
 * @param reusePolicy when freed memory may be handed out again: {@code IMMEDIATE} for a bare strategy
 * @param nsPerOp nanoseconds an operation, allocations and frees together, without clocks in between
 * @param cpuNsPerOp the same, of time on a core
 * @param allocate each allocation
 * @param free each free
 * @param gcBytesPerOp garbage an operation, in bytes
 * @param marksPerOp how often an operation asked the device what is done
 * @param peakExtentBytes greatest distance from the region's start to the end of a block
 * @param smallestRegionBytes smallest region that serves the trace, if it was looked for
 * @param externalFragmentation equation 3 of Vinkler and Havran (2014) when live bytes were at their peak
 * @param internalFragmentation equation 2 of the same at the same moment
 * @param hostBytes host memory of the strategy
 * @param hostBytesPerBlock host memory for each live block when the strategy's tables are full
 * @param failures allocations that found no memory
 * @param regionBytes size of the region
 * @param memory memory over time
 * @param operations time by the number of operations
 */
public record Measurement(
        Trace trace,
        String strategy,
        String device,
        @Nullable String reusePolicy,
        double nsPerOp,
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
        List<OperationTimes.Stretch> operations) {

    /** The same with what a measurement itself can't tell. */
    public Measurement with(final @Nullable Long smallestBytes, final double fullTableBytesPerBlock) {
        return new Measurement(
                trace,
                strategy,
                device,
                reusePolicy,
                nsPerOp,
                cpuNsPerOp,
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

    /** The strategy, and the reuse policy where that tells it from others. */
    public String label(final List<Measurement> others) {
        final boolean shared = others.stream()
                .anyMatch(other -> other.strategy.equals(strategy) && !Objects.equals(other.reusePolicy, reusePolicy));
        return shared ? strategy + ", " + reusePolicy : strategy;
    }

    /** Allocations of the trace, served or not. */
    public long allocations() {
        return Arrays.stream(trace.operations())
                .filter(operation -> !Trace.isFree(operation))
                .count();
    }

    /** Whether any allocation found memory; if none did, there is no speed either. */
    public boolean servedAny() {
        return failures < allocations();
    }

    /** Whether it may be called the best at anything: not if it refused something. */
    public boolean servedAll() {
        return failures == 0;
    }

    /** One line of {@code results.jsonl}. */
    public JsonLine json(final @Nullable String gpu) {
        final boolean served = servedAny();
        final Latencies none = new Latencies(0);
        return new JsonLine()
                .put("trace", trace.name())
                .put("strategy", strategy)
                .put("device", device)
                .put("reusePolicy", reusePolicy)
                .put("ops", (long) trace.operationCount())
                .put("nsPerOp", served ? nsPerOp : Double.NaN, 2)
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
