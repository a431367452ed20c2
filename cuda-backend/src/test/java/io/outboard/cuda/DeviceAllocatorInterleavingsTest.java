package io.outboard.cuda;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The in-kernel allocators with the accesses of their threads in thousands of orders, each fixed by a seed
 * ({@code interleavings.cpp}). {@code -Doutboard.interleavings.times=100} tries a hundred times as many seeds.
 */
class DeviceAllocatorInterleavingsTest {

    private static final Path FOLDER = Path.of("target/interleavings");
    private static final long TIMES = Long.getLong("outboard.interleavings.times", 1);
    private static final long LIMIT_SECONDS = 60;

    private static CpuProgram unchecked;
    private static CpuProgram checked;

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        CpuProgram.assumeCompiler(FOLDER);
        unchecked = CpuProgram.compile("interleavings.cpp", FOLDER.resolve("interleavings"), "-O2");
        checked = CpuProgram.compile(
                "interleavings.cpp", FOLDER.resolve("interleavings-checked"), "-O2", "-DOUTBOARD_CHECKED");
    }

    @ParameterizedTest
    @EnumSource(names = {"C_MALLOC", "CF_MALLOC", "CM_MALLOC", "CFM_MALLOC"})
    void shouldKeepBlocksApartAndLoseNothing(final DeviceAllocator allocator) throws IOException, InterruptedException {
        run(unchecked, allocator, "mix", 20_000);
    }

    @ParameterizedTest
    @EnumSource(names = {"C_MALLOC", "CF_MALLOC", "CM_MALLOC", "CFM_MALLOC"})
    void shouldRefuseTheSecondOfTwoFreesAtOnce(final DeviceAllocator allocator)
            throws IOException, InterruptedException {
        run(checked, allocator, "double-free", 10_000);
    }

    @ParameterizedTest
    @EnumSource(names = {"C_MALLOC", "CF_MALLOC", "CM_MALLOC", "CFM_MALLOC"})
    void shouldFindWhatNobodyElseCanTake(final DeviceAllocator allocator) throws IOException, InterruptedException {
        run(unchecked, allocator, "null", 20_000);
    }

    private static void run(
            final CpuProgram program, final DeviceAllocator allocator, final String scenario, final long seeds)
            throws IOException, InterruptedException {
        program.run(LIMIT_SECONDS * TIMES, allocator.paperName(), scenario, "1", Long.toString(seeds * TIMES));
    }
}
