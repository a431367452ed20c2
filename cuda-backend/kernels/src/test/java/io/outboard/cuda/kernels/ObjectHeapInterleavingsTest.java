package io.outboard.cuda.kernels;

import static io.outboard.cuda.kernels.ObjectField.field;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * This class tests {@code ObjectHeap} with the accesses of its threads in thousands of orders, each fixed by a seed
 * ({@code objects.cpp}), of which each run tries a part: see {@link io.outboard.core.Effort}.
 */
@Tag("thorough")
class ObjectHeapInterleavingsTest {

    private static final long LIMIT_SECONDS = 60;

    private static CpuProgram program;
    private static CpuProgram borders;
    private static CpuProgram types;

    @BeforeAll
    static void compile() {
        program = new CpuProgram("objects.cpp", Path.of("target/objects/objects"), CpuProgram.OPTIMISATION);
        borders = new CpuProgram("object_borders.cpp", Path.of("target/objects/object_borders"), "-O2");
        types = new CpuProgram("object_types.cpp", Path.of("target/objects/object_types"), CpuProgram.OPTIMISATION);
    }

    @ParameterizedTest
    @CsvSource({
        "alone, mix, 1500",
        "alone, turns, 3000",
        "alone, do-all, 3000",
        "alone, misuse, 1000",
        "alone, roomy, 2000",
        "alone, aba, 2000",
        "alone, weak-aba, 1000",
        "alone, stranded, 50",
        "alone, contested, 50",
        "alone, order, 30",
        "alone, crowded, 40",
        "alone, weak-crowded, 20",
        "alone, tops, 1",
        "alone, weak-mix, 500",
        "alone, weak-turns, 3000",
        "alone, weak-do-all, 1000",
        "warps, mix, 500",
        "warps, turns, 1000",
        "warps, do-all, 1000",
        "warps, misuse, 500",
        "warps, roomy, 500",
        "warps, order, 15",
        "warps, crowded, 20",
        "warps, lanes, 500",
        "warps, weak-mix, 200",
        "warps, weak-turns, 1000",
        "warps, weak-do-all, 300",
        "warps, weak-lanes, 300"
    })
    void shouldKeepObjectsApartAndLoseNothing(final String threads, final String scenario, final long seeds) {
        program.trySeeds(LIMIT_SECONDS, threads, scenario, seeds);
    }

    /**
     * Heaps have an exact number of blocks, and types an exact number of slots: {@code object_borders.cpp}. The first
     * seed is 0.
     */
    @ParameterizedTest
    @CsvSource({
        "alone, full, 35",
        "warps, full, 35",
        "alone, thresholds, 35",
        "alone, sizes, 2000",
        "alone, none, 100",
        "warps, none, 100"
    })
    void shouldBeExactAtBorders(final String threads, final String scenario, final String lastSeed) {
        borders.run(LIMIT_SECONDS, threads, scenario, "0", lastSeed);
    }

    /**
     * The seeds showed bugs that were fixed: threads that share a place, one of which had got nothing, left a block
     * that doesn't exist as a guess.
     */
    @ParameterizedTest
    @CsvSource({"warps, mix, 3237", "warps, turns, 10962"})
    void shouldPassSeedsThatFailed(final String threads, final String scenario, final String seed) {
        program.run(LIMIT_SECONDS, threads, scenario, seed, seed);
    }

    /** Some types extend others: {@code object_types.cpp}. */
    @ParameterizedTest
    @CsvSource({
        "alone, mix, 3000",
        "alone, do-all, 3000",
        "alone, weak-mix, 1000",
        "alone, weak-do-all, 1000",
        "warps, mix, 1000",
        "warps, do-all, 1000",
        "warps, weak-mix, 500",
        "warps, weak-do-all, 500"
    })
    void shouldTellWhatAnObjectIs(final String threads, final String scenario, final long seeds) {
        types.trySeeds(LIMIT_SECONDS, threads, scenario, seeds);
    }

    /** The types are those that {@code objects.cpp} declares. */
    @Test
    void shouldLayFieldsOutAsKernelsDo() {
        final ObjectHeapBuilder builder = builder()
                .type("Cell", field("mark", 8))
                .type("Fish", field("mark", 8), field("x", 4), field("y", 4), field("tail", 1))
                .type(
                        "Shark",
                        field("weight", 8),
                        field("mark", 8),
                        field("a", 4),
                        field("b", 4),
                        field("c", 4),
                        field("d", 8),
                        field("e", 8),
                        field("f", 8))
                .type("Egg", field("mark", 8))
                .type("Pod", field("mark", 8), field("rest", 200))
                .type("Whale", field("mark", 8), field("rest", 300));

        program.run(LIMIT_SECONDS, numbers(builder.layout()));
    }

    /** The types have 64, 63, 17, 16 and 15 objects in a block, and one, of more bytes than the builder allows. */
    @Test
    void shouldCountSlotsAsKernelsDo() {
        final List<DeclaredType> six = Stream.of(
                        List.of(64), List.of(65), List.of(240), List.of(256), List.of(8, 264), List.of(4096))
                .map(bytes -> new DeclaredType(
                        "", null, false, bytes, List.of("first", "bytes").subList(2 - bytes.size(), 2)))
                .toList();

        borders.run(LIMIT_SECONDS, numbers(ObjectLayout.of(six)));
    }

    /** The types are those that {@code object_types.cpp} declares: names and bases count, too. */
    @Test
    void shouldPlaceFieldsOfSubtypesAsKernelsDo() {
        final ObjectLayout layout = builder()
                .abstractType("Thing", field("kind", 4), field("mark", 8))
                .subtype("Rock", "Thing")
                .subtype("Animal", "Thing", field("x", 4), field("tail", 1))
                .abstractSubtype("Swimmer", "Animal")
                .abstractSubtype("Hunter", "Swimmer")
                .subtype("Fish", "Swimmer", field("weight", 8))
                .type("Cell", field("mark", 8), field("kind", 4), field("other", 8))
                .subtype("Shark", "Hunter", field("teeth", 200))
                .layout();
        final List<String> numbers = new ArrayList<>(List.of(numbers(layout)));
        for (int type = 0; type < layout.types().size(); type++) {
            for (int number = 0; number < layout.types().get(type).fieldBytes().length; number++) {
                numbers.add(Integer.toString(layout.offsetOf(type, number)));
            }
        }

        types.run(LIMIT_SECONDS, numbers.toArray(String[]::new));
    }

    private static ObjectHeapBuilder builder() {
        return ObjectHeap.over(1 << 20, 1 << 20);
    }

    private static String[] numbers(final ObjectLayout layout) {
        return Stream.concat(
                        Stream.of(
                                "layout",
                                Long.toUnsignedString(layout.number()),
                                Integer.toString(layout.blockBytes())),
                        layout.slots().stream().map(Object::toString))
                .toArray(String[]::new);
    }
}
