package io.outboard.bench.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** This class tests what becomes of the tests' frees where a warp's memory is freed at once: {@code arena_malloc.cuh}. */
@Tag("thorough")
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class ArenaMallocTest {

    /**
     * A request that gets nothing leaves no arena. Each of 30 warps has one while it holds a block; P's draws are the
     * same each time.
     */
    @ParameterizedTest
    @ValueSource(strings = {"ArenaMalloc", "JoiningArenaMalloc"})
    void shouldEndEachArenaWithItsLastBlock(final String form, @TempDir final Path folder)
            throws IOException, InterruptedException {
        final HostProgram program = new HostProgram(
                "arenas/arenas.cpp",
                folder,
                "-O1",
                "-fsanitize=address,undefined",
                "-fno-sanitize-recover=all",
                "-DOUTBOARD_ALLOCATOR=" + form + "<outboard::BitMalloc>");

        final String expected = " 0 0 30 0 0 0 16 16 0 0 0 0 0 0";
        assertEquals(
                List.of("4" + expected, "4064" + expected, "4065" + expected, "65536" + expected, "131072" + expected),
                program.run().lines().toList());
    }
}
