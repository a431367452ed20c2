package io.outboard.bench.kernels;

import java.util.ArrayList;
import java.util.List;

/**
 * The class lists every case by which in-kernel allocators are judged: all tests with a thousand to a million threads,
 * of which all or one in each warp allocate, and 16 bytes to 128 KiB, as far as the heap holds what is asked for.
 */
final class MainCases {

    /** A row is a case without its contender. */
    record Row(TestKind test, String threads, long leastBytes, long mostBytes) {}

    /** The least request of mixed sizes. */
    static final long LEAST_MIXED = 4;

    private static final String THOUSAND = "1024";
    private static final String TEN_THOUSAND = "10240";
    private static final String PAPER = "30720";
    private static final String HUNDRED_THOUSAND = "102400";
    private static final String MILLION = "1048576";

    /**
     * The share of a heap that requests can fill: tables take 2 to 3 %, and blocks that don't divide chunks evenly
     * waste some.
     */
    private static final double USABLE = 0.93;

    private final long heapBytes;
    private final List<Row> rows = new ArrayList<>();

    private MainCases(final long heapBytes) {
        this.heapBytes = heapBytes;
    }

    static List<Row> rows(final long heapBytes) {
        final MainCases cases = new MainCases(heapBytes);
        cases.addEachSize();
        cases.addMixed();
        for (final long bytes : new long[] {16, 64, 640, 1040, 1024, 8192, 65536}) {
            cases.rows.add(new Row(TestKind.OOM, "T" + TEN_THOUSAND, bytes, bytes));
        }
        cases.rows.add(new Row(TestKind.FILL, "T" + TEN_THOUSAND, 64, 64));
        cases.rows.add(new Row(TestKind.CHURN, "T" + TEN_THOUSAND, LEAST_MIXED, KernelCase.CHURN_BYTES));
        return List.copyOf(cases.rows);
    }

    private void addEachSize() {
        final long[] sizes = {16, 64, 256, 1024, 4096, 8192, 65536, 131072};
        for (final String letter : List.of("T", "W")) {
            for (final String count : List.of(THOUSAND, TEN_THOUSAND, HUNDRED_THOUSAND, MILLION)) {
                add(TestKind.AD, letter + count, sizes);
            }
        }
        for (final String threads : List.of(
                "T" + THOUSAND,
                "T" + TEN_THOUSAND,
                "T" + HUNDRED_THOUSAND,
                "T" + MILLION,
                "W" + PAPER,
                "W" + HUNDRED_THOUSAND,
                "W" + MILLION)) {
            add(TestKind.ADF, threads, 16, 64, 256, 1024, 4096, 65536);
        }
        for (final String threads :
                List.of("T" + THOUSAND, "T" + TEN_THOUSAND, "T" + HUNDRED_THOUSAND, "W" + PAPER, "W" + MILLION)) {
            add(TestKind.ACD, threads, 16, 256, 1024, 4096);
        }
        for (final String threads : List.of("T" + THOUSAND, "T" + TEN_THOUSAND, "T" + HUNDRED_THOUSAND, "W" + PAPER)) {
            add(TestKind.P, threads, 16, 256, 4096);
        }
    }

    private void addMixed() {
        for (final String threads : List.of(
                "T" + THOUSAND,
                "T" + TEN_THOUSAND,
                "T" + HUNDRED_THOUSAND,
                "T" + MILLION,
                "W" + HUNDRED_THOUSAND,
                "W" + MILLION)) {
            for (final long most : new long[] {1024, 65536}) {
                addIfItFits(new Row(TestKind.MIX, threads, LEAST_MIXED, most));
            }
        }
    }

    private void add(final TestKind test, final String threads, final long... sizes) {
        for (final long bytes : sizes) {
            addIfItFits(new Row(test, threads, bytes, bytes));
        }
    }

    private void addIfItFits(final Row row) {
        if (demandBytes(row) <= USABLE * heapBytes) {
            rows.add(row);
        }
    }

    /** Returns the most bytes in use at once; for mixed sizes, the expected number. */
    static double demandBytes(final Row row) {
        final KernelCase work = new KernelCase(
                Contender.empty(),
                row.test(),
                row.threads().startsWith("W"),
                CasePlan.threads(row.threads()),
                row.leastBytes(),
                row.mostBytes(),
                KernelCase.usualIterations(row.test()),
                KernelCase.HEAP_BYTES,
                PreSplits.DEFAULT,
                1);
        final int held = row.test() == TestKind.ACD ? KernelCase.ITERATIONS : 1;
        return (double) work.slots() * held * (row.leastBytes() + row.mostBytes()) / 2;
    }
}
