package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.Isolation;
import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.trace.Trace;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A bench measures one strategy on one trace. The interface is the border between a measuring command and the classes
 * that every strategy has for itself, see {@link io.outboard.bench.cli.common.Isolation}. Only types of the JDK, of
 * this package and of the trace's package are passed through it.
 *
 * <p>Thread-safety: confined to one thread. If a strategy can't serve allocations, its results say so; every other
 * failure is a {@link RuntimeException} whose message says what failed.
 */
public interface StrategyBench {

    /**
     * Loads a strategy's classes apart from those of other strategies, and makes a bench for the strategy.
     *
     * @param strategy name of an existing strategy
     * @param trace the trace to measure on
     * @param maxBlocks how many blocks the strategy's tables hold
     * @return the bench
     * @throws RuntimeException the exception that the strategy's own classes threw
     */
    static StrategyBench open(final String strategy, final Trace trace, final int maxBlocks) {
        return Isolation.open(
                StrategyBench.class, "io.outboard.bench.cli.isolated.IsolatedBench", strategy, trace, maxBlocks);
    }

    /**
     * The result of a search for the smallest region.
     *
     * @param regionBytes size of the smallest region that serves the whole trace; if none does, of the largest one
     *     tried
     * @param serves whether the region serves the whole trace
     */
    record Smallest(long regionBytes, boolean serves) {}

    /**
     * Looks for the smallest region that serves the whole trace.
     *
     * @param progress is told now and then which region is being tried
     * @return the result of the search
     */
    Smallest smallestRegion(Consumer<String> progress);

    /**
     * Looks for the largest region that refuses an allocation of the trace. A larger region places blocks differently,
     * so not every region above one that serves the trace serves it too.
     *
     * @param servedBytes size of the smallest region that serves the whole trace
     * @param progress is told now and then which region is being tried
     * @return size of the region in bytes, at most 1.5 times peak live bytes or, if that is more, 1.05 times
     *     {@code servedBytes}, in steps of a quarter of a percent of peak live bytes; less than {@code servedBytes} if
     *     all regions that were tried serve the trace
     */
    long lastRefusedRegion(long servedBytes, Consumer<String> progress);

    /**
     * Measures how much host memory each live block takes when the strategy's tables are full, with default options.
     *
     * @return bytes, usually not a whole number
     */
    double hostBytesPerBlock();

    /**
     * The result of the first pass.
     *
     * @param failures number of allocations that found no memory
     * @param extentBytes greatest distance from the region's start to the end of a block
     */
    record Placed(long failures, long extentBytes) {}

    /**
     * Makes the strategy and replays the trace once, which shows how the strategy uses memory. The methods that measure
     * time continue with this strategy.
     *
     * @param regionAddress first address of the region
     * @param regionBytes size of the region
     * @param byHandle whether blocks are named by handles, not by their addresses
     * @param latencies whether each operation is timed by itself, too, in this pass and in {@link #finish}
     * @param device number of the GPU that the region lies on, or {@code none}
     * @param deviceUsedBytes asks the device how much is in use; null without one
     * @param progress is told of each pass, and of {@link io.outboard.bench.cli.measurement.Passes#operations}
     * @return what the pass showed
     * @throws WrongUseException if the strategy can't divide such a region
     */
    Placed place(
            long regionAddress,
            long regionBytes,
            boolean byHandle,
            boolean latencies,
            String device,
            @Nullable LongSupplier deviceUsedBytes,
            Progress progress);

    /** Replays the trace until the JIT compiler is done. */
    void warmUp();

    /**
     * Measures speed in one turn of some passes, {@link Passes#TURNS} of which are wanted.
     *
     * @return nanoseconds of CPU time an operation, of the fastest pass
     */
    double turn();

    /**
     * Measures latencies, if they are wanted.
     *
     * @return the results of all passes, without those that only a search or another region can tell
     */
    Measurement finish();

    /** Measures memory, speed and latency, as if there were no other strategy; parameters as for {@link #place}. */
    default Measurement measure(
            final long regionAddress,
            final long regionBytes,
            final boolean byHandle,
            final String device,
            final @Nullable LongSupplier deviceUsedBytes,
            final Progress progress) {
        place(regionAddress, regionBytes, byHandle, true, device, deviceUsedBytes, progress);
        warmUp();
        for (int turn = 0; turn < Passes.TURNS; turn++) {
            turn();
        }
        return finish();
    }

    /**
     * Replays the trace once and writes where each block was placed.
     *
     * @param regionAddress first address of the region
     * @param regionBytes size of the region
     * @param file gets a line for each allocation, {@code operation,address,bytes}
     * @throws IOException if the file can't be written
     * @throws WrongUseException if the strategy can't divide such a region
     */
    void writePlacements(long regionAddress, long regionBytes, Path file) throws IOException;
}
