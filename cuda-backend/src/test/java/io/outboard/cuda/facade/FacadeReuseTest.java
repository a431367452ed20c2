package io.outboard.cuda.facade;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.pool.ReusePolicy;
import java.util.concurrent.atomic.AtomicBoolean;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUstream;
import jcuda.runtime.cudaError;
import jcuda.runtime.cudaStream_t;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Memory that a kernel may still write isn't handed out again, on simulated streams; see {@link HazardGpuTest}. */
class FacadeReuseTest {

    private static final long BLOCK_BYTES = FakeProgram.FIRST_REGION_BYTES / 4;

    /** So little is waited for only when memory is needed. */
    private static final long SMALL_BYTES = 256;

    private static final long NO_STREAM = 0;

    private final AtomicBoolean kernelFinished = new AtomicBoolean();

    /** Uses all but one block of the pool's only region, and a kernel that runs on that one. */
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
        // Nothing is left but what waits.
        program.fill();
    }

    @ParameterizedTest
    @EnumSource(names = {"TRACKED", "STREAM_ORDERED"})
    void shouldNotHandOutWhileAKernelRuns(final ReusePolicy policy) {
        final FakeProgram program = new FakeProgram(policy);
        final long block = launchOn(program, program.createStream());
        assertEquals(0, program.free(block));

        assertNotHandedOut(program, block);

        kernelFinished.set(true);
        assertAll(
                () -> assertEquals(block, program.malloc(BLOCK_BYTES)),
                () -> assertEquals(0, program.cuda.streams().synchronizations()));
    }

    @Test
    void shouldWaitForTheDeviceOnceForManyBlocksIfStrict() {
        final FakeProgram program = new FakeProgram(ReusePolicy.STRICT);
        final long first = program.malloc(BLOCK_BYTES);
        for (int i = 0; i < 100; i++) {
            assertEquals(0, program.free(program.malloc(256)));
        }
        final int before = program.cuda.streams().synchronizations();
        program.free(first);
        program.free(program.fill());

        program.malloc(4 * BLOCK_BYTES);

        assertAll(
                () -> assertEquals(0, before),
                // For each of the large ones ahead of need, and when it comes.
                () -> assertTrue(program.cuda.streams().synchronizations() <= 3),
                () -> assertEquals(0, program.cuda.streams().eventsCreated()));
    }

    /** A program that copies to the host without waiting, frees, and reads: cudaFree waits for the device. */
    @ParameterizedTest
    @EnumSource
    void shouldWaitForTheDeviceAtAFreeThatIsABarrier(final ReusePolicy policy) {
        final FakeProgram program = FakeProgram.withBarriers(policy);
        final long first = program.malloc(SMALL_BYTES);
        final long second = program.malloc(SMALL_BYTES);
        program.cuda.streams().beforeSynchronize(() -> kernelFinished.set(true));
        submit(program, program.createStream());

        assertEquals(0, program.free(first));

        assertTrue(kernelFinished.get(), "the free has waited");
        final int before = program.cuda.streams().synchronizations();
        assertEquals(0, program.driver.cuMemFree(FakeProgram.pointerTo(second)));
        assertEquals(1, program.cuda.streams().synchronizations() - before);
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

        // Nobody told of this one.
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

    @ParameterizedTest
    @EnumSource(names = {"TRACKED", "STREAM_ORDERED"})
    void shouldRememberTheWorkOfADestroyedStream(final ReusePolicy policy) {
        final FakeProgram program = new FakeProgram(policy);
        final long stream = program.createStream();
        final long block = launchOn(program, stream);
        assertEquals(0, program.destroyStream(stream));
        assertEquals(0, program.free(block));

        assertNotHandedOut(program, block);

        kernelFinished.set(true);
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

    @Test
    void shouldBeSafeOnAStreamThatItDoesNotKnow() {
        final FakeProgram program = new FakeProgram(ReusePolicy.STREAM_ORDERED);
        program.malloc(1);
        final long stream = program.cuda.streams().createStream(program.cuda.currentContextOrZero());
        final long block = launchOn(program, stream);
        assertEquals(0, program.freeAsync(block, stream));
        // Behind the facade's back.
        program.cuda.streams().destroyStream(stream);

        assertNotHandedOut(program, block);

        kernelFinished.set(true);
        assertEquals(block, program.malloc(BLOCK_BYTES));
    }

    @Test
    void shouldUseEventsAgain() {
        final FakeProgram program = new FakeProgram(ReusePolicy.TRACKED);
        program.createStream();
        for (int i = 0; i < 10_000; i++) {
            assertEquals(0, program.free(program.malloc(256)));
        }

        assertTrue(
                program.cuda.streams().eventsCreated() <= 4,
                "events: " + program.cuda.streams().eventsCreated());
    }

    @Test
    void shouldMarkTheDefaultStream() {
        final FakeProgram program = new FakeProgram(ReusePolicy.TRACKED);
        final long block = launchOn(program, NO_STREAM);
        assertEquals(0, program.free(block));

        assertNotHandedOut(program, block);
    }

    /** Neither a Java null nor an empty object names a stream that can be destroyed; CUDA refuses. */
    @ParameterizedTest
    @EnumSource(names = {"TRACKED", "STREAM_ORDERED"})
    @SuppressWarnings("NullAway")
    void shouldGoOnMarkingTheDefaultStreamWhenNoStreamIsDestroyed(final ReusePolicy policy) {
        final FakeProgram program = new FakeProgram(policy);
        program.createStream();
        final int invalid = cudaError.cudaErrorInvalidResourceHandle;
        assertEquals(invalid, program.runtime.cudaStreamDestroy(null));
        assertEquals(invalid, program.runtime.cudaStreamDestroy(new cudaStream_t()));
        assertEquals(invalid, program.driver.cuStreamDestroy(null));
        assertEquals(invalid, program.driver.cuStreamDestroy(new CUstream()));
        final long block = launchOn(program, NO_STREAM);
        assertEquals(0, program.free(block));

        assertNotHandedOut(program, block);
    }

    /** Work on device 1 that uses memory of device 0, which a stream of device 1 frees. */
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
        program.malloc(1);
        final long stream = isDefault ? NO_STREAM : program.createStream();
        submit(program, stream);
        program.cuda.streams().beforeSynchronize(() -> kernelFinished.set(true));
        assertEquals(0, program.freeAsync(block, stream));
        final int events = program.cuda.streams().eventsOut();
        program.runtime.cudaSetDevice(0);

        final long next = program.mallocAsync(BLOCK_BYTES, NO_STREAM);

        assertAll(
                () -> assertTrue(kernelFinished.get() || block != next, "handed out while in use"),
                () -> assertTrue(
                        policy == ReusePolicy.STRICT || !kernelFinished.get(), "only this policy synchronises"),
                () -> assertTrue(events <= 1, "events of other contexts aren't kept"));
        program.fill();
        kernelFinished.set(true);
        assertEquals(block, block == next ? next : program.malloc(BLOCK_BYTES), "the block isn't lost");
    }

    /** Neither marks nor waits are allowed then, so both come later. */
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
        program.cuda.streams().beforeSynchronize(() -> kernelFinished.set(true));

        assertEquals(block, program.malloc(BLOCK_BYTES));

        assertTrue(kernelFinished.get(), "handed out while in use");
    }

    @Test
    void shouldForgetWhatAContextOwesWhenItIsGone() {
        final FakeProgram program = new FakeProgram(ReusePolicy.STRICT);
        final long block = program.malloc(FakeProgram.FIRST_REGION_BYTES);
        final long captured = program.createStream();
        final CUcontext other = new CUcontext();
        program.driver.cuCtxCreate(other, 0, new CUdevice());
        assertEquals(0, program.beginCapture(captured));
        assertEquals(0, program.freeAsync(block, NO_STREAM));
        assertEquals(0, program.endCapture(captured));
        assertEquals(0, program.driver.cuCtxDestroy(other));

        assertEquals(block, program.malloc(FakeProgram.FIRST_REGION_BYTES));
    }

    @ParameterizedTest
    @EnumSource(names = {"TRACKED", "STREAM_ORDERED"})
    void shouldNotLoseWhatIsFreedAfterWorkThatCannotBeMarked(final ReusePolicy policy) {
        final FakeProgram program = new FakeProgram(policy);
        final long block = program.malloc(FakeProgram.FIRST_REGION_BYTES);
        final long stream = program.cuda.streams().createStream(program.cuda.currentContextOrZero());
        program.cuda.streams().failRecord(cudaError.cudaErrorMemoryAllocation);

        assertEquals(cudaError.cudaErrorMemoryAllocation, program.freeAsync(block, stream));

        assertEquals(block, program.malloc(FakeProgram.FIRST_REGION_BYTES));
    }

    /** Its handle may come again. */
    @Test
    void shouldNotReuseOnAStreamWhoseWorkCouldNotBeMarkedAtItsEnd() {
        final FakeProgram program = new FakeProgram(ReusePolicy.STREAM_ORDERED);
        final long stream = program.createStream();
        final long block = launchOn(program, stream);
        assertEquals(0, program.freeAsync(block, stream));
        program.cuda.streams().failRecord(cudaError.cudaErrorMemoryAllocation);
        assertEquals(0, program.destroyStream(stream));
        program.cuda.streams().useHandleAgain(stream);
        assertEquals(stream, program.createStream());

        assertNotEquals(block, program.mallocAsync(BLOCK_BYTES, stream));
    }
}
