package io.outboard.bench.kernels;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.kernels.worker.DeviceCase;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * A case is one thing to measure. Immutable, so safe for any number of threads.
 *
 * @param contender what allocates
 * @param test what is done
 * @param perWarp whether only the first thread of each warp allocates, as in the paper
 * @param threads threads to launch, in blocks of 256, {@code 0 < threads}
 * @param leastBytes smallest request
 * @param mostBytes largest request; sizes are uniform between the two
 * @param iterations allocations of a thread before it frees, launches of {@link TestKind#P}, rounds of
 *     {@link TestKind#FILL}, or seconds of {@link TestKind#CHURN}
 * @param heapBytes size of the heap
 * @param preSplit how the heap is pre-split, see {@link PreSplits}
 * @param runs how many runs the median is taken of, {@code 0 < runs}; one, if one takes longer than a second
 * @param aged whether to measure a second time, on an aged heap
 */
public record KernelCase(
        Contender contender,
        TestKind test,
        boolean perWarp,
        int threads,
        long leastBytes,
        long mostBytes,
        int iterations,
        long heapBytes,
        String preSplit,
        int runs,
        boolean aged)
        implements DeviceCase {

    /** The usual number of allocations of a thread in {@link TestKind#ACD}, and of launches in {@link TestKind#P}. */
    public static final int ITERATIONS = 10;

    /** The size of the paper's heap, 2 GiB. */
    public static final long HEAP_BYTES = 2L << 30;

    /** The usual number of rounds of {@link TestKind#FILL}. */
    public static final int ROUNDS = 2400;

    /** The usual seconds of {@link TestKind#CHURN}. */
    public static final int SECONDS = 10;

    /** The largest request of {@link TestKind#CHURN}. */
    static final long CHURN_BYTES = 1L << 20;

    /** The mean size of a request of {@link TestKind#CHURN}: {@code stampedBytes} in {@code kernels.cu}. */
    private static final int CHURN_MEAN_BYTES = 8 << 10;

    /** The tests that can also run on an aged heap; others use all of the heap anyway. */
    private static final Set<TestKind> AGEABLE =
            EnumSet.of(TestKind.AD, TestKind.ADF, TestKind.ACD, TestKind.P, TestKind.MIX);

    private static final int WARP = 32;

    /** Makes a case on a fresh heap alone. */
    KernelCase(
            final Contender contender,
            final TestKind test,
            final boolean perWarp,
            final int threads,
            final long leastBytes,
            final long mostBytes,
            final int iterations,
            final long heapBytes,
            final String preSplit,
            final int runs) {
        this(contender, test, perWarp, threads, leastBytes, mostBytes, iterations, heapBytes, preSplit, runs, false);
    }

    /** Returns the case that counts the registers of a contender's kernels. */
    static KernelCase registers(final Contender contender) {
        return new KernelCase(contender, TestKind.REGISTERS, false, 1, 16, 16, 1, HEAP_BYTES, PreSplits.DEFAULT, 1);
    }

    /** Returns the same case on another heap. */
    KernelCase withHeap(final long bytes, final String split) {
        return new KernelCase(
                contender, test, perWarp, threads, leastBytes, mostBytes, iterations, bytes, split, runs, aged);
    }

    /** Returns the same case with other iterations. */
    KernelCase withIterations(final int count) {
        return new KernelCase(
                contender, test, perWarp, threads, leastBytes, mostBytes, count, heapBytes, preSplit, runs, aged);
    }

    /** Returns the same case with or without an aged heap; without one if ageing makes no difference. */
    KernelCase withAged(final boolean newAged) {
        final boolean ages = newAged && AGEABLE.contains(test) && contender.canFree() && !contender.isEmpty();
        return new KernelCase(
                contender, test, perWarp, threads, leastBytes, mostBytes, iterations, heapBytes, preSplit, runs, ages);
    }

    /** Returns how many threads allocate. */
    int slots() {
        return perWarp ? (threads + WARP - 1) / WARP : threads;
    }

    /** Returns the most bytes that can be requested without a free, padded as allocators do. */
    long demandBytes() {
        return (long) slots() * iterations * ((mostBytes + 15) / 16 * 16);
    }

    /** Returns how many pointers the kernels keep beside the heap. */
    long pointers() {
        return switch (test) {
            case ACD -> (long) slots() * iterations;
            // Each place has a pointer and what the block's content should be.
            case CHURN -> 2L * slots() * places();
            default -> slots();
        };
    }

    /**
     * Returns the blocks that a thread of {@link TestKind#CHURN} can hold: those of all threads are half as many again
     * as fill the heap.
     */
    long places() {
        return heapBytes * 3 / 2 / ((long) CHURN_MEAN_BYTES * slots()) + 1;
    }

    @Override
    public String resource() {
        return "/io/outboard/bench/kernels/" + contender.resource();
    }

    @Override
    public String module() {
        return resource() + ", " + contender.label();
    }

    @Override
    public int seconds() {
        return test == TestKind.CHURN ? iterations : 0;
    }

    /** Returns the distance between threads that allocate: 1 if all do, the size of a warp if one in each warp does. */
    int stride() {
        return perWarp ? WARP : 1;
    }

    /**
     * Returns the name of the case in rows of tables, without the contender; usual settings aren't mentioned.
     *
     * @return for example {@code AD T10k 16 B}, or {@code ACD W30k 4 B, 128 KiB heap}
     */
    public String name() {
        if (test == TestKind.REGISTERS) {
            return test.label();
        }
        final String size = leastBytes == mostBytes ? bytes(leastBytes) : leastBytes + ".." + mostBytes;
        return test.label() + " " + threads(perWarp, threads) + " " + size
                + (iterations == usualIterations(test)
                        ? ""
                        : ", " + iterations + (test == TestKind.CHURN ? " s" : " iterations"))
                + (heapBytes == HEAP_BYTES ? "" : ", " + bytes(heapBytes) + " heap")
                + (preSplit.equals(PreSplits.DEFAULT) ? "" : ", " + preSplit);
    }

    /** Returns the usual number of iterations of a test. */
    static int usualIterations(final TestKind test) {
        return switch (test) {
            case ACD, P -> ITERATIONS;
            case FILL -> ROUNDS;
            case CHURN -> SECONDS;
            case AD, ADF, MIX, OOM, REGISTERS -> 1;
        };
    }

    @Override
    public JsonLine json() {
        return new JsonLine()
                .put("name", name())
                .put("allocator", contender.name())
                .put("coalesced", contender.coalesced() ? "yes" : "no")
                .put("linked", contender.linked() ? "yes" : "no")
                .put("case", test.name())
                .put("threads", (long) threads)
                .put("allocatingThreads", (long) slots())
                .put("leastBytes", leastBytes)
                .put("mostBytes", mostBytes)
                .put("iterations", (long) iterations)
                .put("heapBytes", heapBytes)
                .put("preSplit", preSplit);
    }

    @Override
    public long driverHeapBytes() {
        return contender.isCuda() ? heapBytes : 0;
    }

    /** Returns the line that {@link #parse} reads. */
    @Override
    public String line() {
        return String.join(
                " ",
                List.of(
                        contender.name(),
                        String.valueOf(contender.coalesced()),
                        test.name(),
                        String.valueOf(perWarp),
                        String.valueOf(threads),
                        String.valueOf(leastBytes),
                        String.valueOf(mostBytes),
                        String.valueOf(iterations),
                        String.valueOf(heapBytes),
                        preSplit,
                        String.valueOf(runs),
                        String.valueOf(aged),
                        String.valueOf(contender.linked())));
    }

    /** Reads a line of {@link #line}. */
    static KernelCase parse(final String line) {
        final String[] words = line.split(" ", -1);
        return new KernelCase(
                new Contender(words[0], Boolean.parseBoolean(words[1]), Boolean.parseBoolean(words[12])),
                TestKind.valueOf(words[2]),
                Boolean.parseBoolean(words[3]),
                Integer.parseInt(words[4]),
                Long.parseLong(words[5]),
                Long.parseLong(words[6]),
                Integer.parseInt(words[7]),
                Long.parseLong(words[8]),
                words[9],
                Integer.parseInt(words[10]),
                Boolean.parseBoolean(words[11]));
    }

    /** Returns a size in the largest unit, a power of 1024, of which it is a multiple. */
    private static String bytes(final long bytes) {
        final String[] units = {"B", "KiB", "MiB", "GiB", "TiB"};
        long number = bytes;
        int unit = 0;
        while (number % 1024 == 0 && number > 0 && unit < units.length - 1) {
            number /= 1024;
            unit++;
        }
        return number + " " + units[unit];
    }

    private static String threads(final boolean perWarp, final int threads) {
        final String letter = perWarp ? "W" : "T";
        if (threads % (1 << 20) == 0) {
            return letter + (threads >> 20) + "M";
        }
        return threads % 1024 == 0 ? letter + (threads >> 10) + "k" : letter + threads;
    }
}
