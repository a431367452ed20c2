package io.outboard.cuda.internal.facade;

import static io.outboard.cuda.internal.facade.GpuProgram.succeed;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.Gpu;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.pool.ReusePolicy;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaStream_t;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A long kernel writes a block, which is freed at once; another stream gets memory and writes it. If both have the same
 * memory, the kernel destroys what the other stream wrote. The twin without a GPU is {@link FacadeReuseTest}.
 */
@Tag("gpu")
public class HazardGpuTest {

    private static final long BLOCK_BYTES = GpuProgram.FIRST_REGION_BYTES / 2;
    private static final int KERNELS = 0x5A5A5A5A;
    private static final byte OTHERS = (byte) 0xA5;
    private static final int NON_BLOCKING = CUstream_flags.CU_STREAM_NON_BLOCKING;

    /** The constants say how the program treats its stream. */
    private enum Stream {
        KNOWN,
        DESTROYED_BEFORE_THE_FREE,
        DESTROYED_AFTER_THE_FREE
    }

    @BeforeEach
    void requireGpu() {
        Gpu.require();
    }

    @ParameterizedTest
    @EnumSource(names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldNeverCorruptWhatIsFreedAfterALaunch(final ReusePolicy policy) {
        for (final Stream stream : Stream.values()) {
            for (int round = 0; round < 3; round++) {
                assertFalse(isCorrupted(policy, stream, false), stream + ", round " + round);
            }
        }
    }

    @Test
    void shouldNeverCorruptWhatIsFreedOnItsStream() {
        for (final Stream stream : new Stream[] {Stream.KNOWN, Stream.DESTROYED_AFTER_THE_FREE}) {
            assertFalse(isCorrupted(ReusePolicy.STREAM_ORDERED, stream, true), stream.toString());
        }
    }

    /** Without this test the tests above would prove nothing. */
    @Test
    void shouldCorruptIfImmediate() {
        assertTrue(isCorrupted(ReusePolicy.IMMEDIATE, Stream.KNOWN, false));
    }

    private static boolean isCorrupted(final ReusePolicy policy, final Stream fate, final boolean async) {
        try (GpuProgram program = new GpuProgram(policy)) {
            final CUstream slow = program.createStream(NON_BLOCKING);
            final CUstream fast = program.createStream(NON_BLOCKING);
            final CUdeviceptr freed = new CUdeviceptr();
            succeed(program.driver.cuMemAllocAsync(freed, BLOCK_BYTES, slow));
            final Pointer rest = program.malloc(BLOCK_BYTES);

            program.launch(freed, BLOCK_BYTES, KERNELS, GpuProgram.LONG_CYCLES, slow);
            if (fate == Stream.DESTROYED_BEFORE_THE_FREE) {
                succeed(program.driver.cuStreamDestroy(slow));
            }
            succeed(async ? program.driver.cuMemFreeAsync(freed, slow) : program.driver.cuMemFree(freed));
            if (fate == Stream.DESTROYED_AFTER_THE_FREE) {
                succeed(program.driver.cuStreamDestroy(slow));
            }
            final CUdeviceptr next = new CUdeviceptr();
            succeed(program.driver.cuMemAllocAsync(next, BLOCK_BYTES, fast));
            succeed(JCuda.cudaMemsetAsync(next, OTHERS, BLOCK_BYTES, new cudaStream_t(fast)));

            final boolean whole = GpuProgram.holds(next, BLOCK_BYTES, OTHERS);
            succeed(program.driver.cuMemFree(next));
            succeed(program.runtime.cudaFree(rest));
            return !whole;
        }
    }

    @Test
    void shouldReuseAtOnceOnTheSameStreamIfStreamOrdered() {
        try (GpuProgram program = new GpuProgram(ReusePolicy.STREAM_ORDERED)) {
            final CUstream stream = program.createStream(NON_BLOCKING);
            final CUdeviceptr first = new CUdeviceptr();
            succeed(program.driver.cuMemAllocAsync(first, BLOCK_BYTES, stream));
            program.launch(first, BLOCK_BYTES, KERNELS, GpuProgram.LONG_CYCLES, stream);
            succeed(program.driver.cuMemFreeAsync(first, stream));

            final CUdeviceptr second = new CUdeviceptr();
            succeed(program.driver.cuMemAllocAsync(second, BLOCK_BYTES, stream));
            final boolean running = JCudaDriver.cuStreamQuery(stream) != 0;
            succeed(JCuda.cudaMemsetAsync(second, OTHERS, BLOCK_BYTES, new cudaStream_t(stream)));

            assertTrue(running, "nothing waited");
            assertTrue(DevicePointers.address(first) == DevicePointers.address(second));
            assertTrue(GpuProgram.holds(second, BLOCK_BYTES, OTHERS));
            succeed(program.driver.cuMemFree(second));
        }
    }

    /** Stream 0 waits for every stream that blocks, so a mark on it covers streams that the facade doesn't know. */
    @Test
    void shouldCoverBlockingStreamsThatItDoesNotKnow() {
        try (GpuProgram program = new GpuProgram(ReusePolicy.TRACKED)) {
            final CUstream unknown = new CUstream();
            succeed(JCudaDriver.cuStreamCreate(unknown, 0));
            final Pointer freed = program.malloc(BLOCK_BYTES);
            final Pointer rest = program.malloc(BLOCK_BYTES);
            final CUstream fast = program.createStream(NON_BLOCKING);

            program.launch(freed, BLOCK_BYTES, KERNELS, GpuProgram.LONG_CYCLES, unknown);
            succeed(program.runtime.cudaFree(freed));
            final Pointer next = program.malloc(BLOCK_BYTES);
            succeed(JCuda.cudaMemsetAsync(next, OTHERS, BLOCK_BYTES, new cudaStream_t(fast)));

            assertTrue(GpuProgram.holds(next, BLOCK_BYTES, OTHERS));
            succeed(JCudaDriver.cuStreamDestroy(unknown));
            succeed(program.runtime.cudaFree(rest));
            succeed(program.runtime.cudaFree(next));
        }
    }

    /** Destroying a null stream is an error, which changes nothing. */
    @ParameterizedTest
    @EnumSource(names = {"TRACKED", "STREAM_ORDERED"})
    void shouldGoOnMarkingTheDefaultStreamWhenNoStreamIsDestroyed(final ReusePolicy policy) {
        try (GpuProgram program = new GpuProgram(policy)) {
            final CUstream fast = program.createStream(NON_BLOCKING);
            final Pointer freed = program.malloc(BLOCK_BYTES);
            final Pointer rest = program.malloc(BLOCK_BYTES);
            assertTrue(program.runtime.cudaStreamDestroy(new cudaStream_t()) != 0);
            assertTrue(program.driver.cuStreamDestroy(new CUstream()) != 0);

            program.launch(freed, BLOCK_BYTES, KERNELS, GpuProgram.LONG_CYCLES, new CUstream());
            succeed(program.runtime.cudaFree(freed));
            final Pointer next = program.malloc(BLOCK_BYTES);
            succeed(JCuda.cudaMemsetAsync(next, OTHERS, BLOCK_BYTES, new cudaStream_t(fast)));

            assertTrue(GpuProgram.holds(next, BLOCK_BYTES, OTHERS));
            succeed(program.runtime.cudaFree(rest));
            succeed(program.runtime.cudaFree(next));
        }
    }
}
