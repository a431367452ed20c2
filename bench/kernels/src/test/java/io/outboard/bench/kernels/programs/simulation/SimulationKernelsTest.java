package io.outboard.bench.kernels.programs.simulation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** This class runs the simulations' own kernels on the CPU, over each kind of store, and compares them with references. */
@Tag("thorough")
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SimulationKernelsTest {

    private static final List<String> OBJECTS = List.of("-DOUTBOARD_OBJECTS");
    private static final long HEAP = 8L << 20;
    private static final int STEPS = 30;

    @TempDir
    private Path folder;

    /** A run is a simulation of a small size, the name of its source and that of the store there. */
    record Run(Simulation simulation, int number, String source, String store, List<String> options) {

        @Override
        public String toString() {
            return simulation.name() + " " + String.join(" ", options);
        }
    }

    static Stream<Run> runs() {
        return Stream.of(
                new Run(new Wator(), 24, "wator", "Sea", OBJECTS),
                new Run(new Traffic(), 4, "traffic", "City", OBJECTS),
                new Run(new Life(), 32, "life", "World", OBJECTS),
                new Run(new Bodies(false), 64, "nbody", "Space", OBJECTS),
                new Run(new Bodies(true), 256, "collision", "Space", OBJECTS));
    }

    @ParameterizedTest
    @MethodSource("runs")
    void shouldComeToWhatTheReferenceComesTo(final Run run) throws InterruptedException {
        final Simulation simulation = run.simulation();
        final Simulation.Size size = new Simulation.Size("small", run.number(), STEPS, HEAP);
        final Simulation.Reference reference = simulation.reference(size);
        try (HostStage stage =
                HostStage.start(folder, run.source(), run.store(), run.options(), simulation.types(size), HEAP)) {
            simulation.start(stage, size);
            for (int step = 1; step <= STEPS; step++) {
                simulation.step(stage, step);
                reference.step();
            }

            assertArrayEquals(reference.picture(), picture(simulation, stage, size));
            assertEquals(0, stage.refused());
            assertEquals(0, stage.faults());
            if (run.options().equals(OBJECTS)) {
                assertEquals(LongStream.of(reference.counts()).sum(), stage.used());
            }
        }
    }

    private static int[] picture(final Simulation simulation, final HostStage stage, final Simulation.Size size) {
        final int length = simulation.pictureLength(size);
        stage.array(Stage.PICTURE, (long) length * Integer.BYTES);
        simulation.draw(stage);
        return stage.ints(Stage.PICTURE, length);
    }
}
