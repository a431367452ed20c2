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
 * One strategy on one trace, as a measuring command sees it: the border between its classes and those that every
 * strategy has for itself, see {@link io.outboard.bench.cli.common.Isolation}. What crosses is the JDK's, this
 * package's or the trace's package's own.
 *
 * <p>Thread-safety: confined to one thread. A strategy that can't serve says so in its results; every other failure is
 * a {@link RuntimeException} whose message says what failed.
 */
public interface StrategyBench {

    /**
     * Loads a strategy's classes, its own and none of another's, and makes what measures it.
     *
     * @param strategy name of one that exists
     * @param trace what to measure it on
     * @param maxBlocks how many blocks its tables are to hold
     * @return what measures it
     * @throws RuntimeException what the strategy's own classes threw
     */
    static StrategyBench open(final String strategy, final Trace trace, final int maxBlocks) {
        return Isolation.open(
                StrategyBench.class, "io.outboard.bench.cli.isolated.IsolatedBench", strategy, trace, maxBlocks);
    }

    /**
     * What came of looking for the smallest region.
     *
     * @param regionBytes size of the smallest region that serves the whole trace; if none does, of the largest one
     *     tried
     * @param serves whether it does
     */
    record Smallest(long regionBytes, boolean serves) {}

    /**
     * Looks for the smallest region that serves the whole trace.
     *
     * @param progress hears which region is being tried, every now and then
     * @return what was found
     */
    Smallest smallestRegion(Consumer<String> progress);

    /**
     * Looks for the largest region that refuses something of the trace: a larger region places blocks otherwise, so one
     * that serves doesn't mean that all larger ones do.
     *
     * @param servedBytes size of the smallest region that serves the whole trace
     * @param progress hears which region is being tried, every now and then
     * @return its size in bytes, up to 1.5 times peak live bytes or, if that is more, 1.05 times {@code
     *     servedBytes}, found to a quarter of a percent of peak live bytes; less than {@code servedBytes} if all that
     *     were tried serve
     */
    long lastRefusedRegion(long servedBytes, Consumer<String> progress);

    /**
     * Host memory for each live block when the strategy's tables are full, with default options.
     *
     * @return bytes, not a whole number as a rule
     */
    double hostBytesPerBlock();

    /**
     * Measures speed, latency and memory.
     *
     * @param regionAddress first address of the region
     * @param regionBytes size of the region
     * @param byHandle whether blocks are named by handles, not by their addresses
     * @param device number of the GPU that the region lies on, or {@code none}
     * @param deviceUsedBytes asks the device how much is in use; null without one
     * @param progress hears of each pass, and of {@link io.outboard.bench.cli.measurement.Passes#operations}
     * @return the results; what only a search or another region can tell is left out
     * @throws WrongUseException if the strategy can't divide such a region
     */
    Measurement measure(
            long regionAddress,
            long regionBytes,
            boolean byHandle,
            String device,
            @Nullable LongSupplier deviceUsedBytes,
            Progress progress);

    /**
     * Replays the trace once and writes where each block was placed.
     *
     * @param regionAddress first address of the region
     * @param regionBytes size of the region
     * @param file gets a line an allocation, {@code operation,address,bytes}
     * @throws IOException if the file can't be written
     * @throws WrongUseException if the strategy can't divide such a region
     */
    void writePlacements(long regionAddress, long regionBytes, Path file) throws IOException;
}
