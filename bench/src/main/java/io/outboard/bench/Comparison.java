package io.outboard.bench;

import io.outboard.bench.device.DeviceProbe;
import io.outboard.bench.device.DriverAllocator;
import io.outboard.bench.device.DriverAllocators;
import io.outboard.bench.trace.Trace;
import io.outboard.core.BlockTableFullException;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.core.VirtualMemorySource;
import io.outboard.cuda.CudaDevice;
import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.CudaUnavailableException;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One trace on several strategies and, where there is a GPU, on the driver's own allocators; then the results. */
final class Comparison {

    private static final String NO_DEVICE = "none";

    /** Of the memory that a device has free, what a region may take by default. */
    private static final double DEVICE_SHARE = 0.9;

    /** Steps of progress that a strategy takes: its passes. */
    private static final int STRATEGY_STEPS = 4;

    private final Trace trace;
    private final MeasureOptions options;
    private final StrategyOptions strategyOptions;
    private final PrintWriter out;
    private @Nullable Path placements;

    /** How the driver's allocators were called, where a reader of the numbers must know. */
    private String baselines = "";

    Comparison(final Trace trace, final MeasureOptions options, final PrintWriter out) {
        this.trace = trace;
        this.options = options;
        this.out = out;
        // Every second block may be free. The defaults unless the trace needs more, since they are what users get.
        final int blocks = Math.max(2 * trace.peakLiveBlocks() + 1, StrategyOptions.DEFAULTS.maxBlocks());
        this.strategyOptions = StrategyOptions.DEFAULTS.withMaxBlocks(blocks);
    }

    void writePlacementsTo(final Path file) {
        placements = file;
    }

    void run() throws IOException {
        final List<Measurement> measurements = new ArrayList<>();
        final @Nullable CudaDevice gpu;
        try (DeviceProbe probe = openDevice()) {
            final @Nullable CudaMemorySource source = probe.source().orElse(null);
            gpu = source == null ? null : source.device();
            final long driverSteps = gpu == null ? 0 : DriverAllocators.names().size() * DriverMeasurement.steps(trace);
            final long steps = (long) STRATEGY_STEPS * options.providers().size();
            try (Progress progress = new Progress(steps + driverSteps)) {
                for (final StrategyProvider provider : options.providers()) {
                    progress.stage(provider.name());
                    measurements.add(measure(provider, source, progress));
                }
                if (gpu != null) {
                    for (final String name : DriverAllocators.names()) {
                        progress.stage(name);
                        measurements.add(measureDriver(name, gpu, progress));
                    }
                }
            }
        }
        if (options.json()) {
            measurements.forEach(measurement -> out.println(measurement.json(text(gpu))));
        } else {
            new ResultTable(trace, measurements, text(gpu), baselines).print(out);
        }
        final Path folder = options.out();
        if (folder != null) {
            final Path page =
                    ResultFolderWriter.write(folder, measurements, Environment.facts(gpu, baselines), text(gpu));
            if (!options.json()) {
                out.println("report: " + page);
            }
        }
        out.flush();
    }

    private DeviceProbe openDevice() {
        try {
            return DeviceProbe.open(options.device());
        } catch (final CudaUnavailableException e) {
            throw new WrongUseException(
                    "--device=" + options.device() + " must be a GPU that works: " + e.getMessage());
        }
    }

    private Measurement measure(
            final StrategyProvider provider, final @Nullable CudaMemorySource source, final Progress progress)
            throws IOException {
        try {
            final @Nullable Long smallest =
                    options.smallestRegion() ? (Long) SmallestRegion.find(provider, strategyOptions, trace) : null;
            final long wanted = smallest == null ? options.regionBytes().orElse(trace.regionBytes()) : smallest;
            if (source == null) {
                return measure(provider, VirtualMemorySource.region(wanted), null, smallest, progress);
            }
            final Region region = takeRegion(source, wanted, smallest != null);
            try {
                return measure(provider, region, source, smallest, progress);
            } finally {
                source.giveBack(region);
            }
        } catch (final BlockTableFullException e) {
            throw new IllegalStateException(provider.name() + " on " + trace.name() + ": " + e.getMessage(), e);
        }
    }

    private Measurement measure(
            final StrategyProvider provider,
            final Region region,
            final @Nullable CudaMemorySource source,
            final @Nullable Long smallest,
            final Progress progress)
            throws IOException {
        if (placements != null) {
            writePlacements(StrategyMeasurement.create(provider, region, strategyOptions), placements);
        }
        return new StrategyMeasurement(provider, strategyOptions, trace, region, progress)
                .run(
                        source == null
                                ? NO_DEVICE
                                : String.valueOf(source.device().ordinal()),
                        source == null ? null : source::usedBytes,
                        smallest);
    }

    /** What was asked for, as it was; what the trace suggests, as much of it as the device has. */
    private Region takeRegion(final CudaMemorySource source, final long wanted, final boolean exactly) {
        final long most = (long) (source.availableBytes() * DEVICE_SHARE);
        final boolean asked = exactly || options.regionBytes().isPresent();
        try {
            return source.take(asked ? wanted : Math.max(Math.min(wanted, most), strategyOptions.granuleBytes()));
        } catch (final DeviceOutOfMemoryException e) {
            throw new WrongUseException("--region=" + wanted + " must fit on the device: " + e.getMessage());
        }
    }

    private Measurement measureDriver(final String name, final CudaDevice gpu, final Progress progress) {
        try (DriverAllocator driver = DriverAllocators.open(name, gpu.ordinal(), trace.slots())) {
            if (!driver.settings().isEmpty()) {
                baselines += (baselines.isEmpty() ? "" : "; ") + name + ": " + driver.settings();
            }
            return new DriverMeasurement(driver, trace, progress).run(String.valueOf(gpu.ordinal()));
        }
    }

    private void writePlacements(final Strategy strategy, final Path file) throws IOException {
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

    private static @Nullable String text(final @Nullable CudaDevice gpu) {
        return gpu == null ? null : gpu.toString();
    }
}
