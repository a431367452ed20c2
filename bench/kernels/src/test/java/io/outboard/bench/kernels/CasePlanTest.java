package io.outboard.bench.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class CasePlanTest {

    /** The rows in which published allocators were measured, as the report's data names them. */
    private static final List<String> PUBLISHED_ROWS = List.of(
            "AD T10k 16 B",
            "AD T10k 8 KiB",
            "AD T10k 64 KiB",
            "AD T100k 16 B",
            "AD T100k 256 B",
            "AD T100k 8 KiB",
            "AD T1M 16 B",
            "AD T1M 256 B",
            "AD W1M 256 B",
            "AD fused W30k 16 B",
            "AD fused W30k 64 KiB",
            "MIX T10k 4..65536",
            "MIX T100k 4..1024",
            "MIX T1M 4..1024",
            "MIX W1M 4..65536",
            "ACD W30k 16 B",
            "ACD T100k 16 B",
            "P T100k 16 B",
            "OOM T10k 64 B",
            "OOM T10k 1 KiB",
            "OOM T10k 64 KiB");

    private static final String FILL = "FILL T10k 64 B";

    private static final List<Long> HEAPS = List.of(KernelCase.HEAP_BYTES);

    @Test
    void shouldMeasureEveryPublishedRowWithAndWithoutCoalescing() {
        final List<KernelCase> cases = usual(contenders());

        for (final String allocator : List.of("CFMMalloc", "CFMMalloc coalesced", "CMalloc", "CMMalloc coalesced")) {
            assertTrue(names(cases, allocator).containsAll(PUBLISHED_ROWS), allocator);
        }
        final Set<String> cuda = names(cases, "CudaMalloc");
        assertEquals(
                List.of("OOM T10k 64 B", "OOM T10k 1 KiB"),
                PUBLISHED_ROWS.stream().filter(name -> !cuda.contains(name)).toList(),
                "what would take minutes");
    }

    @Test
    void shouldHoldEachCaseOnce() {
        final List<KernelCase> cases = usual(contenders());

        assertEquals(
                cases.size(),
                cases.stream()
                        .map(work -> work.contender().label() + " " + work.name())
                        .distinct()
                        .count());
    }

    @Test
    void shouldMeasureThePointsOfTheFigures() {
        final Set<String> names = names(CasePlan.figures(contenders(), 5), "CFMMalloc");

        for (final String size : List.of("4 B", "16 B", "256 B", "1 KiB", "8 KiB", "64 KiB", "128 KiB")) {
            assertTrue(names.contains("AD fused W30k " + size), size);
            assertTrue(names.contains("AD W30k " + size), size);
            assertTrue(names.contains("ACD W30k " + size), size);
            assertTrue(names.contains("ACD W30k " + size + ", uniform:4096"), size);
        }
        for (final String other : List.of(
                "ACD W30k 4 B, 128 KiB heap",
                "ACD W30k 4 B, 512 MiB heap",
                "ACD W30k 4 B, 20 iterations",
                "ACD W30k 4 B, 100 iterations",
                "P W256 4 B",
                "P W30k 4 B")) {
            assertTrue(names.contains(other), other);
        }
    }

    @Test
    void shouldMeasureLinkedKernelsInTheTableAlone() {
        final Set<String> linked = names(usual(List.of(new Contender("CFMMalloc", false, true))), "CFMMalloc linked");

        assertTrue(linked.containsAll(PUBLISHED_ROWS));
        assertEquals(
                Set.of("registers"),
                names(CasePlan.figures(List.of(new Contender("CFMMalloc", false, true)), 5), "CFMMalloc linked"));
    }

    @Test
    void shouldNotExhaustWhatNeverFails() {
        final List<KernelCase> cases = usual(contenders());

        for (final String endless : List.of("Empty", "AWMalloc", "AWMalloc coalesced")) {
            assertTrue(
                    names(cases, endless).stream().noneMatch(name -> name.startsWith("OOM") || name.equals(FILL)),
                    endless);
        }
    }

    /** An arena frees all that its warp has at once. */
    @Test
    void shouldTestArenasWhereOneThreadOfAWarpFreesAllThatItHas() {
        final List<KernelCase> cases = new ArrayList<>(usual(contenders()));
        cases.addAll(CasePlan.figures(contenders(), 5));

        for (final String arena : List.of("FDGMalloc", "WarpArena")) {
            final Set<String> names = names(cases, arena);
            assertTrue(names.containsAll(List.of(
                    "registers",
                    "AD W1M 256 B",
                    "AD fused W30k 4 B",
                    "ACD W30k 4 B, 100 iterations",
                    "ACD W30k 4 B, 512 MiB heap",
                    "P W30k 4 B")));
            assertTrue(names.stream().allMatch(name -> name.matches("registers|(AD|AD fused|ACD|P) W.*")), arena);
            assertFalse(names.contains("AD W30k 64 B"), "fragmentation is of heaps");
            assertTrue(cases.stream()
                    .noneMatch(work -> work.aged() && work.contender().isArena()));
            assertTrue(CasePlan.quick(contenders()).stream()
                    .filter(work -> work.contender().isArena())
                    .allMatch(work -> work.perWarp() || work.test() == TestKind.REGISTERS));
        }
    }

    @Test
    void shouldAgeHeapsOfTheTableWhereSomethingIsFreed() {
        final List<KernelCase> cases = usual(contenders());

        final Set<String> aged = names(cases.stream().filter(KernelCase::aged).toList(), "CFMMalloc");
        assertTrue(aged.containsAll(List.of("AD T10k 16 B", "AD fused W30k 16 B", "ACD T100k 16 B", "P T100k 16 B")));
        assertTrue(aged.contains("MIX T1M 4..1024"));
        assertTrue(aged.stream().noneMatch(name -> name.startsWith("OOM") || name.equals(FILL)), "use all anyway");
        for (final String other : List.of("Empty", "AtomicMalloc", "AWMalloc coalesced", "CudaMalloc")) {
            assertTrue(
                    names(cases, other).size() > 1
                            && cases.stream()
                                    .noneMatch(work -> work.aged()
                                            && work.contender().label().equals(other)),
                    other);
        }
        assertTrue(CasePlan.usual(contenders(), 5, false, 10, HEAPS, EnumSet.allOf(PlanPart.class)).stream()
                .noneMatch(KernelCase::aged));
    }

    @Test
    void shouldChurnForAsLongAsIsSaidWithSizesOfItsOwn() {
        final List<KernelCase> cases = CasePlan.combinations(
                List.of(Contender.empty(), new Contender("AWMalloc", false), new Contender("CMalloc", true)),
                List.of(TestKind.CHURN),
                List.of("T10240"),
                List.of(new long[] {16, 16}, new long[] {4, 64}),
                List.of(KernelCase.HEAP_BYTES),
                List.of(3),
                480,
                List.of(PreSplits.DEFAULT),
                5,
                true);

        final List<KernelCase> churns =
                cases.stream().filter(work -> work.test() == TestKind.CHURN).toList();
        assertEquals(1, churns.size(), "others never fail, or overwrite");
        assertEquals("CHURN T10k 4..1048576, 480 s", churns.get(0).name());
        assertEquals(480, churns.get(0).seconds());
        assertFalse(churns.get(0).aged(), "it ages by itself");
    }

    @Test
    void shouldFillAHeapInTwelveParts() {
        final List<KernelCase> fills = usual(contenders()).stream()
                .filter(work -> work.test() == TestKind.FILL)
                .toList();

        assertTrue(names(fills, "AtomicMalloc").contains(FILL));
        assertTrue(names(fills, "CFMMalloc coalesced").contains(FILL));
        assertTrue(names(fills, "CudaMalloc").isEmpty(), "25 million blocks would take minutes");
        for (final KernelCase fill : fills) {
            assertEquals(200, CaseKernels.partRounds(fill));
            assertEquals(fill.slots(), fill.pointers(), "the blocks are a list through themselves");
            assertTrue(fill.demandBytes() < 0.8 * fill.heapBytes(), "nothing fails");
        }
    }

    @Test
    void shouldCompareRegistersWithThoseOfNoAllocatorInEveryRun() {
        final List<Contender> one = List.of(new Contender("CMalloc", false));

        for (final List<KernelCase> cases : List.of(usual(one), CasePlan.quick(one))) {
            assertEquals(
                    List.of("Empty", "CMalloc"),
                    cases.stream()
                            .filter(work -> work.test() == TestKind.REGISTERS)
                            .map(work -> work.contender().label())
                            .toList());
        }
    }

    @Test
    void shouldKeepTheQuickRunSmallAndComplete() {
        final List<KernelCase> cases = CasePlan.quick(List.of(new Contender("CMalloc", false)));

        assertTrue(cases.stream()
                .filter(work -> work.test() != TestKind.REGISTERS)
                .allMatch(work -> work.threads() <= 1024 && work.heapBytes() <= 64 << 20));
        assertEquals(
                Set.of(TestKind.values()), cases.stream().map(KernelCase::test).collect(Collectors.toSet()));
    }

    @Test
    void shouldCombineWhatIsGiven() {
        final List<KernelCase> cases = CasePlan.combinations(
                List.of(new Contender("CMalloc", false), new Contender("CMalloc", true)),
                List.of(TestKind.AD, TestKind.MIX, TestKind.ACD),
                List.of("T1024", "W2048"),
                List.of(new long[] {16, 16}, new long[] {4, 64}),
                List.of(1L << 20),
                List.of(3, 4),
                10,
                List.of("none"),
                2,
                false);

        final String tail = ", 1 MiB heap, none";
        final List<String> expected = List.of(
                "AD T1k 16 B" + tail,
                "AD W2k 16 B" + tail,
                "MIX T1k 4..64" + tail,
                "MIX W2k 4..64" + tail,
                "ACD T1k 16 B, 3 iterations" + tail,
                "ACD T1k 16 B, 4 iterations" + tail,
                "ACD W2k 16 B, 3 iterations" + tail,
                "ACD W2k 16 B, 4 iterations" + tail);
        final List<KernelCase> run =
                cases.stream().filter(work -> work.test() != TestKind.REGISTERS).toList();
        assertEquals(expected, run.stream().map(KernelCase::name).distinct().toList());
        assertEquals(2 * expected.size(), run.size());
        assertTrue(run.stream().allMatch(work -> work.runs() == 2));
    }

    @Test
    void shouldJudgeTheNewestAllocatorInEveryFormByEveryCase() {
        final String newest = Contender.names().contains("BitMalloc") ? "BitMalloc" : "CFMMalloc";
        final List<KernelCase> cases = CasePlan.usual(contenders(), 5, true, 7, HEAPS, EnumSet.of(PlanPart.MAIN));

        final Set<String> main = names(cases, newest);
        for (final String threads : List.of("T1k", "T10k", "W1k", "W10k", "W100k")) {
            for (final String size : List.of("16 B", "64 B", "256 B", "1 KiB", "4 KiB", "8 KiB", "64 KiB", "128 KiB")) {
                assertTrue(main.contains("AD " + threads + " " + size), threads + " " + size);
            }
        }
        assertTrue(main.containsAll(PUBLISHED_ROWS));
        assertTrue(main.containsAll(List.of(
                FILL,
                "CHURN T10k 4..1048576, 7 s",
                "OOM T10k 640 B",
                "OOM T10k 1040 B",
                "P T1k 256 B",
                "AD fused T1M 256 B",
                "AD T1M 1 KiB",
                "AD W1M 8 KiB",
                "ACD T100k 256 B",
                "AD fused W30k 4 KiB")));
        assertEquals(main, names(cases, newest + " coalesced"));
        assertEquals(main, names(cases, "CFMMalloc coalesced"));
        assertTrue(names(cases, "Empty").contains("AD W1M 8 KiB"), "what the kernels take by themselves");
        assertEquals(Set.of("registers"), names(cases, "CMalloc"), "the family has a table of its own");
        assertEquals(Set.of("registers"), names(cases, "CudaMalloc"));
    }

    @Test
    void shouldMeasureEveryCaseThatPeersWereMeasuredIn() throws IOException {
        final Set<String> main = names(
                CasePlan.usual(contenders(), 5, true, 10, HEAPS, EnumSet.of(PlanPart.MAIN)), "CFMMalloc coalesced");

        try (InputStream peers =
                CasePlan.class.getResourceAsStream("/io/outboard/bench/kernels/report/kernel-peers.csv")) {
            new String(Objects.requireNonNull(peers).readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#") && !line.startsWith("case,"))
                    .map(line -> line.substring(0, line.indexOf(',')))
                    .forEach(name -> assertTrue(main.contains(name), name));
        }
    }

    @Test
    void shouldHaveTheSameCasesAndMoreInALargerHeap() {
        final Set<KernelCase> usual = new HashSet<>();
        final Set<KernelCase> larger = new HashSet<>();
        usualIn(HEAPS).forEach(work -> usual.add(work.withHeap(8L << 30, PreSplits.DEFAULT)));
        usualIn(List.of(8L << 30)).forEach(larger::add);

        assertTrue(larger.containsAll(usual));
        assertTrue(larger.size() > usual.size());
        assertTrue(larger.stream().map(KernelCase::name).anyMatch("AD T100k 64 KiB, 8 GiB heap"::equals));
    }

    private static List<KernelCase> usualIn(final List<Long> heaps) {
        return CasePlan.usual(contenders(), 5, false, 10, heaps, EnumSet.of(PlanPart.MAIN)).stream()
                .filter(work -> work.test() != TestKind.REGISTERS)
                .toList();
    }

    @Test
    void shouldAskForNoMoreThanAHeapHolds() {
        for (final long heapBytes : new long[] {KernelCase.HEAP_BYTES, 8L << 30}) {
            for (final MainCases.Row row : MainCases.rows(heapBytes)) {
                // CHURN itself steers how much is in use.
                if (row.test() != TestKind.CHURN) {
                    assertTrue(MainCases.demandBytes(row) < 0.95 * heapBytes, row.toString());
                }
            }
        }
        assertEquals(320.0 * 131072, MainCases.demandBytes(new MainCases.Row(TestKind.AD, "W10240", 131072, 131072)));
        assertEquals(10240.0 * 10 * 16, MainCases.demandBytes(new MainCases.Row(TestKind.ACD, "T10240", 16, 16)));
    }

    @Test
    void shouldHaveInEachPartWhatNoOtherHas() {
        for (final PlanPart part : PlanPart.values()) {
            final Set<KernelCase> own = new HashSet<>(part(EnumSet.of(part)));

            own.removeAll(part(EnumSet.complementOf(EnumSet.of(part))));

            assertFalse(own.isEmpty(), part.toString());
        }
    }

    private static List<KernelCase> part(final Set<PlanPart> parts) {
        return CasePlan.usual(contenders(), 5, false, 10, HEAPS, parts);
    }

    private static List<KernelCase> usual(final List<Contender> contenders) {
        return CasePlan.usual(contenders, 5, true, 10, HEAPS, EnumSet.allOf(PlanPart.class));
    }

    private static List<Contender> contenders() {
        final List<Contender> contenders = new ArrayList<>();
        for (final String name : Contender.names()) {
            contenders.add(new Contender(name, false));
            if (!name.equals(Contender.EMPTY)) {
                contenders.add(new Contender(name, true));
            }
        }
        return contenders;
    }

    private static Set<String> names(final List<KernelCase> cases, final String contender) {
        return cases.stream()
                .filter(work -> work.contender().label().equals(contender))
                .map(KernelCase::name)
                .collect(Collectors.toSet());
    }
}
