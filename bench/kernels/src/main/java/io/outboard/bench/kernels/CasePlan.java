package io.outboard.bench.kernels;

import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** The plan decides which cases a run consists of. The usual run has the parts that {@link PlanPart} names. */
public final class CasePlan {

    /** The sizes of figures 3(a), 4 and 5: 4 bytes to 128 KiB. */
    static final List<Long> FIGURE_BYTES =
            List.of(4L, 16L, 64L, 256L, 1024L, 4096L, 8192L, 16384L, 32768L, 65536L, 131072L);

    /** The pre-splittings that figure 4 compares, besides the usual one. */
    static final List<String> FIGURE_SPLITS = List.of("none", "uniform:4096", "uniform:262144", "heap:65536");

    private static final Set<TestKind> ARENA_TESTS = EnumSet.of(TestKind.AD, TestKind.ADF, TestKind.ACD, TestKind.P);
    private static final int PAPER_THREADS = 30720;
    private static final int BLOCK = 256;
    private static final int MILLION = 1 << 20;
    private static final long SMALL_HEAP = 64L << 20;
    private static final int FEW_ROUNDS = 24;
    private static final int CHURN_SECONDS = 2;

    private final List<Contender> contenders;
    private final int runs;
    private final Predicate<Contender> aged;
    /** The cases, by the same case without ageing: if a case is added twice, the first one stays, aged or not. */
    private final Map<KernelCase, KernelCase> cases = new LinkedHashMap<>();

    private CasePlan(final List<Contender> contenders, final int runs, final Predicate<Contender> aged) {
        this.contenders = contenders;
        this.runs = runs;
        this.aged = aged;
    }

    /**
     * Returns the cases of the usual run.
     *
     * @param contenders what to measure
     * @param runs how many runs medians are taken of
     * @param aged whether cases of tables are measured on aged heaps as well, except those of CUDA's allocator, whose
     *     heap takes seconds to age
     * @param churnSeconds how long each {@link TestKind#CHURN} lasts
     * @param heapBytes sizes of the heap, for the cases of {@link PlanPart#MAIN}
     * @param parts which parts of the usual run
     * @return the cases, those of a row of a table together
     */
    public static List<KernelCase> usual(
            final List<Contender> contenders,
            final int runs,
            final boolean aged,
            final int churnSeconds,
            final List<Long> heapBytes,
            final Set<PlanPart> parts) {
        final CasePlan plan =
                new CasePlan(contenders, runs, contender -> aged && !contender.isCuda() && !contender.isArena());
        if (parts.contains(PlanPart.MAIN)) {
            heapBytes.forEach(bytes -> plan.addMain(churnSeconds, bytes));
        }
        if (parts.contains(PlanPart.FAMILY)) {
            plan.addTable();
        }
        return plan.result();
    }

    /**
     * Returns the cases of the tables and figures of Vinkler and Havran (2014).
     *
     * @param contenders what to measure
     * @param runs how many runs medians are taken of
     * @return the cases
     */
    public static List<KernelCase> figures(final List<Contender> contenders, final int runs) {
        final CasePlan plan = new CasePlan(contenders, runs, CasePlan::never);
        plan.addFigures();
        return plan.result();
    }

    /**
     * Returns a short run of every test with a thousand threads, for memory checkers, under which kernels are slow.
     *
     * @param contenders what to measure
     * @return the cases
     */
    public static List<KernelCase> quick(final List<Contender> contenders) {
        final CasePlan plan = new CasePlan(contenders, 1, CasePlan::never);
        for (final boolean perWarp : new boolean[] {false, true}) {
            for (final long bytes : new long[] {16, 1001}) {
                for (final TestKind test : List.of(TestKind.AD, TestKind.ADF, TestKind.ACD, TestKind.P, TestKind.OOM)) {
                    plan.addSmall(test, perWarp, bytes, bytes);
                }
            }
            plan.addSmall(TestKind.MIX, perWarp, 4, 1024);
            plan.addSmall(TestKind.FILL, perWarp, 64, 64);
        }
        plan.addSmall(TestKind.CHURN, false, MainCases.LEAST_MIXED, KernelCase.CHURN_BYTES);
        return plan.result();
    }

