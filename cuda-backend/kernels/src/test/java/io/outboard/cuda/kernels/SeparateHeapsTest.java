package io.outboard.cuda.kernels;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * This class tests lanes of a warp with heaps of their own, on fibers, and the sizes of a heap: see {@code heaps.cpp}.
 */
@Tag("thorough")
class SeparateHeapsTest {

    private static final long LIMIT_SECONDS = 60;

    private static CpuProgram program;

    @BeforeAll
    static void compile() {
        program = new CpuProgram("heaps.cpp", Path.of("target/heaps/heaps"), "-Og");
    }

    /** A thread that is served for the warp once used the first lane's heap for all. */
    @ParameterizedTest
    @ValueSource(
            strings = {"BitMalloc", "AtomicMalloc", "Uncoalesced", "Coalesced", "Buffered", "WarpArena", "ObjectHeap"})
    void shouldServeEachLaneOfItsOwnHeap(final String allocator) {
        program.trySeeds(LIMIT_SECONDS, "warps", allocator, 300);
    }

    @Test
    void shouldMakeNoHeapOfTooFewOrTooManyBytes() {
        program.run(LIMIT_SECONDS, "warps", "sizes", "1", "1");
    }
}
