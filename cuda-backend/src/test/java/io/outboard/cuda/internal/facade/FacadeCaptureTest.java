package io.outboard.cuda.internal.facade;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.memory.FakeCuda;
import io.outboard.pool.ReusePolicy;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.runtime.cudaError;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** This class tests that the pool's work doesn't break a capture into a graph. */
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

        // The blocks are more than limbo may hold, and less than the pool.
        for (int i = 0; i < 500; i++) {
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

        // The blocks are more than limbo may hold, and less than the pool.
        for (int i = 0; i < 500; i++) {
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

    /** The capture begins after the pool has looked for one, and before the pool acts. */
    @ParameterizedTest
    @EnumSource
    void shouldLeaveACaptureAloneThatBeginsMeanwhile(final ReusePolicy policy) {
        final FakeProgram program = new FakeProgram(policy);
        final long stream = program.createStream();
        final long other = program.createStream();
        final long block = program.malloc(FakeProgram.FIRST_REGION_BYTES / 2);
        for (int i = 0; i < 5; i++) {
            captureNext(program, stream);
            for (int j = 0; j < 64; j++) {
                assertEquals(0, program.free(program.malloc(1 << 20)), "the block is free, whatever becomes of limbo");
            }
            program.cuda.streams().afterCaptureStatus(0, () -> {});
            program.endCapture(stream);
        }
        captureNext(program, stream);
        assertEquals(0, program.destroyStream(other));
        assertEquals(0, program.free(block));

        program.malloc(FakeProgram.FIRST_REGION_BYTES);

        assertAll(
                () -> assertFalse(program.cuda.streams().isCaptureBroken()),
                () -> assertFalse(program.pools.captures().isEntered()),
                () -> assertFalse(program.jcuda.calls().contains("cudaMalloc"), "the pool grows and serves"));
    }

    /**
     * Begins a capture after the next question about a stream, but not while the pool is inside the guard, since the
     * begin would wait for this very thread.
     */
    private static void captureNext(final FakeProgram program, final long stream) {
        program.cuda.streams().afterCaptureStatus(0, () -> {
            if (program.pools.captures().isEntered()) {
                captureNext(program, stream);
            } else {
                assertEquals(0, program.beginCapture(stream));
            }
        });
    }

    /**
     * The destroyed stream's work goes on, and can be marked neither during the capture nor by the stream afterwards.
     */
    @ParameterizedTest
    @EnumSource(names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldWaitForWhatCouldNotBeMarked(final ReusePolicy policy) {
        final FakeProgram program = new FakeProgram(policy);
        final long captured = program.createStream(false);
        final long stream = program.createStream(false);
        final long block = program.malloc(FakeProgram.FIRST_REGION_BYTES);
        final AtomicInteger asked = new AtomicInteger();
        program.cuda.streams().submit(program.cuda.currentContextOrZero(), stream, () -> asked.incrementAndGet() > 3);
        assertEquals(0, program.beginCapture(captured));
        assertEquals(0, program.free(block));
        assertEquals(0, program.destroyStream(stream));
        assertEquals(0, program.endCapture(captured), "the capture is whole");

        final long next = program.malloc(FakeProgram.FIRST_REGION_BYTES);

        assertTrue(next != block || asked.get() > 3, "handed out while in use");
    }

    /** Nobody reports the end of a capture whose stream is destroyed. */
    @ParameterizedTest
    @EnumSource
    void shouldForgetACaptureWhoseStreamIsDestroyed(final ReusePolicy policy) {
        final FakeProgram program = new FakeProgram(policy);
        final long stream = program.createStream(false);
        assertEquals(0, program.beginCapture(stream));

        assertEquals(0, program.destroyStream(stream));

        assertFalse(program.pools.captures().any());
    }

    @ParameterizedTest
    @EnumSource
    void shouldGiveRegionsBackWithoutBreakingACapture(final ReusePolicy policy) {
        final FakeProgram program = new FakeProgram(policy);
        final long stream = program.createStream();
        assertEquals(0, program.free(program.malloc(1000)));
        program.pool(0).trimTo(Long.MAX_VALUE);
        assertEquals(0, program.beginCapture(stream));

        program.pool(0).trimTo(0);

        assertEquals(0, program.endCapture(stream), "the capture is whole");
    }

    @ParameterizedTest
    @EnumSource(names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldForgetTheCapturesOfAContextThatEnds(final ReusePolicy policy) {
        final FakeProgram program = new FakeProgram(policy);
        final CUcontext context = new CUcontext();
        program.malloc(1);
        final CUcontext primary = DevicePointers.withHandle(new CUcontext(), program.cuda.currentContextOrZero());
        assertEquals(0, program.driver.cuCtxCreate(context, 0, new CUdevice()));
        assertEquals(0, program.beginCapture(program.createStream()));
        assertEquals(0, program.driver.cuCtxDestroy(context));
        assertEquals(0, program.driver.cuCtxSetCurrent(primary));
        assertFalse(program.pools.captures().any());
        assertEquals(0, program.beginCapture(program.createStream()));
        assertEquals(0, program.runtime.cudaDeviceReset());
        assertFalse(program.pools.captures().any());

        final long block = program.malloc(FakeProgram.FIRST_REGION_BYTES);
        assertEquals(0, program.free(block));
        assertEquals(block, program.malloc(FakeProgram.FIRST_REGION_BYTES));
    }

    private static List<String> callsOf(final FakeProgram program) {
        return program.jcuda.calls().stream()
                .filter(call -> call.startsWith("cuMem"))
                .toList();
    }
}