    /**
     * Returns every combination of the arguments.
     *
     * @param contenders what to measure
     * @param tests what is done
     * @param threads numbers of threads, as {@link #threads} reads them
     * @param sizes {@code {least, most}} bytes of a request; {@link TestKind#MIX} takes pairs that differ,
     *     {@link TestKind#CHURN} none, others the rest
     * @param heapBytes sizes of the heap
     * @param iterations of {@link TestKind#ACD}, {@link TestKind#P} and {@link TestKind#FILL}; empty: the usual number
     * @param churnSeconds how long each {@link TestKind#CHURN} lasts
     * @param preSplits see {@link PreSplits}
     * @param runs how many runs medians are taken of
     * @param aged whether to measure on aged heaps as well
     * @return the cases, those of a row of a table together
     */
    public static List<KernelCase> combinations(
            final List<Contender> contenders,
            final List<TestKind> tests,
            final List<String> threads,
            final List<long[]> sizes,
            final List<Long> heapBytes,
            final List<Integer> iterations,
            final int churnSeconds,
            final List<String> preSplits,
            final int runs,
            final boolean aged) {
        final CasePlan plan = new CasePlan(contenders, runs, contender -> aged && !contender.isArena());
        for (final TestKind test : tests) {
            final List<Integer> counts = counts(test, iterations, churnSeconds);
            for (final String text : threads) {
                for (final long[] size : sizesOf(test, sizes)) {
                    for (final long heap : heapBytes) {
                        for (final int count : counts) {
                            preSplits.forEach(split -> plan.add(
                                    test,
                                    text,
                                    size[0],
                                    size[1],
                                    each -> each.withHeap(heap, split).withIterations(count)));
                        }
                    }
                }
            }
        }
        return plan.result();
    }

    private static List<Integer> counts(final TestKind test, final List<Integer> iterations, final int churnSeconds) {
        if (test == TestKind.CHURN) {
            return List.of(churnSeconds);
        }
        final int usual = KernelCase.usualIterations(test);
        return usual > 1 && !iterations.isEmpty() ? iterations : List.of(usual);
    }

    private static List<long[]> sizesOf(final TestKind test, final List<long[]> sizes) {
        return test == TestKind.CHURN
                ? List.of(new long[] {MainCases.LEAST_MIXED, KernelCase.CHURN_BYTES})
                : sizes.stream()
                        .filter(size -> size[0] < size[1] == (test == TestKind.MIX))
                        .toList();
    }

    /**
     * Reads a number of threads: {@code T10240}, or {@code W30720} for one that allocates in each warp.
     *
     * @param text what a user typed
     * @return how many; 0 if the text isn't such a number
     */
    public static int threads(final String text) {
        if (!text.matches("[TW][0-9]{1,9}")) {
            return 0;
        }
        final int threads = Integer.parseInt(text.substring(1));
        return threads <= 1 << 26 ? threads : 0;
    }

    private void addMain(final int churnSeconds, final long heapBytes) {
        final CasePlan main = with(Contender::isMain, aged);
        for (final MainCases.Row row : MainCases.rows(heapBytes)) {
            final int count = row.test() == TestKind.CHURN ? churnSeconds : KernelCase.usualIterations(row.test());
            main.add(
                    row.test(),
                    row.threads(),
                    row.leastBytes(),
                    row.mostBytes(),
                    each -> each.withIterations(count).withHeap(heapBytes, PreSplits.DEFAULT));
        }
        addAll(main);
    }

    /** Adds the rows of the table in which published allocators were measured. */
    private void addTable() {
        for (final long bytes : new long[] {16, 8192, 65536}) {
            add(TestKind.AD, "T10240", bytes);
        }
        for (final long bytes : new long[] {16, 256, 8192}) {
            add(TestKind.AD, "T102400", bytes);
        }
        add(TestKind.AD, "T" + MILLION, 16);
        add(TestKind.AD, "T" + MILLION, 256);
        add(TestKind.AD, "W" + MILLION, 256);
        add(TestKind.ADF, "W" + PAPER_THREADS, 16);
        add(TestKind.ADF, "W" + PAPER_THREADS, 65536);
        addMix("T10240", 65536);
        addMix("T102400", 1024);
        addMix("T" + MILLION, 1024);
        addMix("W" + MILLION, 65536);
        add(TestKind.ACD, "W" + PAPER_THREADS, 16);
        add(TestKind.ACD, "T102400", 16);
        add(TestKind.P, "T102400", 16);
        // CUDA's allocator takes minutes for the millions of blocks of the smaller sizes.
        final CasePlan others = with(each -> !each.isCuda(), aged);
        others.add(TestKind.OOM, "T10240", 64);
        others.add(TestKind.OOM, "T10240", 1024);
        others.add(TestKind.FILL, "T10240", 64);
        addAll(others);
        add(TestKind.OOM, "T10240", 65536);
    }

    /**
     * Adds the cases of the paper's figures. One thread in each warp allocates there, for which coalescing changes
     * nothing, so only allocators without coalescing run, and only compiled into the kernels, as in the paper.
     */
    private void addFigures() {
        final CasePlan plain = with(each -> !each.coalesced() && !each.linked(), CasePlan::never);
        plain.addFigure3();
        plain.addFigures4And5();
        addAll(plain);
    }

