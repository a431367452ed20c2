package io.outboard.cuda.internal.facade;

import static io.outboard.cuda.internal.facade.GpuProgram.holds;
import static io.outboard.cuda.internal.facade.GpuProgram.succeed;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.outboard.core.GrowableRegion;
import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.Gpu;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.memory.DriverLibrary;
import io.outboard.pool.ReusePolicy;
import java.util.Objects;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaIpcMemHandle;
import jcuda.runtime.cudaPointerAttributes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A kernel of one device writes to memory of another, on two real devices: memory in pools that grow in place, memory
 * that is allocated later, and memory that has moved. The tests need JDK 22 or newer, and Outboard's classes in their
 * jar. The twin without a GPU is {@link FacadeGrowthInPlaceTest}.
 */
@Tag("gpu")
class PeerAccessGpuTest {

    private static final int MIB = 1 << 20;

    /** The size of a block larger than the pool's first memory. */
    private static final int LARGE_BYTES = 100 * MIB;

    private static final int VALUE = 0x5a5a5a5a;

    @BeforeEach
    void requireTwoGpus() {
        Gpu.require();
        assumeTrue(
                DriverLibrary.virtualMemory().isPresent(),
                "skipped, needs JDK 22 or newer, and the classes in their jar");
        final int[] count = new int[1];
        JCuda.cudaGetDeviceCount(count);
        assumeTrue(count[0] >= 2, "skipped, needs two GPUs");
        final int[] can = new int[1];
        succeed(JCuda.cudaDeviceCanAccessPeer(can, 0, 1));
        assumeTrue(can[0] == 1, "skipped, needs GPUs that reach each other");
    }

    @AfterEach
    void setFirstDevice() {
        JCuda.cudaSetDevice(0);
    }

    private static Pointer mallocOnSecond(final GpuProgram program, final int bytes) {
        succeed(program.runtime.cudaSetDevice(1));
        final Pointer pointer = program.malloc(bytes);
        succeed(JCuda.cudaMemset(pointer, 0, bytes));
        succeed(JCuda.cudaDeviceSynchronize());
        succeed(program.runtime.cudaSetDevice(0));
        return pointer;
    }

    /** Checks that a kernel of device 0 can write. */
    private static void assertWritable(final GpuProgram program, final Pointer data, final int bytes) {
        program.launch(data, bytes, VALUE, 0, new CUstream());
        assertTrue(holds(data, bytes, (byte) VALUE));
    }

    private static void endPoolOfSecond(final GpuProgram program) {
        final ContextPool pool = Objects.requireNonNull(program.pools.ofDevice(1));
        pool.pool().close();
        program.pools.contextEnded(pool.context());
    }

    @ParameterizedTest
    @EnumSource(ReusePolicy.class)
    void shouldLetKernelsOfOneDeviceWriteToPooledMemoryOfAnother(final ReusePolicy reuse) {
        try (GpuProgram program = new GpuProgram(reuse)) {
            final Pointer before = mallocOnSecond(program, MIB);

            succeed(program.runtime.cudaDeviceEnablePeerAccess(1, 0));

            assertWritable(program, before, MIB);
            final Pointer after = mallocOnSecond(program, LARGE_BYTES);
            assertWritable(program, after, LARGE_BYTES);
            final cudaPointerAttributes attributes = new cudaPointerAttributes();
            succeed(JCuda.cudaPointerGetAttributes(attributes, after));
            assertEquals(1, attributes.device);
            assertNotEquals(0, program.runtime.cudaIpcGetMemHandle(new cudaIpcMemHandle(), after));
            JCuda.cudaGetLastError();
            succeed(program.runtime.cudaDeviceDisablePeerAccess(1));
            endPoolOfSecond(program);
        }
    }

    @Test
    void shouldLetKernelsOfAContextWriteToPooledMemoryOfAnother() {
        try (GpuProgram program = new GpuProgram(ReusePolicy.STRICT)) {
            final CUcontext first = new CUcontext();
            succeed(JCudaDriver.cuCtxGetCurrent(first));
            final CUdevice device = new CUdevice();
            succeed(JCudaDriver.cuDeviceGet(device, 1));
            final CUcontext second = new CUcontext();
            succeed(program.driver.cuCtxCreate(second, 0, device));
            final CUdeviceptr data = new CUdeviceptr();
            succeed(program.driver.cuMemAlloc(data, MIB));
            succeed(program.driver.cuCtxSetCurrent(first));

            succeed(program.driver.cuCtxEnablePeerAccess(second, 0));

            assertWritable(program, data, MIB);
            succeed(program.driver.cuCtxDisablePeerAccess(second));
            succeed(program.driver.cuCtxDestroy(second));
        }
    }

    @Test
    void shouldShowMemoryThatHasMoved() {
        try (GpuProgram program = new GpuProgram(ReusePolicy.STRICT);
                CudaMemorySource source = CudaMemorySource.open(1)) {
            succeed(program.runtime.cudaSetDevice(0));
            final GrowableRegion region = source.reserve(64L * MIB, 1024L * MIB).orElseThrow();
            final long pieceBytes = 4 * region.unitBytes();
            final long begin = region.region().address();
            region.commit(begin, 2 * pieceBytes, pieceBytes);
            source.show(0);
            assertWritable(program, DevicePointers.pointerTo(begin), (int) (2 * pieceBytes));

            region.move(new long[] {begin}, 1);

            final Pointer moved = DevicePointers.pointerTo(begin + 2 * pieceBytes);
            succeed(JCuda.cudaMemset(moved, 0, pieceBytes));
            assertWritable(program, moved, (int) pieceBytes);
        }
    }
}
