package io.outboard.bench.kernels;

import io.outboard.bench.cli.common.OptionValue;
import io.outboard.bench.cli.common.WrongUseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options say which tests of in-kernel heaps to run: on which allocators, with which sizes, and how often. */
final class KernelCaseOptions {

    private static final int MOST_RUNS = 1000;
    private static final int MOST_ITERATIONS = 10_000;
    private static final int MOST_SECONDS = 3600;
    private static final long LEAST_HEAP = 64L << 10;
    private static final long MOST_HEAP = 64L << 30;
    private static final List<long[]> MIX_SIZES = List.of(new long[] {4, 1024});
    private static final List<long[]> ONE_SIZE = List.of(new long[] {16, 16});

    @Option(
            names = "--allocator",
            paramLabel = "NAME,...",
            split = ",",
            description =
                    "What to measure: BitMalloc, CMalloc, CFMalloc, CMMalloc, CFMMalloc, AtomicMalloc, AWMalloc, CudaMalloc,"
                            + " XMalloc; FDGMalloc, a warp's arena over CUDA's malloc, or WarpArena, the same over BitMalloc;"
                            + " DoubleCMalloc, DoubleCFMMalloc, lists with links both ways;"
                            + " or Empty, the kernels without any. Default: all.")
    private List<String> allocators = List.of();

    @Option(
            names = "--coalesced",
            paramLabel = "no|yes|both",
            defaultValue = "both",
            description = "Whether one claim serves the threads of a warp that allocate together."
                    + " Default: ${DEFAULT-VALUE}.")
    private String coalesced = "both";

    @Option(
            names = "--linked",
            paramLabel = "no|yes|both",
            defaultValue = "no",
            description =
                    "Whether kernels are linked with the allocator, as KernelModule.link does, and call it; else it is"
                            + " compiled into them. Default: ${DEFAULT-VALUE}.")
    private String linked = "no";

    @Option(
            names = "--case",
            paramLabel = "AD,ADF,ACD,P,MIX,OOM,FILL,CHURN",
            split = ",",
            description =
                    "AD: allocate in one kernel, free in the next. ADF: both in one. ACD: several allocations, then"
                            + " as many frees. P: ten launches, each thread acts with probability 0.75. MIX: AD with sizes"
                            + " uniform in a range. OOM: allocate until the first failure. FILL and CHURN, only if they are"
                            + " named: allocate round after round, and free nothing; mallocs and frees of 4 bytes to 1 MiB"
                            + " at once, every block checked, in a heap that is nearly full half of the time.")
    private List<String> tests = List.of();

    @Option(
            names = "--threads",
            paramLabel = "T10240,...",
            split = ",",
            description = "Threads to launch, 256 a block; W30720: only the first of each warp allocates.")
    private List<String> threads = List.of();

    @Option(
            names = "--bytes",
            paramLabel = "SIZE,...",
            split = ",",
            description = "Bytes of a request; 4..1024, a range, is for MIX.")
    private List<String> bytes = List.of();

    @Option(
            names = "--heap",
            paramLabel = "SIZE,...",
            split = ",",
            description = "Bytes of the heap, such as 2GiB, the default.")
    private List<String> heaps = List.of();

    @Option(
            names = "--iterations",
            paramLabel = "N,...",
            split = ",",
            description = "Allocations of a thread before it frees, for ACD; launches, for P; rounds, for FILL.")
    private List<Integer> iterations = List.of();

    @Option(
            names = "--churn-seconds",
            paramLabel = "SECONDS",
            defaultValue = "10",
            description = "How long CHURN lasts. Default: ${DEFAULT-VALUE}.")
    private int churnSeconds = KernelCase.SECONDS;

    @Option(
            names = "--aged",
            negatable = true,
            description =
                    "Measure AD, ADF, ACD, P and MIX a second time, each on a heap that has been used for a thousand"
                            + " launches of mixed sizes, or for two seconds. Default: for the table of a run without options.")
    private @Nullable Boolean aged;

