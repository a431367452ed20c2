package io.outboard.bench.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
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

    @Test
    void shouldMeasureEveryPublishedRowWithAndWithoutCoalescing() {
        final List<KernelCase> cases = CasePlan.usual(contenders(), 5);

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
        final List<KernelCase> cases = CasePlan.usual(contenders(), 5);

        assertEquals(new HashSet<>(cases).size(), cases.size());
    }

    @Test
    void shouldMeasureThePointsOfTheFigures() {
        final Set<String> names = names(CasePlan.usual(contenders(), 5), "CFMMalloc");

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
    void shouldNotExhaustWhatNeverFails() {
        final List<KernelCase> cases = CasePlan.usual(contenders(), 5);

        for (final String endless : List.of("Empty", "AWMalloc", "AWMalloc coalesced")) {
            assertTrue(names(cases, endless).stream().noneMatch(name -> name.startsWith("OOM")), endless);
        }
    }

    @Test
    void shouldCompareRegistersWithThoseOfNoAllocatorInEveryRun() {
        final List<Contender> one = List.of(new Contender("CMalloc", false));

        for (final List<KernelCase> cases : List.of(CasePlan.usual(one, 5), CasePlan.quick(one))) {
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
                List.of("none"),
                2);

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
