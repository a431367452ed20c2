package io.outboard.cuda;

import static io.outboard.cuda.facade.GpuProgram.succeed;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.facade.GpuProgram;
import io.outboard.cuda.facade.HazardGpuTest;
import io.outboard.cuda.memory.DevicePointers;
import io.outboard.pool.Pool;
import io.outboard.pool.ReusePolicy;
import jcuda.Pointer;
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

/** A pool of the program's own, without a facade, under the hazard of {@link HazardGpuTest}. */
@Tag("gpu")
class CudaWorkGpuTest {

    private static final long POOL_BYTES = 64L << 20;
    private static final long BLOCK_BYTES = POOL_BYTES / 2;
    private static final byte OTHERS = (byte) 0xA5;

    @BeforeEach
    void requireGpu() {
        Gpu.require();
    }

    @ParameterizedTest
    @EnumSource(names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldNotHandOutWhatAKernelStillWrites(final ReusePolicy policy) {
        try (GpuProgram program = new GpuProgram(ReusePolicy.IMMEDIATE);
                CudaMemorySource source = CudaMemorySource.open(0)) {
            final CudaWork work = CudaWork.open(0);
            try (Pool pool = Pool.over(source)
                    .firstRegionBytes(POOL_BYTES)
                    .limitBytes(POOL_BYTES)
                    .reuse(policy, work)
                    .build()) {
                final CUstream stream = new CUstream();
                succeed(JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING));
                final long handle = DevicePointers.handle(stream);
                work.streamCreated(handle);
                final long written = pool.allocate(BLOCK_BYTES);
                program.launch(
                        DevicePointers.pointerTo(written), BLOCK_BYTES, 0x5A5A5A5A, GpuProgram.LONG_CYCLES, stream);
                pool.freeAsync(written, handle);
                pool.streamEnds(handle);
                work.streamEnds(handle);
                succeed(JCudaDriver.cuStreamDestroy(stream));

                // The other half is free; then only what the kernel writes.
                assertNotEquals(written, pool.allocate(BLOCK_BYTES));
                final long again = pool.allocate(BLOCK_BYTES);
                final Pointer others = DevicePointers.pointerTo(again);
                succeed(JCuda.cudaMemsetAsync(others, OTHERS, BLOCK_BYTES, new cudaStream_t()));

                assertTrue(GpuProgram.holds(others, BLOCK_BYTES, OTHERS));
                assertTrue(pool.statistics().synchronizations() > 0, "it waited");
                assertFalse(work.isCapturing());
            }
        }
    }

    /** "Not ready" is an error to JCuda. */
    @Test
    void shouldAskWithoutAnExceptionWhileAKernelRuns() {
        try (GpuProgram program = new GpuProgram(ReusePolicy.IMMEDIATE);
                CudaMemorySource source = CudaMemorySource.open(0)) {
            final CudaWork work = source.work();
            final CUstream stream = new CUstream();
            succeed(JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_DEFAULT));
            work.streamCreated(DevicePointers.handle(stream));
            final Pointer data =
                    DevicePointers.pointerTo(source.take(BLOCK_BYTES).address());
            JCudaDriver.setExceptionsEnabled(true);
            try {
                program.launch(data, BLOCK_BYTES, 1, GpuProgram.LONG_CYCLES, stream);
                final long mark = work.mark();

                assertFalse(work.isFinished(mark));
                assertFalse(work.isIdle());
                work.await(mark);
                assertTrue(work.isFinished(mark));
                assertTrue(work.isIdle());
            } finally {
                JCudaDriver.setExceptionsEnabled(false);
            }
            work.streamEnds(DevicePointers.handle(stream));
            succeed(JCudaDriver.cuStreamDestroy(stream));
        }
    }
}
