package io.outboard.bench.jmh;

import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.VirtualMemorySource;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Each strategy, in 64 GiB of addresses that nothing backs. Garbage has to be 0 bytes. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class StrategyBenchmark {

    private static final long REGION_BYTES = 64L << 30;
    private static final int LIVE = 512;
    private static final int PAPER_OPERATIONS = 100_000;

    @Param({
        "tlsf",
        "segregated-fit",
        "segregated-fit-paper",
        "pooled",
        "buddy-binary",
        "buddy-fibonacci",
        "buddy-double",
        "bitmask",
        "hal-first-fit",
        "hal-next-fit",
        "hal-best-fit"
    })
    private String strategyName = "tlsf";

    private Strategy strategy = strategy("tlsf");
    private final long[] sizes = Sizes.ofPaper(1);
    private final long[] addresses = new long[LIVE];
    private int next;
    private final long[] paper = Profiles.named("paper", PAPER_OPERATIONS).operations();
    private final long[] paperAddresses = new long[40];

    /** With {@value #LIVE} blocks in use. */
    @Setup
    public void fill() {
        strategy = strategy(strategyName);
        for (int i = 0; i < LIVE; i++) {
            addresses[i] = strategy.allocate(sizes[i]);
        }
    }

    private static Strategy strategy(final String name) {
        return Strategies.named(name).create(VirtualMemorySource.region(REGION_BYTES), StrategyOptions.DEFAULTS);
    }

    /** Frees the oldest of {@value #LIVE} blocks of 1 KiB to 16 MiB and allocates one of another size. */
    @Benchmark
    public long pair() {
        final int i = next++;
        final int oldest = i & (LIVE - 1);
        strategy.free(addresses[oldest]);
        final long address = strategy.allocate(sizes[i & (Sizes.COUNT - 1)]);
        addresses[oldest] = address;
        return address;
    }

    /** Allocates a block of 1 MiB and frees it, with {@value #LIVE} others in use. */
    @Benchmark
    public long pairOfOneSize() {
        final long address = strategy.allocate(1 << 20);
        strategy.free(address);
        return address;
    }

    /** An operation of the profile {@code paper}; in the end all that it allocated is freed. */
    @Benchmark
    @OperationsPerInvocation(PAPER_OPERATIONS)
    public void paper() {
        for (final long operation : paper) {
            final int slot = Trace.slot(operation);
            if (Trace.isFree(operation)) {
                strategy.free(paperAddresses[slot]);
                paperAddresses[slot] = Strategy.NO_SPACE;
            } else {
                paperAddresses[slot] = strategy.allocate(Trace.bytes(operation));
            }
        }
        for (int slot = 0; slot < paperAddresses.length; slot++) {
            if (paperAddresses[slot] != Strategy.NO_SPACE) {
                strategy.free(paperAddresses[slot]);
                paperAddresses[slot] = Strategy.NO_SPACE;
            }
        }
    }
}
