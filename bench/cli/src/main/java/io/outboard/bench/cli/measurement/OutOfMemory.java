package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.OutputOptions;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * This class counts allocations that found no memory, and decides the last line and the exit code of a run that had
 * some.
 */
public final class OutOfMemory {

    private static final int FAILED = 1;

    @Option(
            names = "--fail-on-oom",
            negatable = true,
            description = "Exit with code 1 if any allocation found no memory, or never because of that."
                    + " Default: if none of all allocations found any.")
    private @Nullable Boolean failOnOom;

    private final List<String> failed = new ArrayList<>();
    private boolean served;

    /** Makes options with no failure counted. */
    public OutOfMemory() {}

    /**
     * Counts one allocator's failures.
     *
     * @param name of the allocator
     * @param failures number of allocations that found no memory
     * @param allocations number of all allocations
     */
    public void add(final String name, final long failures, final long allocations) {
        if (failures > 0) {
            failed.add(String.format(Locale.ROOT, "%s %,d of %,d allocations", name, failures, allocations));
        }
        served |= failures < allocations;
    }

    /** Counts the failures of measurements. */
    public void add(final List<Measurement> measurements) {
        for (final Measurement measurement : measurements) {
            add(measurement.label(measurements), measurement.failures(), measurement.allocations());
        }
    }

    /**
     * Prints what failed as the last line: of the results if these are a table, else of the errors.
     *
     * @param output what is printed
     * @param out where results are printed
     * @param err where errors are printed
     * @return the exit code
     */
    public int report(final OutputOptions output, final PrintWriter out, final PrintWriter err) {
        if (failed.isEmpty()) {
            return 0;
        }
        final boolean fails = failOnOom == null ? !served : failOnOom;
        final PrintWriter writer = output.json() ? err : out;
        writer.println("out of memory: " + String.join("; ", failed)
                + (fails ? "; exit code 1, see --fail-on-oom" : served ? "" : "; nothing was served"));
        writer.flush();
        return fails ? FAILED : 0;
    }
}
