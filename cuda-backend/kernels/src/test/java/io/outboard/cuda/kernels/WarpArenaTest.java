package io.outboard.cuda.kernels;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** This class tests warps with an arena each, on fibers: see {@code arenas.cpp}. */
@Tag("thorough")
class WarpArenaTest {

    private static final long LIMIT_SECONDS = 60;

    private static CpuProgram program;

    @BeforeAll
    static void compile() {
        program = new CpuProgram("arenas.cpp", Path.of("target/arenas/arenas"), "-O2");
    }

    @ParameterizedTest
    @CsvSource({"scratch, 5000", "alone, 3000", "lives, 500", "weak-lives, 300"})
    void shouldKeepScratchApartAndFreeAllOfIt(final String scenario, final long seeds) {
        program.trySeeds(LIMIT_SECONDS, "warps", scenario, seeds);
    }

    @Test
    void shouldTakeFewChunksForRequestsOfAnySize() {
        program.trySeeds(LIMIT_SECONDS, "warps", "grows", 500);
    }
}
