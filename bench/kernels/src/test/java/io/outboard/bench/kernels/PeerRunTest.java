package io.outboard.bench.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.outboard.bench.kernels.report.KernelResult;
import java.util.List;
import org.junit.jupiter.api.Test;

class PeerRunTest {

    private static final Contender HALLOC = new Contender("Halloc", false);

    @Test
    void shouldTakeTheMedianOfTimesAndWhatWasCounted() {
        final KernelResult result = measured(of(TestKind.ACD), "printf '3\\n0\\n7\\n20.00\\n5.00\\n30.50\\n'");
        assertEquals(20, result.microseconds());
        assertEquals(3, result.number("nulls"));
        assertEquals("mismatches 7", result.failedChecks());
        assertEquals(3, result.number("runs"));
        assertEquals("Halloc", result.allocator());
    }

    @Test
    void shouldReadRegisters() {
        final KernelResult result = measured(KernelCase.registers(HALLOC), "printf '40\\n52\\n'");
        assertEquals(40, result.number("registers"));
        assertEquals(52, result.number("cycleRegisters"));
    }

    @Test
    void shouldSayWhatAProgramSaidThatFailed() {
        final IllegalStateException failure = assertThrows(
                IllegalStateException.class, () -> measured(of(TestKind.ADF), "echo one; echo two >&2; exit 3"));
        assertEquals("the peer's program ended with exit code 3: two", failure.getMessage());
    }

    @Test
    void shouldBeAskedForWhatItsProgramDoesAlone() {
        final List<KernelCase> cases = CasePlan.combinations(
                List.of(HALLOC),
                List.of(TestKind.values()),
                List.of("W256"),
                List.of(new long[] {16, 16}, new long[] {4, 1024}),
                List.of(KernelCase.HEAP_BYTES),
                List.of(),
                1,
                List.of(PreSplits.DEFAULT),
                1,
                true);
        assertEquals(
                PeerRun.TESTS.stream().sorted().toList(),
                cases.stream()
                        .filter(work -> work.contender().equals(HALLOC))
                        .map(KernelCase::test)
                        .distinct()
                        .sorted()
                        .toList());
        assertFalse(cases.stream().anyMatch(work -> work.contender().isPeer() && work.aged()));
    }

    private static KernelCase of(final TestKind test) {
        return new KernelCase(HALLOC, test, true, 256, 16, 16, 10, KernelCase.HEAP_BYTES, PreSplits.DEFAULT, 3);
    }

    private static KernelResult measured(final KernelCase work, final String script) {
        return KernelResult.parse(
                "peer",
                1,
                PeerRun.measured(work, "/bin/sh", List.of("-c", script)).toString());
    }
}
