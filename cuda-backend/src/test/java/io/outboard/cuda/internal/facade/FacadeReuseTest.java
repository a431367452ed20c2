package io.outboard.cuda.internal.facade;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.pool.ReusePolicy;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.runtime.cudaError;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * This class tests that memory that a kernel may still write isn't handed out again, on simulated streams; see {@link
 * HazardGpuTest}.
 */
class FacadeReuseTest {

    private static final long BLOCK_BYTES = FakeProgram.FIRST_REGION_BYTES / 4;

    /** The size of a block so small that the pool waits for it only when memory is needed. */
    private static final long SMALL_BYTES = 256;

    private static final long NO_STREAM = 0;

    private final AtomicBoolean kernelFinished = new AtomicBoolean();

    /** Allocates all but one block of the pool's only region, and launches a kernel that runs on that block. */
    private long launchOn(final FakeProgram program, final long stream) {
        final long block = program.malloc(BLOCK_BYTES);
        program.fill();
        submit(program, stream);
        return block;
    }

    private void submit(final FakeProgram program, final long stream) {
        program.cuda.streams().submit(program.cuda.currentContextOrZero(), stream, kernelFinished::get);
    }

    private static void assertNotHandedOut(final FakeProgram program, final long block) {
        final long other = program.malloc(BLOCK_BYTES);
        assertTrue(other + BLOCK_BYTES <= block || other >= block + BLOCK_BYTES, "handed out while in use");
        // Only the block that waits is left.
        program.fill();
    }

