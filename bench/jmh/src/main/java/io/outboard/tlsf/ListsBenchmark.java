package io.outboard.tlsf;

import io.outboard.core.StrategyOptions;
import java.util.SplittableRandom;
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
import org.openjdk.jmh.annotations.Warmup;

/** The mapping of sizes to lists, and the lists themselves, without a strategy around them. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class ListsBenchmark {

    /** A power of two, so that a mask takes an index into it; few enough blocks for the first-level cache. */
    private static final int COUNT = 512;

    private static final StrategyOptions OPTIONS = StrategyOptions.DEFAULTS.withMaxBlocks(COUNT + 1);

    @Param({"two-level", "power-of-two"})
    private String kind = "two-level";

    private FreeLists lists = new TwoLevelLists(OPTIONS);
    private final long[] sizes = new long[COUNT];
    private final int[] blocks = new int[COUNT];
    private int next;

    /** Sizes of 1 to 65,536 granules, each power of two as often as any other; a free block of each. */
    @Setup
    public void fill() {
        lists = kind.equals("two-level") ? new TwoLevelLists(OPTIONS) : new PowerOfTwoLists(OPTIONS);
        final SplittableRandom random = new SplittableRandom(1);
        int start = 0;
        for (int i = 0; i < COUNT; i++) {
            final long powerOfTwo = 1L << random.nextInt(16);
            sizes[i] = powerOfTwo + random.nextLong(powerOfTwo);
            blocks[i] = lists.create(start, (int) sizes[i]);
            lists.insertAfter(blocks[i], i == 0 ? BlockTable.NONE : blocks[i - 1]);
            lists.insertFree(blocks[i]);
            start += (int) sizes[i];
        }
    }

    /** The list that a block belongs to. */
    @Benchmark
    public int listHolding() {
        return lists.listHolding(sizes[next++ & (COUNT - 1)]);
    }

    /** The first list whose blocks all fit. */
    @Benchmark
    public int listFitting() {
        return lists.listFitting(sizes[next++ & (COUNT - 1)]);
    }

    /** The same, and the first from there that isn't empty. */
    @Benchmark
    public int findNonEmpty() {
        return lists.findNonEmpty(lists.listFitting(sizes[next++ & (COUNT - 1)]));
    }

    /** Takes a block out of its list and puts it back. */
    @Benchmark
    public int takeAndPut() {
        final int block = blocks[next++ & (COUNT - 1)];
        lists.removeFree(block);
        lists.insertFree(block);
        return block;
    }
}
