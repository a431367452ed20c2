package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.report.Units;
import io.outboard.bench.cli.report.strategies.StrategyParts;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.cuda.CudaDevice;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * This class collects the results of a measuring command. Each result is written into the folder of results as soon as
 * it is known, and printed at once if the output is JSON. Confined to one thread.
 */
public final class Results {

    private final Trace trace;
    private final @Nullable CudaDevice gpu;
    private final MeasureOptions options;
    private final PrintWriter out;
    private final PrintWriter err;
    private final Supplier<String> baselines;
    private final ResultFolderWriter folder;
    private final List<Measurement> measurements = new ArrayList<>();
    private final List<ThreadRate> rates = new ArrayList<>();

    /**
     * Makes an empty collection; {@code gpu} is null without a GPU; {@code baselines} tells how the driver's allocators
     * were called so far.
     */
    public Results(
            final Trace trace,
            final @Nullable CudaDevice gpu,
            final MeasureOptions options,
            final PrintWriter out,
            final PrintWriter err,
            final Supplier<String> baselines) {
        this.trace = trace;
        this.gpu = gpu;
        this.options = options;
        this.out = out;
        this.err = err;
        this.baselines = baselines;
        this.folder = new ResultFolderWriter(options.output(), gpu);
    }

    public void add(final Measurement measurement) throws IOException {
        measurements.add(measurement);
        printLine(measurement.json(gpu == null ? null : gpu.toString()));
        keep();
    }

    public void add(final ThreadRate rate) throws IOException {
        rates.add(rate);
        printLine(rate.json(trace));
        keep();
    }

    boolean isEmpty() {
        return measurements.isEmpty();
    }

    List<Measurement> measurements() {
        return List.copyOf(measurements);
    }

    private void keep() throws IOException {
        folder.keep(trace, measurements, rates, baselines.get());
    }

    private void printLine(final JsonLine line) {
        if (options.json()) {
            Progress.makeRoom();
            out.println(line);
            out.flush();
        }
    }

    /**
     * Prints what isn't printed yet, and makes the page of the folder for results, if one is wanted; returns the exit
     * code.
     */
    public int finish() throws IOException {
        print();
        final OutOfMemory outOfMemory = options.outOfMemory();
        outOfMemory.add(measurements);
        return outOfMemory.report(options.output(), out, err);
    }

    private void print() throws IOException {
        final String device = gpu == null ? null : gpu.toString();
        if (options.json()) {
            // The other lines were printed as soon as they were known.
            DriverRatio.of(measurements).forEach(ratio -> out.println(ratio.json()));
        } else {
            new ResultTable(trace, measurements, options.smallestRegion(), device, baselines.get()).print(out);
            printRates(out);
        }
        options.output().writePage(StrategyParts.ALL, out);
    }

    private void printRates(final PrintWriter out) {
        if (rates.isEmpty()) {
            return;
        }
        out.println("\nOne pool, several threads:\n");
        new TextTable<ThreadRate>()
                .column("strategy", rate -> rate.strategy() + " pool, " + rate.reusePolicy())
                .column("threads", rate -> String.valueOf(rate.threads()))
                .column("operations/s", rate -> Units.count(rate.opsPerSecond()))
                .column(
                        "over fewest threads",
                        rate -> Units.ratio(rate.opsPerSecond() / fewest(rate).opsPerSecond()))
                .print(rates, out);
    }

    private ThreadRate fewest(final ThreadRate rate) {
        return rates.stream()
                .filter(other -> other.strategy().equals(rate.strategy())
                        && other.reusePolicy().equals(rate.reusePolicy()))
                .min(Comparator.comparingInt(ThreadRate::threads))
                .orElse(rate);
    }
}
