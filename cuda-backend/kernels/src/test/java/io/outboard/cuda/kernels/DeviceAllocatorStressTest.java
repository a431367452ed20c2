package io.outboard.cuda.kernels;

import io.outboard.core.Effort;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * This class runs the in-kernel allocators on CPU threads ({@code stress.cpp}), built plainly and with sanitizers. Each
 * scenario names the faults of published allocators that it guards against: 1 dead headers, 2 memory order, 3 out of
 * memory, 4 32 bits, 5 alignment, 6 merging, 7 groups of a warp, 8 misuse.
 *
 * <p>Threads run either all at once, sometimes stalled before they touch what they share, or in turns that the seed
 * decides. A failure in turns can be repeated with the same command; others may need some tries. By default a quarter
 * of the cases run, without a sanitizer and with one of them; {@code -Plong -Doutboard.long=8} runs all, with eight
 * seeds.
 */
@Tag("thorough")
class DeviceAllocatorStressTest {

    private static final Path FOLDER = Path.of("target/stress");
    private static final int THREADS = 8;
    private static final String STALLED = "2000";
    private static final String IN_TURNS = "turns";
    /** The limit of a scenario that takes two seconds at most. */
    private static final long LIMIT_SECONDS = 60;

    /**
     * The share of cases in a run is one in this many; it is no multiple of the number of sanitizers, so that each case
     * meets each of them.
     */
    private static final int CASES_PART = 4;

    private static final Map<Build, CpuProgram> PROGRAMS = new EnumMap<>(Build.class);

    enum Build {
        // More optimisation takes longer in the compiler than it saves here.
        PLAIN(1, "-O1", STALLED, IN_TURNS),
        // No two threads race when they run in turns.
        THREAD_SANITIZER(4, "-O0 -g -fsanitize=thread", STALLED),
        THREAD_SANITIZER_CHECKED(10, "-O0 -g -fsanitize=thread -DOUTBOARD_CHECKED", STALLED),
        ADDRESS_SANITIZER(
                20, "-O0 -g -fsanitize=address,undefined -fno-sanitize-recover=all -DOUTBOARD_CHECKED", IN_TURNS);

        private final int slowdown;
        private final String options;
        private final String orders;

        Build(final int slowdown, final String options, final String... orders) {
            this.slowdown = slowdown;
            this.options = options;
            this.orders = String.join(" ", orders);
        }

        boolean has(final String option) {
            return options.contains(option);
        }

        /** Returns the plain build, and that of one sanitizer or of all. */
        static List<Build> ofThisRun() {
            final List<Build> sanitizers = List.of(THREAD_SANITIZER, THREAD_SANITIZER_CHECKED, ADDRESS_SANITIZER);
            final List<Build> builds = new ArrayList<>(List.of(PLAIN));
            for (int i = 0; i < sanitizers.size(); i++) {
                if (Effort.isInTurn(i, sanitizers.size())) {
                    builds.add(sanitizers.get(i));
                }
            }
            return builds;
        }
    }

    /**
     * The scenarios are those of {@code stress.cpp}. The first number of operations is for threads without coalescing,
     * the second with it; 0 where there is no such case.
     */
    enum Scenario {
        MIX("1, 2, 5, 6, 7", 3000, 200),
        NARROW("1, 2, 6, 7", 7000, 200),
        EXACT("1, 2, 3, 6, 7", 1000, 100),
        ROOM("1, 3, 6", 3000, 100),
        EXHAUST("3, 7", 1, 1),
        MISUSE("3, 4, 8", 500, 0),
        CARELESS("8", 5000, 0),
        LARGE("4", 1, 0),
        MODEL("1, 3, 4, 6, 8", 50_000, 0),
        SPLIT("4", 1, 0),
        BUMP("3, 5, 7", 1500, 20),
        WRAP("3, 5, 7", 500, 100),
        TOGETHER("7", 500, 100),
        FOREIGN("8", 1, 1);

        private final String faults;
        private final int operations;
        private final int coalescedOperations;

