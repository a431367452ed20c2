package io.outboard.bench.cli.isolated;

import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.measurement.Measurement;
import io.outboard.bench.cli.measurement.StrategyBench;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.HandleStrategy;
import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * This bench lies on the inner side of {@link StrategyBench}, in the classes that a strategy has for itself.
 * Thread-safety: confined to one thread.
 */
public final class IsolatedBench implements StrategyBench {

    private final StrategyProvider provider;
    private final StrategyOptions options;
    private final Trace trace;
    private @Nullable Run run;

    /**
     * A run is what {@link #place} has begun.
     *
     * @param strategy the strategy that is measured
     * @param name its name in results
     * @param device number of the GPU, or {@code none}
     * @param latencies whether latencies are wanted
     * @param memory the first pass
     * @param times the other passes
     */
    private record Run(
            Strategy strategy,
            String name,
            String device,
            boolean latencies,
            StrategyMemory memory,
            TargetMeasurement times) {}

    /**
     * Finds the strategy.
     *
     * @param strategy name of the strategy
     * @param trace the trace to measure on
     * @param maxBlocks how many blocks the strategy's tables hold, as {@link StrategyOptions#maxBlocks}
     * @throws IllegalArgumentException if there is no such strategy, or the tables can't have that size
     */
    public IsolatedBench(final String strategy, final Trace trace, final int maxBlocks) {
        this.provider = Strategies.named(strategy);
        this.options = StrategyOptions.DEFAULTS.withMaxBlocks(maxBlocks);
        this.trace = trace;
    }

    /**
     * Finds the smallest region in which a strategy serves a trace, as {@link #smallestRegion(Consumer)} does.
     *
     * @param provider makes the strategies
     * @param trace the trace to serve
     * @param maxBlocks how many blocks the strategies' tables hold
     * @return the region
     */
    public static Smallest smallestRegion(final StrategyProvider provider, final Trace trace, final int maxBlocks) {
        return new SmallestRegion(provider, StrategyOptions.DEFAULTS.withMaxBlocks(maxBlocks), trace).find(stage -> {});
    }

    @Override
    public Smallest smallestRegion(final Consumer<String> progress) {
        return new SmallestRegion(provider, options, trace).find(progress);
    }

    @Override
    public long lastRefusedRegion(final long servedBytes, final Consumer<String> progress) {
        return new SmallestRegion(provider, options, trace).lastRefused(servedBytes, progress);
    }

    @Override
    public double hostBytesPerBlock() {
        return FullTable.hostBytesPerBlock(provider);
    }

    @Override
    public Placed place(
            final long regionAddress,
            final long regionBytes,
            final boolean byHandle,
            final boolean latencies,
            final String device,
            final @Nullable LongSupplier deviceUsedBytes,
            final Progress progress) {
        final Strategy strategy = create(regionAddress, regionBytes);
        final BlockTarget target;
        final String name;
        if (byHandle && strategy instanceof HandleStrategy handles) {
            target = HandleTarget.over(handles, trace.slots());
            name = provider.name() + " by handle";
        } else {
            target = StrategyTarget.over(strategy, trace.slots());
            name = provider.name();
        }
        final StrategyMemory memory = new StrategyMemory(strategy, target, trace, latencies);
        memory.run(deviceUsedBytes, progress);
        run = new Run(strategy, name, device, latencies, memory, new TargetMeasurement(target, trace, progress));
        return new Placed(memory.failures(), memory.peakExtentBytes());
    }

    @Override
    public void warmUp() {
        run().times().warmUp();
    }

    @Override
    public double turn() {
        return run().times().turn();
    }

    @Override
    public Measurement finish() {
        final Run finished = run();
        final TargetMeasurement.Times times = finished.times().finish(finished.latencies());
        final StrategyMemory memory = finished.memory();
        return new Measurement(
                trace,
                finished.name(),
                finished.device(),
                "IMMEDIATE",
                // A strategy waits for nobody, so what isn't CPU time is other programs'.
                times.cpuNsPerOp(),
                times.cpuTurnsNs(),
                times.waited(),
                times.cpuNsPerOp(),
                times.allocate(),
                times.free(),
                times.gcBytesPerOp(),
                Double.NaN,
                memory.peakExtentBytes(),
                null,
                memory.externalFragmentation(),
                memory.internalFragmentation(),
                finished.strategy().hostBytes(),
                Double.NaN,
                memory.failures(),
                finished.strategy().region().sizeBytes(),
                memory.samples(),
                memory.operations());
    }

    private Run run() {
        if (run == null) {
            throw new IllegalStateException("place must come first");
        }
        return run;
    }

    @Override
    public void writePlacements(final long regionAddress, final long regionBytes, final Path file) throws IOException {
        final Strategy strategy = create(regionAddress, regionBytes);
        final long[] operations = trace.operations();
        final long[] addresses = new long[trace.slots()];
        try (BufferedWriter writer = Files.newBufferedWriter(file)) {
            writer.write("operation,address,bytes\n");
            for (int i = 0; i < operations.length; i++) {
                final int slot = Trace.slot(operations[i]);
                final long bytes = Trace.bytes(operations[i]);
                if (!Trace.isFree(operations[i])) {
                    addresses[slot] = strategy.allocate(bytes);
                    if (addresses[slot] != Strategy.NO_SPACE) {
                        writer.write(i + "," + addresses[slot] + "," + bytes + "\n");
                    }
                } else if (addresses[slot] != Strategy.NO_SPACE) {
                    strategy.free(addresses[slot]);
                }
            }
        }
    }

    /** Makes the strategy; if the strategy can't divide such a region, the user asked for a wrong one. */
    private Strategy create(final long regionAddress, final long regionBytes) {
        try {
            return provider.create(new Region(regionAddress, regionBytes), options);
        } catch (final IllegalArgumentException e) {
            throw new WrongUseException(
                    "--region=" + regionBytes + " must suit " + provider.name() + ": " + e.getMessage());
        }
    }
}
