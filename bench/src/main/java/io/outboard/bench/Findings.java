package io.outboard.bench;

import io.outboard.bench.common.Progress;
import io.outboard.bench.measure.Measurement;
import io.outboard.bench.measure.OutOfMemory;
import io.outboard.bench.measure.ThreadRate;
import io.outboard.bench.report.JsonLine;
import io.outboard.bench.trace.Trace;
import io.outboard.cuda.CudaDevice;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a measuring command has found so far. JSON is printed line by line, as each is known. Confined to one thread. */
final class Findings {

    private final Trace trace;
    private final @Nullable CudaDevice gpu;
    private final MeasureOptions options;
    private final PrintWriter out;
    private final PrintWriter err;
    private final List<Measurement> measurements = new ArrayList<>();
    private final List<ThreadRate> rates = new ArrayList<>();

    /** Nothing found yet; {@code gpu} is null without one. */
    Findings(
            final Trace trace,
            final @Nullable CudaDevice gpu,
            final MeasureOptions options,
            final PrintWriter out,
            final PrintWriter err) {
        this.trace = trace;
        this.gpu = gpu;
        this.options = options;
        this.out = out;
        this.err = err;
    }

    void add(final Measurement measurement) {
        measurements.add(measurement);
        printLine(measurement.json(gpu == null ? null : gpu.toString()));
    }

    void add(final ThreadRate rate) {
        rates.add(rate);
        printLine(rate.json(trace));
    }

    boolean isEmpty() {
        return measurements.isEmpty();
    }

    private void printLine(final JsonLine line) {
        if (options.json()) {
            Progress.makeRoom();
            out.println(line);
            out.flush();
        }
    }

    /**
     * Prints what isn't printed yet, and writes the folder that the options ask for.
     *
     * @param baselines how the driver's allocators were called
     * @return the exit code
     */
    int finish(final String baselines) throws IOException {
        new Results(trace, measurements, rates, gpu, baselines).print(options, out);
        final OutOfMemory outOfMemory = options.outOfMemory();
        outOfMemory.add(measurements);
        return outOfMemory.report(options.output(), out, err);
    }
}