    /** The stream is of any kind, whoever made it, and may be destroyed before the free. */
    @ParameterizedTest
    @EnumSource(names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldNotHandOutWhileAKernelRuns(final ReusePolicy policy) {
        for (final boolean blocking : new boolean[] {true, false}) {
            for (final boolean destroyed : new boolean[] {true, false}) {
                kernelFinished.set(false);
                final FakeProgram program = new FakeProgram(policy);
                final long stream = program.createStream(blocking);
                final long block = launchOn(program, stream);
                if (destroyed) {
                    // The stream is destroyed without the facade's knowledge.
                    program.cuda.streams().destroyStream(stream);
                }
                assertEquals(0, program.free(block));

                assertNotHandedOut(program, block);

                kernelFinished.set(true);
                assertEquals(block, program.malloc(BLOCK_BYTES));
                assertEquals(0, program.cuda.streams().synchronizations());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldCoverTheDefaultStream(final ReusePolicy policy) {
        final FakeProgram program = new FakeProgram(policy);
        final long block = launchOn(program, NO_STREAM);
        assertEquals(0, program.free(block));

        assertNotHandedOut(program, block);
    }

    /** The program copies to the host without waiting, frees, and reads, since cudaFree waits for the device. */
    @ParameterizedTest
    @EnumSource
    void shouldWaitForTheDeviceAtAFreeThatIsABarrier(final ReusePolicy policy) {
        final FakeProgram program = FakeProgram.withBarriers(policy);
        for (final boolean byDriver : new boolean[] {false, true}) {
            final long block = program.malloc(SMALL_BYTES);
            final AtomicInteger asked = new AtomicInteger();
            program.cuda
                    .streams()
                    .submit(
                            program.cuda.currentContextOrZero(),
                            program.createStream(false),
                            () -> asked.incrementAndGet() > 3);

            assertEquals(0, byDriver ? program.driver.cuMemFree(FakeProgram.pointerTo(block)) : program.free(block));

            assertTrue(asked.get() > 3, "the free has waited");
        }
    }

    /**
     * The marks are the pool's, which asks about them only when somebody needs memory: the free once waited without
     * end.
     */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void shouldEndAFreeThatIsABarrierThoughMarksAreUsedUp() {
        final FakeProgram program = FakeProgram.withBarriers(ReusePolicy.STRICT);
        final long last = program.malloc(SMALL_BYTES);
        final long stream = program.createStream(false);
        final AtomicInteger asked = new AtomicInteger();
        program.cuda.streams().submit(program.cuda.currentContextOrZero(), stream, () -> asked.incrementAndGet() > 500);
        for (int i = 0; i < 40; i++) {
            assertEquals(0, program.freeAsync(program.mallocAsync(SMALL_BYTES, stream), stream));
            program.pool(0).trimTo(0);
        }

        assertEquals(0, program.free(last));

        assertTrue(asked.get() > 500, "the free has waited");
    }

    @ParameterizedTest
    @EnumSource
    void shouldWaitForNothingAtAFreeThatIsNone(final ReusePolicy policy) {
        final FakeProgram program = FakeProgram.withBarriers(policy);
        final long block = program.malloc(SMALL_BYTES);
        final long other = program.malloc(SMALL_BYTES);
        final long unknown = program.cuda.streams().createStream(program.cuda.currentContextOrZero(), false);

        assertEquals(0, program.freeAsync(block, NO_STREAM));
        assertEquals(0, program.freeAsync(other, unknown));
        assertEquals(cudaError.cudaErrorInvalidValue, program.free(block));

        assertEquals(0, program.cuda.streams().synchronizations());
    }

    @ParameterizedTest
    @EnumSource
    void shouldNotBreakACaptureByAFreeThatIsABarrier(final ReusePolicy policy) {
        final FakeProgram program = FakeProgram.withBarriers(policy);
        final long block = program.malloc(BLOCK_BYTES);
        final long other = program.malloc(BLOCK_BYTES);
        final long stream = program.createStream();
        assertEquals(0, program.beginCapture(stream));
        assertEquals(0, program.free(block));
        assertEquals(0, program.endCapture(stream), "the capture is whole");

        // Nobody told the facade of this capture.
        assertEquals(0, program.cuda.streams().beginCapture(stream));
        assertEquals(0, program.free(other));
        assertTrue(program.cuda.streams().endCapture(stream), "the capture is whole");
    }

    @Test
    void shouldHandOutAtOnceIfImmediate() {
        final FakeProgram program = new FakeProgram(ReusePolicy.IMMEDIATE);
        final long block = launchOn(program, program.createStream());
        program.free(block);

        assertEquals(block, program.malloc(BLOCK_BYTES));
    }

    @Test
    void shouldRememberTheWorkOfAStreamThatIsDestroyedAfterTheFree() {
        final FakeProgram program = new FakeProgram(ReusePolicy.STREAM_ORDERED);
        final long stream = program.createStream();
        final long block = launchOn(program, stream);
        assertEquals(0, program.freeAsync(block, stream));
        assertEquals(0, program.destroyStream(stream));

        assertNotHandedOut(program, block);

        kernelFinished.set(true);
        assertEquals(block, program.malloc(BLOCK_BYTES));
    }

    @Test
    void shouldHandOutAtOnceOnTheSameStreamIfStreamOrdered() {
        final FakeProgram program = new FakeProgram(ReusePolicy.STREAM_ORDERED);
        final long stream = program.createStream();
        final long block = launchOn(program, stream);
        assertEquals(0, program.freeAsync(block, stream));

        assertEquals(block, program.mallocAsync(BLOCK_BYTES, stream));
    }

    @Test
    void shouldWaitOnAnotherStreamIfStreamOrdered() {
        final FakeProgram program = new FakeProgram(ReusePolicy.STREAM_ORDERED);
        final long stream = program.createStream();
        final long block = launchOn(program, stream);
        assertEquals(0, program.freeAsync(block, stream));

        assertNotEquals(block, program.mallocAsync(BLOCK_BYTES, program.createStream()));
    }

    /** Work on device 1 uses memory of device 0, which a stream of device 1 frees. */
    @ParameterizedTest
    @CsvSource({
        "STRICT,true",
        "STRICT,false",
        "TRACKED,true",
        "TRACKED,false",
        "STREAM_ORDERED,true",
        "STREAM_ORDERED,false"
    })
    void shouldWaitForAStreamOfAnotherContext(final ReusePolicy policy, final boolean isDefault) {
        final FakeProgram program = new FakeProgram(policy);
        final long block = program.malloc(BLOCK_BYTES);
        program.fill();
        program.runtime.cudaSetDevice(1);
        final long stream = isDefault ? NO_STREAM : program.createStream(false);
        submit(program, stream);
        assertEquals(0, program.freeAsync(block, stream));
        program.runtime.cudaSetDevice(0);

        assertNotHandedOut(program, block);

        kernelFinished.set(true);
        assertEquals(block, program.malloc(BLOCK_BYTES), "the block isn't lost");
    }

    /** Device 1 was given access to the memory that its work uses; it doesn't matter who frees the block, and how. */
    @ParameterizedTest
    @EnumSource(names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldWaitForTheWorkOfAPeer(final ReusePolicy policy) {
        final FakeProgram program = new FakeProgram(policy);
        final long block = program.malloc(BLOCK_BYTES);
        program.fill();
        program.runtime.cudaSetDevice(1);
        assertEquals(0, program.runtime.cudaDeviceEnablePeerAccess(0, 0));
        submit(program, program.createStream(false));
        program.runtime.cudaSetDevice(0);
        assertEquals(0, program.free(block));

        assertNotHandedOut(program, block);

        kernelFinished.set(true);
        assertEquals(block, program.malloc(BLOCK_BYTES));
    }

    /** Memory that grows in place belongs to no context, so each context of the device may use it. */
    @Test
    void shouldWaitForAnotherContextOfTheDevice() {
        final FakeProgram program = new FakeProgram(ReusePolicy.STRICT);
        final long block = program.malloc(BLOCK_BYTES);
        program.fill();
        final CUcontext other = new CUcontext();
        assertEquals(0, program.driver.cuCtxCreate(other, 0, new CUdevice()));
        submit(program, program.createStream(false));
        assertEquals(0, program.driver.cuCtxPopCurrent(other));
        program.runtime.cudaSetDevice(0);
        assertEquals(0, program.free(block));

        assertNotHandedOut(program, block);

        assertEquals(0, program.driver.cuCtxDestroy(other));
        program.runtime.cudaSetDevice(0);
        assertEquals(block, program.malloc(BLOCK_BYTES), "its work has finished");
    }

    /** A capture allows neither marks nor questions, so both come later. */
    @ParameterizedTest
    @EnumSource(names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldWaitForAStreamOfAnotherContextAfterACapture(final ReusePolicy policy) {
        final FakeProgram program = new FakeProgram(policy);
        final long block = program.malloc(BLOCK_BYTES);
        program.fill();
        final long captured = program.createStream();
        program.runtime.cudaSetDevice(1);
        submit(program, NO_STREAM);
        assertEquals(0, program.beginCapture(captured));
        assertEquals(0, program.freeAsync(block, NO_STREAM));
        assertEquals(0, program.endCapture(captured), "the capture is whole");
        program.runtime.cudaSetDevice(0);

        assertNotHandedOut(program, block);

        kernelFinished.set(true);
        assertEquals(block, program.malloc(BLOCK_BYTES));
    }

    /** The events can't be made, so the free fails and changes nothing, and the program may try again. */
    @Test
    void shouldNotFreeAfterWorkThatCannotBeMarked() {
        final FakeProgram program = new FakeProgram(ReusePolicy.STRICT);
        final long block = program.malloc(BLOCK_BYTES);
        program.runtime.cudaSetDevice(1);
        program.cuda.streams().failCreate(cudaError.cudaErrorMemoryAllocation);

        assertEquals(cudaError.cudaErrorMemoryAllocation, program.freeAsync(block, NO_STREAM));

        assertEquals(0, program.freeAsync(block, NO_STREAM));
        assertEquals(cudaError.cudaErrorInvalidValue, program.freeAsync(block, NO_STREAM));
    }

    /** The driver uses the handles of destroyed streams again. */
    @Test
    void shouldNotReuseOnAnotherStreamOfTheSameHandle() {
        final FakeProgram program = new FakeProgram(ReusePolicy.STREAM_ORDERED);
        program.malloc(1);
        final long stream = program.createStream(false);
        final long block = launchOn(program, stream);
        assertEquals(0, program.freeAsync(block, stream));
        assertEquals(0, program.destroyStream(stream));
        program.cuda.streams().useHandleAgain(stream);
        assertEquals(stream, program.createStream(false));

        assertNotEquals(block, program.mallocAsync(BLOCK_BYTES, stream));
    }
}
