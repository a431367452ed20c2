package io.outboard.cuda.kernels;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
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

    @BeforeAll
    static void compile() {
        program = new CpuProgram("objects.cpp", Path.of("target/objects/objects"), CpuProgram.OPTIMISATION);
        borders = new CpuProgram("object_borders.cpp", Path.of("target/objects/object_borders"), "-O2");
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

    /** The types are those that {@code objects.cpp} declares. */
    @Test
    void shouldLayFieldsOutAsKernelsDo() {
        final Map<String, int[]> types = new LinkedHashMap<>();
        types.put("Cell", new int[] {8});
        types.put("Fish", new int[] {8, 4, 4, 1});
        types.put("Shark", new int[] {8, 8, 4, 4, 4, 8, 8, 8});
        types.put("Egg", new int[] {8});
        types.put("Pod", new int[] {8, 200});
        types.put("Whale", new int[] {8, 300});

        program.run(LIMIT_SECONDS, layoutOf(types));
    }

    /** The types have 64, 63, 17, 16 and 15 objects in a block, and one. */
    @Test
    void shouldCountSlotsAsKernelsDo() {
        final Map<String, int[]> types = new LinkedHashMap<>();
        types.put("Sixtyfour", new int[] {64});
        types.put("Sixtythree", new int[] {65});
        types.put("Seventeen", new int[] {240});
        types.put("Sixteen", new int[] {256});
        types.put("Fifteen", new int[] {8, 264});
        types.put("One", new int[] {4096});

        borders.run(LIMIT_SECONDS, layoutOf(types));
    }

    private static String[] layoutOf(final Map<String, int[]> types) {
        final ObjectLayout layout = ObjectLayout.of(types);
        return Stream.concat(
                        Stream.of(
                                "layout",
                                Long.toUnsignedString(layout.number()),
                                Integer.toString(layout.blockBytes())),
                        layout.slots().stream().map(Object::toString))
                .toArray(String[]::new);
    }
}