        Scenario(final String faults, final int operations, final int coalescedOperations) {
            this.faults = faults;
            this.operations = operations;
            this.coalescedOperations = coalescedOperations;
        }

        boolean isFor(final Build build, final String order, final DeviceAllocator allocator, final boolean coalesced) {
            if (coalesced && coalescedOperations == 0) {
                return false;
            }
            // DeviceAllocatorInterleavingsTest and BitMallocInterleavingsTest try far more orders of these cases.
            if (build == Build.PLAIN && order.equals(IN_TURNS) && !coalesced && allocator.canFree()) {
                return false;
            }
            final boolean oneThread = this == LARGE || this == MODEL || this == SPLIT || this == FOREIGN;
            if (this == TOGETHER && !order.equals(IN_TURNS)) {
                return false;
            }
            // BitMalloc detects a second free only in its checked build. It may also refuse a block that fits, for a
            // moment (bit_search.cuh).
            final boolean bits = allocator.paperName().equals("BitMalloc");
            final boolean needsChecks = this == CARELESS || (this == MISUSE && bits);
            if ((oneThread && build.has("thread")) || (needsChecks && !build.has("OUTBOARD_CHECKED"))) {
                return false;
            }
            if (allocator == DeviceAllocator.XMALLOC) {
                return this == MIX || this == NARROW || this == FOREIGN;
            }
            return switch (this) {
                case ROOM -> allocator.canFree() && allocator != DeviceAllocator.CUDA_MALLOC && !bits;
                case BUMP -> allocator == DeviceAllocator.ATOMIC_MALLOC;
                case WRAP -> allocator == DeviceAllocator.AW_MALLOC;
                case TOGETHER -> allocator == DeviceAllocator.ATOMIC_MALLOC || allocator == DeviceAllocator.AW_MALLOC;
                case FOREIGN -> allocator != DeviceAllocator.CUDA_MALLOC;
                default -> allocator.canFree() && allocator != DeviceAllocator.CUDA_MALLOC;
            };
        }
    }

    record Case(Build build, String order, DeviceAllocator allocator, boolean coalesced, Scenario scenario, long seed) {

        String[] arguments() {
            final int most = coalesced ? scenario.coalescedOperations : scenario.operations;
            final int slowdown = Math.max(build.slowdown, order.equals(IN_TURNS) ? 5 : 1);
            return new String[] {
                allocator.paperName() + (coalesced ? "-coalesced" : ""),
                scenario.name().toLowerCase(Locale.ROOT),
                Long.toString(seed),
                Integer.toString(THREADS),
                Integer.toString(Math.max(1, most / slowdown)),
                order
            };
        }

        @Override
        public String toString() {
            return build + " " + order + ": "
                    + String.join(" ", List.of(arguments()).subList(0, 3)) + " (faults " + scenario.faults + ")";
        }
    }

    static List<Case> cases() {
        final List<Long> seeds =
                LongStream.rangeClosed(1, Effort.times()).boxed().toList();
        final List<Case> cases = new ArrayList<>();
        int index = 0;
        for (final Build build : Build.ofThisRun()) {
            for (final String order : build.orders.split(" ", -1)) {
                for (final DeviceAllocator allocator : DeviceAllocator.values()) {
                    for (final Scenario scenario : Scenario.values()) {
                        for (final boolean coalesced : new boolean[] {false, true}) {
                            if (scenario.isFor(build, order, allocator, coalesced)
                                    && Effort.isInTurn(index++ % CASES_PART, CASES_PART)) {
                                seeds.forEach(seed ->
                                        cases.add(new Case(build, order, allocator, coalesced, scenario, seed)));
                            }
                        }
                    }
                }
            }
        }
        return cases;
    }

    @BeforeAll
    static void compile() {
        for (final Build build : Build.ofThisRun()) {
            final Path program = FOLDER.resolve(build.name().toLowerCase(Locale.ROOT));
            PROGRAMS.put(build, new CpuProgram("stress.cpp", program, build.options.split(" ", -1)));
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void shouldHold(final Case each) {
        Objects.requireNonNull(PROGRAMS.get(each.build)).run(LIMIT_SECONDS, each.arguments());
    }
}
