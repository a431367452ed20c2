package io.outboard.bench.kernels.programs.simulation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** This class runs the simulations' own kernels on the CPU, over each kind of store, and compares them with references. */
@Tag("thorough")
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SimulationKernelsTest {

    private static final String OBJECTS = "-DOUTBOARD_OBJECTS";
    private static final String BITMAP_ALLOC = "-DOUTBOARD_ALLOCATOR=BitmapAlloc";
    private static final long HEAP = 8L << 20;
    private static final int STEPS = 30;

    @TempDir
    private Path folder;

    /**
     * A program is a simulation of a small size, the name of its source, and the name that the source gives its store.
     */
    record Program(Simulation simulation, int number, String source, String store, List<String> options) {

        @Override
        public String toString() {
            return simulation.name();
        }
    }

    private static final List<Program> PROGRAMS = List.of(
            new Program(new Wator(), 24, "wator", "Sea", List.of()),
            new Program(new Traffic(), 4, "traffic", "City", List.of()),
            new Program(new Life(false), 24, "life", "World", List.of()),
            new Program(new Life(true), 32, "life", "World", List.of("-DOUTBOARD_GENERATIONS")),
            new Program(new Bodies(false), 64, "nbody", "Space", List.of()),
            new Program(new Bodies(true), 256, "collision", "Space", List.of()),
            new Program(new Structure(), 64, "structure", "Plate", List.of()),
            new Program(new Sugarscape(), 24, "sugarscape", "Land", List.of()));

    /** All programs over objects of a heap and in arrays of fields, and some over the other kinds of stores. */
    static Stream<Arguments> runs() {
        return Stream.of(
                        PROGRAMS.stream().map(program -> Arguments.of(program, OBJECTS)),
                        PROGRAMS.stream().map(program -> Arguments.of(program, "-DOUTBOARD_ARRAYS=SOA")),
                        Stream.of(Arguments.of(PROGRAMS.get(0), "-DOUTBOARD_ARRAYS=AOS")),
                        PROGRAMS.stream()
                                .filter(program -> program.simulation() instanceof Wator
                                        || program.simulation() instanceof Life
                                        || program.simulation() instanceof Structure)
                                .map(program -> Arguments.of(program, BITMAP_ALLOC)))
                .flatMap(runs -> runs);
    }

    @ParameterizedTest
    @MethodSource("runs")
    void shouldComeToWhatTheReferenceComesTo(final Program program, final String store) throws InterruptedException {
        final Simulation simulation = program.simulation();
        final Simulation.Size size = new Simulation.Size("small", program.number(), STEPS, HEAP);
        final Simulation.Reference reference = simulation.reference(size);
        final List<String> options = new ArrayList<>(program.options());
        options.add(store);
        try (ProcessStage stage =
                HostStage.start(folder, program.source(), program.store(), options, simulation.types(size), HEAP)) {
            simulation.start(stage, size);
            for (int step = 1; step <= STEPS; step++) {
                simulation.step(stage, step);
                reference.step();
            }

            assertEquals(0, stage.refused());
            assertArrayEquals(reference.picture(), picture(simulation, stage, size));
            assertEquals(0, stage.faults());
            if (store.equals(OBJECTS) || store.equals(BITMAP_ALLOC)) {
                assertEquals(LongStream.of(reference.counts()).sum(), stage.used());
            }
        }
    }

    private static int[] picture(final Simulation simulation, final ProcessStage stage, final Simulation.Size size) {
        final int length = simulation.pictureLength(size);
        stage.array(Stage.PICTURE, (long) length * Integer.BYTES);
        simulation.draw(stage);
        return stage.ints(Stage.PICTURE, length);
    }
}
