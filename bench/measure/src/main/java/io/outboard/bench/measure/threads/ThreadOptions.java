package io.outboard.bench.measure.threads;

import io.outboard.bench.cli.common.OptionValue;
import io.outboard.bench.cli.common.WrongUseException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options say what many threads do with one pool. */
public final class ThreadOptions {

    private static final int MOST_OTHERS = 1_000;
    private static final int MOST_LIVE = 1 << 20;

    @Option(
            names = "--sizes",
            paramLabel = "MIN..MAX",
            defaultValue = "256..1MiB",
            description = "Sizes of a thread profile's blocks; their logarithm is uniform. Default: ${DEFAULT-VALUE}.")
    private String sizes = "256..1MiB";

    @Option(
            names = "--live",
            paramLabel = "N",
            defaultValue = "20",
            description =
                    "Blocks that each thread of own and larson has at a time, and that are at most on their way in"
                            + " each pair's ring. Default: ${DEFAULT-VALUE}.")
    private int liveBlocks = 20;

    @Option(
            names = "--round-ms",
            paramLabel = "N",
            defaultValue = "500",
            description =
                    "Milliseconds that a round of a thread profile takes: five warm it up, three are measured, and"
                            + " as many with clocks. Default: ${DEFAULT-VALUE}.")
    private long roundMillis = 500;

    @Option(
            names = "--others",
            paramLabel = "N",
            defaultValue = "0",
            description = "Threads that never stop computing beside those that are measured, so that these lose their"
                    + " cores in between. Default: ${DEFAULT-VALUE}.")
    private int others;

    @Option(
            names = "--launchers",
            paramLabel = "N",
            defaultValue = "0",
            description = "On a GPU, threads that launch empty kernels without pause beside those that are measured;"
                    + " a call of the driver may then take seconds. Default: ${DEFAULT-VALUE}.")
    private int launchers;

    @Option(
            names = "--allocators",
            paramLabel = "NAME,...",
            split = ",",
            description =
                    "Of a thread profile or --sweep: pool, facade, cudaMalloc, cuMemAllocAsync. Default: all that there are.")
    private @Nullable List<String> allocators;

    @Option(
            names = "--memory",
            description = "Instead of time, measure what a pool holds when several threads share the operations of one"
                    + " trace, and when each does a trace of its own, beside what it holds with one thread.")
    private boolean memory;

    @Option(
            names = "--trace",
            paramLabel = "FILE",
            description = "With --memory: a recorded trace instead of a profile, as for replay.")
    private @Nullable Path trace;

    @Option(
            names = "--slack",
            paramLabel = "SIZE",
            description =
                    "With --memory: what the pool may hold beyond what is in use rather than ask the device; may be 0."
                            + " Default: a pool's.")
    private @Nullable String slack;

    @Option(
            names = "--sweep",
            description =
                    "Measure latencies by size, from 256 B to 256 MiB, by one thread and by 16 (or --threads), and"
                            + " where there is a GPU cudaMalloc's and cuMemAllocAsync's in the same run.")
    private boolean sweep;

    /** Makes options of which none is given. */
    public ThreadOptions() {}

    /**
     * Checks all option values.
     *
     * @throws WrongUseException that names option, value and rule
     */
    public void check() {
        smallestBytes();
        largestBytes();
        checkRange("--live", liveBlocks, 1, MOST_LIVE);
        checkRange("--round-ms", roundMillis, 1, 600_000);
        checkRange("--others", others, 0, MOST_OTHERS);
        checkRange("--launchers", launchers, 0, MOST_OTHERS);
        checkAllocators();
        if (memory && sweep) {
            throw new WrongUseException("--sweep=true must go without --memory");
        }
        if (slack != null && !memory) {
            throw new WrongUseException("--slack=" + slack + " must go with --memory");
        }
        slackBytes();
        if (trace != null && !memory) {
            throw new WrongUseException("--trace=" + trace + " must go with --memory");
        }
    }

    /**
     * Checks the options whose values depend on a GPU.
     *
     * @param gpu whether there is one
     * @throws WrongUseException that names option, value and rule
     */
    public void check(final boolean gpu) {
        if (!gpu && launchers > 0) {
            throw new WrongUseException("--launchers=" + launchers + " must be 0 without a GPU");
        }
        if (!gpu && !has(ThreadSettings.Kind.POOL)) {
            throw new WrongUseException("--allocators must have pool without a GPU");
        }
    }

    /**
     * Returns whether the user asked for memory instead of time.
     *
     * @return true if so
     */
    public boolean memory() {
        return memory;
    }

    /**
     * Returns whether the user asked for latencies by size.
     *
     * @return true if so
     */
    public boolean sweep() {
        return sweep;
    }

    @Nullable
    Path trace() {
        return trace;
    }

    /** Returns the slack in bytes; null for a pool's default. */
    @Nullable
    Long slackBytes() {
        return slack == null ? null : slack.equals("0") ? Long.valueOf(0) : (Long) OptionValue.bytes("--slack", slack);
    }

    int others() {
        return others;
    }

    int launchers() {
        return launchers;
    }

    boolean has(final ThreadSettings.Kind kind) {
        return allocators == null || allocators.contains(kind.label());
    }

    int liveBlocks() {
        return liveBlocks;
    }

    long roundMillis() {
        return roundMillis;
    }

    long smallestBytes() {
        return bounds()[0];
    }

    long largestBytes() {
        return bounds()[1];
    }

    private long[] bounds() {
        final String[] ends = sizes.split("\\.\\.", -1);
        if (ends.length != 2) {
            throw new WrongUseException("--sizes=" + sizes + " must be MIN..MAX, such as 256..1MiB");
        }
        final long smallest = OptionValue.bytes("--sizes", ends[0]);
        final long largest = OptionValue.bytes("--sizes", ends[1]);
        if (smallest > largest || largest > 1L << 40) {
            throw new WrongUseException("--sizes=" + sizes + " must be MIN..MAX with MIN <= MAX <= 1 TiB");
        }
        return new long[] {smallest, largest};
    }

    private void checkAllocators() {
        final List<String> names = Arrays.stream(ThreadSettings.Kind.values())
                .filter(kind -> kind != ThreadSettings.Kind.BARE)
                .map(ThreadSettings.Kind::label)
                .toList();
        for (final String name : allocators == null ? names : allocators) {
            if (!names.contains(name)) {
                throw new WrongUseException("--allocators=" + name + " must be one of: " + String.join(", ", names));
            }
        }
    }

    private static void checkRange(final String name, final long value, final long least, final long most) {
        if (value < least || value > most) {
            throw new WrongUseException(name + "=" + value + " must be >= " + least + " and <= " + most);
        }
    }
}
