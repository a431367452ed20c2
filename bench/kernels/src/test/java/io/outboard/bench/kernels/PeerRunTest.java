package io.outboard.bench.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.outboard.bench.kernels.report.KernelResult;
import java.io.IOException;
import java.io.UncheckedIOException;
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
    void shouldFailWithAProgramThatFails() {
        final IllegalStateException failure =
                assertThrows(IllegalStateException.class, () -> measured(of(TestKind.ADF), "echo 1; exit 3"));
        assertEquals("the program's exit code is 3", failure.getMessage());
    }

    @Test
    void shouldTellTheProgramAllOfItsCase() {
        final KernelCase work = new KernelCase(
                HALLOC, TestKind.ACD, true, 1024, 16, 48, 10, KernelCase.HEAP_BYTES, PreSplits.DEFAULT, 3);
        assertEquals(
                List.of("7", "ACD", "1024", "32", "16", "48", "10", "2147483648", "3"), PeerRun.arguments(work, 7));
    }

    /** No test of another kind is planned for a published allocator, and none without the paper. */
    @Test
    void shouldDoThePapersTestsAlone() {
        assertEquals(
                List.of(TestKind.REGISTERS, TestKind.ADF, TestKind.ACD, TestKind.P),
                CasePlan.figures(List.of(HALLOC), 5).stream()
                        .filter(work -> work.contender().isPeer())
                        .map(KernelCase::test)
                        .distinct()
                        .toList());
        assertFalse(Contender.names().contains(HALLOC.name()));
    }

    private static KernelCase of(final TestKind test) {
        return new KernelCase(HALLOC, test, true, 256, 16, 16, 10, KernelCase.HEAP_BYTES, PreSplits.DEFAULT, 3);
    }

    private static KernelResult measured(final KernelCase work, final String script) {
        try {
            final Process process = new ProcessBuilder("/bin/sh", "-c", script).start();
            return KernelResult.parse("peer", 1, PeerRun.measured(work, process).toString());
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
