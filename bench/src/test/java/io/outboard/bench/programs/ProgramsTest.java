package io.outboard.bench.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What programs are made of, without a GPU. */
class ProgramsTest {

    @ParameterizedTest
    @MethodSource("io.outboard.bench.programs.Programs#names")
    void shouldHaveKernelsForEachStore(final String program) {
        for (final Store store : Programs.named(program).stores()) {
            final String resource = store.resource(program);
            assertNotNull(Program.class.getResource(resource), resource);
        }
    }

    @ParameterizedTest
    @MethodSource("io.outboard.bench.programs.Programs#names")
    void shouldReadEachCaseAsItWasWritten(final String program) {
        for (final boolean quick : new boolean[] {false, true}) {
            final List<ProgramCase> cases = Programs.cases(program, quick);

            assertFalse(cases.isEmpty());
            cases.forEach(work -> assertEquals(work, ProgramCase.parse(work.line())));
            cases.forEach(work -> assertEquals(work.store().isCuda() ? work.heapBytes() : 0, work.driverHeapBytes()));
        }
    }

    @Test
    void shouldNameThePrograms() {
        final IllegalArgumentException failure =
                assertThrows(IllegalArgumentException.class, () -> Programs.named("chess"));

        assertEquals("program=chess must be one of " + Programs.names(), failure.getMessage());
    }
}