    @Option(
            names = "--pre-split",
            paramLabel = "SPLIT,...",
            split = ",",
            description =
                    "Chunks that a heap starts with: default; none, one chunk; heap:SIZE, the paper's equation 1"
                            + " down to this size; uniform:SIZE; and, but for the first, +end:SIZE, a large chunk kept at the end.")
    private List<String> preSplits = List.of();

    @Option(
            names = "--part",
            paramLabel = "main,family",
            split = ",",
            description =
                    "Parts of the run without options. main: all sizes and numbers of threads, for the newest allocator"
                            + " and the best of the paper's family. family: the table that published code was measured by, for all."
                            + " Default: both.")
    private List<String> parts = List.of();

    @Option(
            names = "--quick",
            description = "A short run of every test with a thousand threads, for memory checkers; with --allocator and"
                    + " --coalesced alone.")
    private boolean quick;

    @Option(
            names = "--runs",
            paramLabel = "N",
            defaultValue = "5",
            description =
                    "Runs that a median is taken of, after one to warm up; where one takes longer than a second, it"
                            + " is the only one. Default: ${DEFAULT-VALUE}.")
    private int runs;

    /** Returns whether the user asked for a short run. */
    boolean areQuick() {
        return quick;
    }

    private boolean isChosen() {
        return !(tests.isEmpty()
                && threads.isEmpty()
                && bytes.isEmpty()
                && (heaps.isEmpty() || String.join(",", parts).equalsIgnoreCase("main"))
                && iterations.isEmpty()
                && preSplits.isEmpty());
    }

    /** Returns the cases that the options ask for. */
    List<KernelCase> cases() {
        checkRange("--runs", runs, MOST_RUNS);
        checkRange("--churn-seconds", churnSeconds, MOST_SECONDS);
        final List<Contender> contenders = contenders();
        final boolean chosen = isChosen();
        if (!parts.isEmpty() && (quick || chosen)) {
            throw new WrongUseException(
                    "--part must stand without --quick and without what chooses cases, but for --part=main with --heap");
        }
        if (quick) {
            if (chosen) {
                throw new WrongUseException(
                        "--quick must stand without --case, --threads, --bytes, --heap, --iterations and --pre-split");
            }
            return CasePlan.quick(contenders);
        }
        if (!chosen) {
            return CasePlan.usual(contenders, runs, aged == null || aged, churnSeconds, heapSizes(), planParts());
        }
        iterations.forEach(count -> checkRange("--iterations", count, MOST_ITERATIONS));
        final List<TestKind> kinds = testKinds();
        final List<KernelCase> cases = CasePlan.combinations(
                contenders,
                kinds,
                threadCounts(),
                sizes(kinds),
                heapSizes(),
                iterations,
                churnSeconds,
                splits(),
                runs,
                aged != null && aged);
        if (cases.stream().allMatch(work -> work.test() == TestKind.REGISTERS)) {
            throw new WrongUseException("--bytes=" + String.join(",", bytes)
                    + " must have a range such as 4..1024 for MIX, and a size for other cases; and FDGMalloc and WarpArena"
                    + " do AD, ADF, ACD and P with threads such as W30720 alone");
        }
        return cases;
    }

    private Set<PlanPart> planParts() {
        final Set<PlanPart> chosen = EnumSet.noneOf(PlanPart.class);
        for (final String part : parts) {
            chosen.add(Arrays.stream(PlanPart.values())
                    .filter(each -> each.name().equalsIgnoreCase(part))
                    .findFirst()
                    .orElseThrow(() -> new WrongUseException("--part=" + part + " must be one of: main, family")));
        }
        return parts.isEmpty() ? EnumSet.allOf(PlanPart.class) : chosen;
    }

    private List<Contender> contenders() {
        final List<String> names = Contender.names();
        final Set<Contender> contenders = new LinkedHashSet<>();
        final List<Boolean> coalescing = choices("--coalesced", coalesced);
        final List<Boolean> linking = choices("--linked", linked);
        for (final String name : allocators.isEmpty() ? names : allocators) {
            if (!names.contains(name)) {
                throw new WrongUseException("--allocator=" + name + " must be one of: " + String.join(", ", names));
            }
            if (name.equals(Contender.EMPTY)) {
                contenders.add(new Contender(name, false));
            } else if (!new Contender(name, false).isLinkable()) {
                coalescing.forEach(joins -> contenders.add(new Contender(name, joins)));
            } else {
                linking.forEach(
                        links -> coalescing.forEach(joins -> contenders.add(new Contender(name, joins, links))));
            }
        }
        return List.copyOf(contenders);
    }

