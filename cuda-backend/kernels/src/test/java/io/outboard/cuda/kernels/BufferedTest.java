package io.outboard.cuda.kernels;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * This class tests buffers of blocks before an allocator, with the accesses of their threads in thousands of orders,
 * each fixed by a seed, of which each run tries a part: see {@code buffers.cpp} and {@link io.outboard.core.Effort}.
 */
@Tag("thorough")
class BufferedTest {

    private static final long LIMIT_SECONDS = 60;

    private static CpuProgram program;

    @BeforeAll
    static void compile() {
        program = new CpuProgram("buffers.cpp", Path.of("target/buffers/buffers"), "-O2");
    }

    @ParameterizedTest
    @CsvSource({
        "mix, 4000",
        "queue, 4000",
        "stalled, 20000",
        "full, 400",
        "drained, 2000",
        "reused, 500",
        "parts, 2000",
        "xmalloc, 2000",
        "weak-xmalloc, 2000",
        "weak-mix, 2000",
        "weak-queue, 4000",
        "weak-stalled, 20000",
        "weak-full, 40"
    })
    void shouldKeepBlocksApartAndStrandNone(final String scenario, final long seeds) {
        program.trySeeds(LIMIT_SECONDS, "alone", scenario, seeds);
    }

    @Test
    void shouldHaveTheSmallestClassForEachSize() {
        program.run(LIMIT_SECONDS, "classes", "0", "0", "0");
    }
}
