package io.outboard.cuda;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.ReusePolicy;
import java.util.List;
import jcuda.driver.CUdeviceptr;
import jcuda.runtime.cudaError;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A capture into a graph isn't broken by what the pool does meanwhile. */
class FacadeCaptureTest {

    @ParameterizedTest
    @EnumSource
    void shouldGrowWithoutBreakingACapture(final ReusePolicy policy) {
        final FakeProgram program = new FakeProgram(policy);
        final long stream = program.createStream();
        assertEquals(0, program.beginCapture(stream));

        final long pooled = program.malloc(FakeProgram.FIRST_REGION_BYTES);
        final long drivers = program.malloc((long) (0.85 * FakeCuda.TOTAL_BYTES));

        assertAll(
                () -> assertEquals(0, program.free(pooled)),
                () -> assertEquals(0, program.endCapture(stream), "the capture is whole"),
                () -> assertEquals(0, program.free(drivers)));
    }

    @ParameterizedTest
    @EnumSource
    void shouldNotWaitOrMarkDuringACapture(final ReusePolicy policy) {
        final FakeProgram program = new FakeProgram(policy);
        final long stream = program.createStream();
        final long other = program.createStream();
        program.malloc(1);
        assertEquals(0, program.beginCapture(stream));

        for (int i = 0; i < 1000; i++) {
            assertEquals(0, program.free(program.malloc(1 << 20)));
        }
        assertEquals(0, program.destroyStream(other));

        assertAll(
                () -> assertEquals(0, program.cuda.streams().synchronizations()),
                () -> assertEquals(0, program.endCapture(stream), "the capture is whole"));
    }

    @ParameterizedTest
    @EnumSource(names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldSeeACaptureThatBeganElsewhere(final ReusePolicy policy) {
        final FakeProgram program = new FakeProgram(policy);
        final long stream = program.createStream();
        program.malloc(1);
        program.cuda.streams().beginCapture(stream);

        for (int i = 0; i < 1000; i++) {
            assertEquals(0, program.free(program.malloc(1 << 20)));
        }

        assertTrue(program.cuda.streams().endCapture(stream), "the capture is whole");
    }

    @ParameterizedTest
    @EnumSource
    void shouldRecycleAgainAfterACapture(final ReusePolicy policy) {
        final FakeProgram program = new FakeProgram(policy);
        final long stream = program.createStream();
        final long block = program.malloc(FakeProgram.FIRST_REGION_BYTES);
        assertEquals(0, program.beginCapture(stream));
        assertEquals(cudaError.cudaErrorIllegalState, program.beginCapture(stream));
        assertEquals(0, program.free(block));
        assertEquals(0, program.endCapture(stream));

        assertEquals(block, program.malloc(FakeProgram.FIRST_REGION_BYTES));
    }

    @ParameterizedTest
    @EnumSource
    void shouldLeaveTheMemoryOfAGraphToTheDriver(final ReusePolicy policy) {
        final FakeProgram program = new FakeProgram(policy);
        final long stream = program.createStream();
        final long before = program.malloc(1000);
        assertEquals(0, program.beginCapture(stream));

        final CUdeviceptr pointer = new CUdeviceptr();
        assertEquals(0, program.driver.cuMemAllocAsync(pointer, 1000, FakeProgram.streamOf(stream)));

        assertAll(
                () -> assertEquals(List.of("cuMemAllocAsync"), callsOf(program)),
                () -> assertEquals(0, program.driver.cuMemFreeAsync(pointer, FakeProgram.streamOf(stream))),
                () -> assertEquals(cudaError.cudaErrorStreamCaptureUnsupported, program.freeAsync(before, stream)),
                () -> assertEquals(0, program.endCapture(stream)),
                () -> assertEquals(0, program.freeAsync(before, stream)));
    }

    private static List<String> callsOf(final FakeProgram program) {
        return program.jcuda.calls().stream()
                .filter(call -> call.startsWith("cuMem"))
                .toList();
    }
}
