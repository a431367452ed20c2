package io.outboard.cuda.internal.facade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.outboard.cuda.internal.memory.QuietCuda;
import io.outboard.pool.ReusePolicy;
import java.lang.management.ManagementFactory;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUstream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * This class tests that a caller that uses its pointers again makes no garbage: less than a byte an operation,
 * questions to the device included.
 */
class FacadeGarbageTest {

    private static final int OPERATIONS = 20_000;
    private static final int BLOCKS = 16;
    private static final int LEAST_RUNS = 8;
    private static final int MOST_RUNS = 100;

    private final CUdeviceptr[] pointers = new CUdeviceptr[BLOCKS];
    private final CUstream stream = new CUstream();

    @ParameterizedTest
    @EnumSource(names = {"STRICT", "IMMEDIATE"})
    void shouldMakeNone(final ReusePolicy policy) {
        final FakeProgram program = new FakeProgram(new QuietCuda(), policy);
        program.cuda.setDevice(0);
        for (int i = 0; i < BLOCKS; i++) {
            pointers[i] = new CUdeviceptr();
        }
        final ThreadMXBean threads = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);
        // The loop ends when limbo and the first region have reached their largest size, and the compiler is done,
        // which takes its time where other programs run.
        long bytes = Long.MAX_VALUE;
        for (int i = 0; i < MOST_RUNS && (i < LEAST_RUNS || bytes >= OPERATIONS); i++) {
            final long before = threads.getCurrentThreadAllocatedBytes();
            run(program);
            bytes = threads.getCurrentThreadAllocatedBytes() - before;
        }

        assertTrue(bytes < OPERATIONS, "bytes=" + bytes + " in " + OPERATIONS + " operations");
    }

    private void run(final FakeProgram program) {
        for (int i = 0; i < OPERATIONS / 4; i++) {
            final CUdeviceptr pointer = pointers[i % BLOCKS];
            int codes = program.runtime.cudaMalloc(pointer, 256 + (i % 7) * 300);
            codes |= program.driver.cuMemFree(pointer);
            codes |= program.driver.cuMemAllocAsync(pointer, 1000, stream);
            codes |= program.driver.cuMemFreeAsync(pointer, stream);
            assertEquals(0, codes);
        }
    }
}
