package io.outboard.cuda;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Warps with an arena each, on fibers: see {@code arenas.cpp}. */
@Tag("cpu-program")
class WarpArenaTest {

    private static final long LIMIT_SECONDS = 60;

    @Test
    void shouldKeepScratchApartAndFreeAllOfIt() {
        final CpuProgram program = new CpuProgram("arenas.cpp", Path.of("target/arenas/arenas"), "-O2");

        program.run(LIMIT_SECONDS, "warps", "scratch", "1", "5000");
    }
}
