package io.outboard.cuda.internal.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import jcuda.runtime.cudaError;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * This class tests that marking, asking and waiting make no garbage, whatever the answer, even before the code is
 * compiled.
 */
class ContextWorkGarbageTest {

    private static final int OPERATIONS = 2_000;

    private final QuietCuda cuda = new QuietCuda();
    private final ContextWork work = new ContextWork(new CudaContext(cuda, 0xC0_0000, 0, new StreamCaptures()));

    @ParameterizedTest
    @ValueSource(ints = {cudaError.cudaSuccess, cudaError.cudaErrorNotReady})
    void shouldMakeNone(final int answer) {
        cuda.answer(answer);
        run(2);
        final ThreadMXBean threads = ManagementFactory.getPlatformMXBean(ThreadMXBean.class);
        final long before = threads.getCurrentThreadAllocatedBytes();

        run(OPERATIONS);

        final long bytes = threads.getCurrentThreadAllocatedBytes() - before;
        assertTrue(bytes < OPERATIONS, "bytes=" + bytes + " in " + OPERATIONS + " rounds");
    }

    private void run(final int rounds) {
        for (int i = 0; i < rounds; i++) {
            final long mark = work.mark();
            final long ofStream = work.mark(9);
            assertFalse(work.isCapturing());
            assertEquals(work.isFinished(mark), work.isFinished(ofStream));
            work.release(mark);
            work.release(ofStream);
        }
    }
}
