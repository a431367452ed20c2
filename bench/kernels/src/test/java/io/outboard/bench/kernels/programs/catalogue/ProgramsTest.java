package io.outboard.bench.kernels.programs.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.kernels.programs.Program;
import io.outboard.bench.kernels.programs.ProgramCase;
import io.outboard.bench.kernels.programs.Store;
import io.outboard.bench.kernels.programs.simulation.Bodies;
import io.outboard.bench.kernels.programs.simulation.Life;
import io.outboard.bench.kernels.programs.simulation.Simulation;
import io.outboard.bench.kernels.programs.simulation.Structure;
import io.outboard.bench.kernels.programs.simulation.Sugarscape;
import io.outboard.bench.kernels.programs.simulation.Traffic;
import io.outboard.bench.kernels.programs.simulation.Wator;
import io.outboard.bench.kernels.worker.MadeKernels;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** This class tests the parts of programs, without a GPU. */
class ProgramsTest {

    @ParameterizedTest
    @MethodSource("io.outboard.bench.kernels.programs.catalogue.Programs#names")
    void shouldHaveKernelsForEachStore(final String program) {
        MadeKernels.requireAll();
        for (final Store store : Programs.named(program).stores()) {
            final String resource = store.resource(program);
            assertNotNull(Program.class.getResource(resource), resource);
        }
    }

    @ParameterizedTest
    @MethodSource("io.outboard.bench.kernels.programs.catalogue.Programs#names")
    void shouldReadEachCaseAsItWasWritten(final String program) {
        for (final boolean quick : new boolean[] {false, true}) {
            final List<ProgramCase> cases = Programs.cases(program, quick);

            assertFalse(cases.isEmpty());
            cases.forEach(work -> assertEquals(work, ProgramCase.parse(work.line())));
            cases.forEach(work -> assertEquals(work.store().isCuda() ? work.heapBytes() : 0, work.driverHeapBytes()));
        }
    }

    @ParameterizedTest
    @MethodSource("io.outboard.bench.kernels.programs.catalogue.Programs#names")
    void shouldRunNoCaseTwiceButLongOnes(final String program) {
        final List<ProgramCase> cases = Programs.cases(program, false).stream()
                .filter(work -> work.mode() != ProgramCase.Mode.LONG)
                .toList();

        assertEquals(cases.size(), cases.stream().distinct().count());
    }

    /** Only the same steps can be compared, since their times differ. */
    @ParameterizedTest
    @MethodSource("simulations")
    void shouldHaveTheSameStepsWithOtherStoresAsWithCudasAllocator(final Simulation simulation) {
        final Program program = Programs.named(simulation.name());
        final ProgramCase cuda = program.cases(new Store("CudaMalloc"), false).get(0);

        for (final Store store : List.of(Store.OBJECT_HEAP, new Store("BitMalloc"))) {
            final ProgramCase same =
                    new ProgramCase(cuda.program(), store, cuda.size(), cuda.mode(), cuda.heapBytes(), cuda.steps());
            assertTrue(program.cases(store, false).contains(same), same::line);
        }
    }

    @ParameterizedTest
    @MethodSource("simulations")
    void shouldCountTheObjectsOfAPicture(final Simulation simulation) {
        final Simulation.Reference reference =
                simulation.reference(simulation.sizes().get(0));

        for (int step = 0; step < 3; step++) {
            assertEquals(LongStream.of(reference.counts()).sum(), simulation.objectsIn(reference.picture()));
            reference.step();
        }
    }

    /** Orders have the same kernels, and names of their own in results. */
    @Test
    void shouldRunAnObjectHeapInEachOrder() {
        final ProgramCase near = Programs.cases("wator", true).get(0);
        final ProgramCase paper = near.with(Store.ordered("paper"));

        assertEquals(near, paper.with(Store.ordered("near")));
        assertEquals(paper, ProgramCase.parse(paper.line()));
        assertEquals("ObjectHeap paper", paper.store().label());
        assertEquals(near.resource(), paper.resource());
        assertTrue(paper.store().isObjectHeap());
        assertTrue(paper.store().allocator().isEmpty());
        assertFalse(Store.AOS.isObjectHeap());
    }

    static List<Simulation> simulations() {
        return List.of(
                new Wator(),
                new Traffic(),
                new Life(false),
                new Life(true),
                new Bodies(false),
                new Bodies(true),
                new Structure(),
                new Sugarscape());
    }

    @Test
    void shouldNameThePrograms() {
        final IllegalArgumentException failure =
                assertThrows(IllegalArgumentException.class, () -> Programs.named("chess"));

        assertEquals("program=chess must be one of " + Programs.names(), failure.getMessage());
    }
}