    private void addFigure3() {
        final String threads = "W" + PAPER_THREADS;
        FIGURE_BYTES.forEach(bytes -> add(TestKind.ADF, threads, bytes));
        for (long heap = 128L << 10; heap <= KernelCase.HEAP_BYTES; heap *= 4) {
            final long heapBytes = heap;
            add(TestKind.ACD, threads, 4, 4, each -> each.withHeap(heapBytes, PreSplits.DEFAULT));
        }
        for (final int iterations : new int[] {10, 20, 40, 60, 80, 100}) {
            add(TestKind.ACD, threads, 4, 4, each -> each.withIterations(iterations));
        }
        for (final int blocks : new int[] {1, 15, 30, 60, 90, 120}) {
            add(TestKind.P, "W" + blocks * BLOCK, 4);
        }
    }

    private void addFigures4And5() {
        final String threads = "W" + PAPER_THREADS;
        final CasePlan lists = with(each -> each.hasChunks() && !each.isArena(), CasePlan::never);
        final CasePlan fused = with(each -> each.name().equals("CFMMalloc"), CasePlan::never);
        for (final long bytes : FIGURE_BYTES) {
            lists.add(TestKind.ACD, threads, bytes);
            lists.add(TestKind.AD, threads, bytes);
            for (final String split : FIGURE_SPLITS) {
                fused.add(TestKind.ACD, threads, bytes, bytes, each -> each.withHeap(KernelCase.HEAP_BYTES, split));
            }
        }
        addAll(lists);
        addAll(fused);
    }

    private void addSmall(final TestKind test, final boolean perWarp, final long least, final long most) {
        add(
                test,
                (perWarp ? "W" : "T") + 1024,
                least,
                most,
                each -> each.withHeap(quickHeapBytes(test), PreSplits.DEFAULT).withIterations(quickIterations(test)));
    }

    /**
     * Returns the size of the heap in the quick run; where a test fills the heap, the slowest allocator must fill it in
     * time.
     */
    private static long quickHeapBytes(final TestKind test) {
        return switch (test) {
            case OOM -> SMALL_HEAP / 16;
            case CHURN -> SMALL_HEAP / 4;
            default -> SMALL_HEAP;
        };
    }

    private static int quickIterations(final TestKind test) {
        return switch (test) {
            case FILL -> FEW_ROUNDS;
            case CHURN -> CHURN_SECONDS;
            default -> KernelCase.usualIterations(test);
        };
    }

    private void addMix(final String threads, final long most) {
        add(TestKind.MIX, threads, MainCases.LEAST_MIXED, most, each -> each);
    }

    private void add(final TestKind test, final String threads, final long bytes) {
        add(test, threads, bytes, bytes, each -> each);
    }

    private void add(
            final TestKind test,
            final String threads,
            final long least,
            final long most,
            final UnaryOperator<KernelCase> change) {
        for (final Contender contender : contenders) {
            if (isPossible(test, threads.startsWith("W"), contender)) {
                put(change.apply(new KernelCase(
                                contender,
                                test,
                                threads.startsWith("W"),
                                threads(threads),
                                least,
                                most,
                                KernelCase.usualIterations(test),
                                KernelCase.HEAP_BYTES,
                                PreSplits.DEFAULT,
                                runs))
                        .withAged(aged.test(contender)));
            }
        }
    }

    private void put(final KernelCase work) {
        cases.putIfAbsent(work.withAged(false), work);
    }

    private void addAll(final CasePlan other) {
        other.cases.values().forEach(this::put);
    }

    /**
     * Returns whether a contender can do a test. An allocator that never fails can't be exhausted. Blocks that form a
     * list must be memory with no other use, so kernels without an allocator, and the allocator that wraps around,
     * can't do such a test. A heap can be kept full only if its use is known. An arena is a warp's and frees all of its
     * memory at once, so it does the paper's tests, in which one thread of a warp allocates and frees all that it has.
     */
    private static boolean isPossible(final TestKind test, final boolean perWarp, final Contender contender) {
        if (contender.isArena()) {
            return perWarp && ARENA_TESTS.contains(test);
        }
        return switch (test) {
            case OOM, FILL -> !(contender.isEmpty() || contender.overwrites());
            case CHURN -> contender.hasChunks();
            default -> true;
        };
    }

    private static boolean never(final Contender contender) {
        return false;
    }

    /** Returns an empty plan for some of the contenders. */
    private CasePlan with(final Predicate<Contender> filter, final Predicate<Contender> ages) {
        return new CasePlan(contenders.stream().filter(filter).toList(), runs, ages);
    }

    /**
     * Returns the cases, after the register counts of each contender and of the kernels without an allocator, for
     * comparison.
     */
    private List<KernelCase> result() {
        final Set<KernelCase> all = new LinkedHashSet<>();
        all.add(KernelCase.registers(Contender.empty()));
        contenders.forEach(contender -> all.add(KernelCase.registers(contender)));
        all.addAll(cases.values());
        return List.copyOf(all);
    }
}