    private static List<Boolean> choices(final String option, final String value) {
        return switch (value) {
            case "no" -> List.of(false);
            case "yes" -> List.of(true);
            case "both" -> List.of(false, true);
            default -> throw new WrongUseException(option + "=" + value + " must be no, yes or both");
        };
    }

    private List<TestKind> testKinds() {
        final List<TestKind> all = Arrays.stream(TestKind.values())
                .filter(kind -> kind != TestKind.REGISTERS)
                .toList();
        if (tests.isEmpty()) {
            return all.stream()
                    .filter(kind -> kind != TestKind.FILL && kind != TestKind.CHURN)
                    .toList();
        }
        final List<TestKind> kinds = new ArrayList<>();
        for (final String test : tests) {
            kinds.add(all.stream()
                    .filter(kind -> kind.name().equalsIgnoreCase(test))
                    .findFirst()
                    .orElseThrow(() -> new WrongUseException(
                            "--case=" + test + " must be one of: AD, ADF, ACD, P, MIX, OOM, FILL, CHURN")));
        }
        return kinds;
    }

    private List<String> threadCounts() {
        for (final String count : threads) {
            if (CasePlan.threads(count) == 0) {
                throw new WrongUseException("--threads=" + count
                        + " must be T or W and a number from 1 to 67108864, such as T10240 or W30720");
            }
        }
        return threads.isEmpty() ? List.of("T102400") : threads;
    }

    private List<long[]> sizes(final List<TestKind> kinds) {
        final List<long[]> sizes = new ArrayList<>();
        for (final String text : bytes) {
            final int dots = text.indexOf("..");
            final String least = dots < 0 ? text : text.substring(0, dots);
            final String most = dots < 0 ? text : text.substring(dots + 2);
            final long[] size = {OptionValue.bytes("--bytes", least), OptionValue.bytes("--bytes", most)};
            if (size[0] > size[1] || (dots >= 0 && size[0] == size[1])) {
                throw new WrongUseException("--bytes=" + text + " must rise from the first to the second");
            }
            if (size[0] < Long.BYTES && (kinds.contains(TestKind.OOM) || kinds.contains(TestKind.FILL))) {
                throw new WrongUseException(
                        "--bytes=" + text + " must be >= 8 for OOM and FILL, which link the blocks");
            }
            sizes.add(size);
        }
        if (sizes.isEmpty()) {
            sizes.addAll(ONE_SIZE);
            sizes.addAll(MIX_SIZES);
        }
        return sizes;
    }

    private List<String> splits() {
        final List<String> splits = new ArrayList<>();
        for (final String text : preSplits) {
            final String split = Pattern.compile("(?<=:)[^+]*")
                    .matcher(text)
                    .replaceAll(size -> String.valueOf(OptionValue.bytes("--pre-split", size.group())));
            if (!PreSplits.isValid(split)) {
                throw new WrongUseException("--pre-split=" + text
                        + " must be default, none, heap:SIZE or uniform:SIZE, the last three also with +end:SIZE");
            }
            splits.add(split);
        }
        return splits.isEmpty() ? List.of(PreSplits.DEFAULT) : splits;
    }

    private List<Long> heapSizes() {
        final List<Long> sizes = new ArrayList<>();
        for (final String text : heaps) {
            final long size = OptionValue.bytes("--heap", text);
            if (size < LEAST_HEAP || size > MOST_HEAP) {
                throw new WrongUseException("--heap=" + text + " must be from 64KiB to 64GiB");
            }
            sizes.add(size);
        }
        return sizes.isEmpty() ? List.of(KernelCase.HEAP_BYTES) : sizes;
    }

    static void checkRange(final String option, final int value, final int most) {
        if (value < 1 || value > most) {
            throw new WrongUseException(option + "=" + value + " must be >= 1 and <= " + most);
        }
    }
}
