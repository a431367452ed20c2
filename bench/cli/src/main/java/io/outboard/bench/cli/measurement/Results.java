package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.TextTable;
import io.outboard.bench.cli.report.ReportPage;
import io.outboard.bench.cli.report.Units;
import io.outboard.bench.cli.report.strategies.StrategyParts;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.cuda.CudaDevice;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a measuring command found.
 *
 * @param trace what was replayed
 * @param measurements of one thread
 * @param rates of several threads
 * @param gpu what it was measured on, null without one
 * @param baselines how the driver's allocators were called, where a reader of the numbers must know
 */
record Results(
        Trace trace,
        List<Measurement> measurements,
        List<ThreadRate> rates,
        @Nullable CudaDevice gpu,
        String baselines) {

    /** Prints what isn't printed yet, and writes the page of the folder that the options ask for, in which they are already. */
    void print(final MeasureOptions options, final PrintWriter out) throws IOException {
        final String device = gpu == null ? null : gpu.toString();
        if (options.json()) {
            // The others were printed as they were known.
            DriverRatio.of(measurements).forEach(ratio -> out.println(ratio.json()));
        } else {
            new ResultTable(trace, measurements, options.smallestRegion(), device, baselines).print(out);
            printRates(out);
        }
        final Path folder = options.out();
        if (folder != null) {
            final Path page = ReportPage.write(folder, StrategyParts.ALL);
            if (!options.json()) {
                out.println("report: " + page);
            }
        }
        out.flush();
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
