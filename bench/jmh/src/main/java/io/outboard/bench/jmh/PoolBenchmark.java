package io.outboard.bench.jmh;

import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.DeviceWork;
import io.outboard.pool.Pool;
import io.outboard.pool.ReusePolicy;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** A pool over {@code tlsf}, of addresses that nothing backs, and one or more threads: {@code -t 2}. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class PoolBenchmark {

    private static final long REGION_BYTES = 64L << 30;
    private static final int LIVE = 512;

    @Param({"IMMEDIATE", "STRICT"})
    private ReusePolicy reuse = ReusePolicy.IMMEDIATE;

    private Pool pool = pool(ReusePolicy.IMMEDIATE);

    /** What one thread has in use. */
    @State(Scope.Thread)
    public static class Blocks {

        private final long[] sizes = Sizes.ofPaper(1);
        private final long[] addresses = new long[LIVE];
        private int next;

        /** With {@value #LIVE} blocks in use. */
        @Setup
        public void fill(final PoolBenchmark benchmark) {
            for (int i = 0; i < LIVE; i++) {
                addresses[i] = benchmark.pool.allocate(sizes[i]);
            }
        }
    }

    /** Of one region. */
    @Setup
    public void open() {
        pool.close();
        pool = pool(reuse);
    }

    /** With all that is in use. */
    @TearDown
    public void close() {
        pool.close();
    }

    private static Pool pool(final ReusePolicy reuse) {
        return Pool.over(new VirtualMemorySource())
                .strategy("tlsf")
                .reuse(reuse, DeviceWork.NONE)
                .firstRegionBytes(REGION_BYTES)
                .limitBytes(REGION_BYTES)
                .growInPlace(false)
                .build();
    }

    /** Frees the thread's oldest of {@value #LIVE} blocks of 1 KiB to 16 MiB and allocates one of another size. */
    @Benchmark
    public long pair(final Blocks blocks) {
        final int i = blocks.next++;
        final int oldest = i & (LIVE - 1);
        pool.free(blocks.addresses[oldest]);
        final long address = pool.allocate(blocks.sizes[i & (Sizes.COUNT - 1)]);
        blocks.addresses[oldest] = address;
        return address;
    }

    /** Allocates a block of 1 MiB and frees it. */
    @Benchmark
    public long pairOfOneSize(final Blocks blocks) {
        final long address = pool.allocate(1 << 20);
        pool.free(address);
        return address;
    }
}
