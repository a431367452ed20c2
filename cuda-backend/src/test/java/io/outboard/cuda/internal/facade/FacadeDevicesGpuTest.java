package io.outboard.cuda.internal.facade;

import static io.outboard.cuda.internal.facade.GpuProgram.succeed;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.outboard.cuda.Gpu;
import io.outboard.cuda.OutboardOptions;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.pool.ReusePolicy;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaPointerAttributes;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * This class tests several devices, contexts and threads on real devices. The twin without a GPU is {@link
 * FacadeDevicesTest}.
 */
@Tag("gpu")
class FacadeDevicesGpuTest {

    @BeforeEach
    void requireGpu() {
        Gpu.require();
    }

    private static int deviceOf(final Pointer pointer) {
        final cudaPointerAttributes attributes = new cudaPointerAttributes();
        succeed(JCuda.cudaPointerGetAttributes(attributes, pointer));
        return attributes.device;
    }

    @Test
    void shouldFollowTheDeviceOfEachThread() throws InterruptedException, ExecutionException {
        final int[] count = new int[1];
        JCuda.cudaGetDeviceCount(count);
        assumeTrue(count[0] >= 2, "skipped, needs two GPUs");
        final ExecutorService other = Executors.newSingleThreadExecutor();
        try (GpuProgram program = new GpuProgram(ReusePolicy.STRICT)) {
            succeed(program.runtime.cudaSetDevice(1));
            final Pointer second = program.malloc(1 << 20);
            final Pointer first = other.submit(() -> program.malloc(1 << 20)).get();
            final int freed =
                    other.submit(() -> program.runtime.cudaFree(second)).get();

            assertAll(
                    () -> assertEquals(1, deviceOf(second)),
                    () -> assertEquals(0, deviceOf(first)),
                    () -> assertEquals(0, freed),
                    () -> succeed(program.runtime.cudaFree(first)));
            final ContextPool pool = Objects.requireNonNull(program.pools.ofDevice(1));
            pool.pool().close();
            succeed(program.runtime.cudaSetDevice(0));
        } finally {
            other.shutdown();
            JCuda.cudaSetDevice(0);
        }
    }

    @Test
    void shouldGrowInThePoolsContextFromANewThread() throws InterruptedException, ExecutionException {
        final ExecutorService other = Executors.newSingleThreadExecutor();
        final CUcontext context = new CUcontext();
        try (GpuProgram program = new GpuProgram(ReusePolicy.TRACKED)) {
            final CUdevice device = new CUdevice();
            succeed(JCudaDriver.cuDeviceGet(device, 0));
            succeed(program.driver.cuCtxCreate(context, 0, device));
            final CUdeviceptr pointer = new CUdeviceptr();
            succeed(program.driver.cuMemAlloc(pointer, 1));
            final ContextPool pool = Objects.requireNonNull(program.pools.owner(DevicePointers.address(pointer)));

            final long grown = other.submit(() -> pool.pool().allocate(2 * GpuProgram.FIRST_REGION_BYTES))
                    .get();
            final int set =
                    JCudaDriver.cuMemsetD8(FakeProgram.pointerTo(grown), (byte) 1, 2 * GpuProgram.FIRST_REGION_BYTES);
            for (int i = 0; i < 1000; i++) {
                succeed(other.submit(() -> pool.free(pool.allocate(1 << 20))).get());
            }

            assertAll(
                    () -> assertEquals(0, set),
                    () -> assertEquals(DevicePointers.handle(context), pool.context()),
                    () -> assertEquals(2, pool.pool().statistics().liveBlocks()));
            succeed(program.driver.cuCtxDestroy(context));
            assertTrue(!pool.isLive());
            succeed(program.runtime.cudaSetDevice(0));
        } finally {
            other.shutdown();
            JCuda.cudaSetDevice(0);
        }
    }

    @Test
    void shouldServeAgainAfterAReset() {
        try (GpuProgram program = new GpuProgram(ReusePolicy.STRICT)) {
            final Pointer before = program.malloc(1 << 20);
            final ContextPool dropped = Objects.requireNonNull(program.pools.owner(DevicePointers.address(before)));

            program.reset();
            final Pointer after = program.malloc(1 << 20);

            final ContextPool pool = program.pools.owner(DevicePointers.address(after));
            assertNotNull(pool);
            assertNotEquals(dropped, pool);
            succeed(JCuda.cudaMemset(after, 1, 1 << 20));
            succeed(program.runtime.cudaFree(after));
        }
        // The pool of the static classes lost its memory, too.
        final ContextPool shared =
                ContextPools.ofProcess(OutboardOptions::ofProperties).ofDevice(0);
        if (shared != null) {
            ContextPools.ofProcess(OutboardOptions::ofProperties).contextEnded(shared.context());
        }
    }

    /** If the program's own context is current at a reset, CUDA returns success, and both contexts stay. */
    @Test
    void shouldKeepThePoolsOnAResetWithTheProgramsOwnContext() {
        try (GpuProgram program = new GpuProgram(ReusePolicy.STRICT)) {
            final Pointer ofPrimary = program.malloc(1 << 20);
            final CUcontext context = createContext(program);
            final CUdeviceptr first = new CUdeviceptr();
            final CUdeviceptr second = new CUdeviceptr();
            succeed(program.driver.cuMemAlloc(first, 1 << 20));
            succeed(program.driver.cuMemAlloc(second, 1 << 20));

            program.reset();

            succeed(program.driver.cuMemFree(first));
            succeed(JCudaDriver.cuMemsetD8(second, (byte) 1, 1 << 20));
            succeed(JCudaDriver.cuCtxSynchronize());
            succeed(program.driver.cuMemFree(second));
            succeed(program.driver.cuCtxDestroy(context));
            succeed(program.runtime.cudaSetDevice(0));
            succeed(program.runtime.cudaFree(ofPrimary));
        }
    }

    private static CUcontext createContext(final GpuProgram program) {
        final CUcontext context = new CUcontext();
        final CUdevice device = new CUdevice();
        succeed(JCudaDriver.cuDeviceGet(device, 0));
        succeed(program.driver.cuCtxCreate(context, 0, device));
        return context;
    }

    @Test
    @SuppressWarnings("deprecation")
    void shouldDropThePoolWithTheLastDetach() {
        try (GpuProgram program = new GpuProgram(ReusePolicy.STRICT)) {
            final CUcontext context = createContext(program);
            final CUdeviceptr pointer = new CUdeviceptr();
            succeed(program.driver.cuMemAlloc(pointer, 1));
            succeed(JCudaDriver.cuCtxAttach(new CUcontext(), 0));

            succeed(program.driver.cuCtxDetach(context));
            final ContextPool kept = program.pools.owner(DevicePointers.address(pointer));
            final int usable = JCudaDriver.cuMemsetD8(pointer, (byte) 1, 1);
            succeed(program.driver.cuCtxDetach(context));

            assertAll(
                    () -> assertNotNull(kept),
                    () -> assertEquals(0, usable),
                    () -> assertNull(program.pools.owner(DevicePointers.address(pointer))));
            succeed(program.runtime.cudaSetDevice(0));
        }
    }

    @Test
    void shouldKeepThePoolUntilThePrimaryContextIsReset() {
        try (GpuProgram program = new GpuProgram(ReusePolicy.STRICT)) {
            final CUdevice device = new CUdevice();
            succeed(JCudaDriver.cuDeviceGet(device, 0));
            final Pointer before = program.malloc(1 << 20);

            succeed(program.driver.cuDevicePrimaryCtxRetain(new CUcontext(), device));
            succeed(program.driver.cuDevicePrimaryCtxRelease(device));
            assertNotNull(program.pools.owner(DevicePointers.address(before)), "the runtime holds it still");
            program.resetByDriver(device);
            assertNull(program.pools.owner(DevicePointers.address(before)));

            final Pointer after = program.malloc(1 << 20);
            succeed(JCuda.cudaMemset(after, 1, 1 << 20));
            succeed(program.runtime.cudaFree(after));
        }
        final ContextPool shared =
                ContextPools.ofProcess(OutboardOptions::ofProperties).ofDevice(0);
        if (shared != null) {
            ContextPools.ofProcess(OutboardOptions::ofProperties).contextEnded(shared.context());
        }
    }

    /** The driver refuses to record an event in the pool's own context on a stream of another context. */
    @ParameterizedTest
    @EnumSource
    void shouldFreeOnAStreamOfAnotherContext(final ReusePolicy policy) {
        try (GpuProgram program = new GpuProgram(policy)) {
            final CUdeviceptr first = new CUdeviceptr();
            final CUdeviceptr second = new CUdeviceptr();
            succeed(program.driver.cuMemAlloc(first, 1 << 20));
            succeed(program.driver.cuMemAlloc(second, 1 << 20));
            final ContextPool owner = Objects.requireNonNull(program.pools.owner(DevicePointers.address(first)));
            final CUcontext context = createContext(program);
            final CUstream stream = program.createStream(CUstream_flags.CU_STREAM_NON_BLOCKING);

            succeed(program.driver.cuMemFreeAsync(first, stream));
            succeed(program.driver.cuMemFreeAsync(second, new CUstream()));

            assertEquals(0, owner.pool().statistics().liveBlocks());
            succeed(program.driver.cuStreamDestroy(stream));
            succeed(program.driver.cuCtxDestroy(context));
            succeed(program.runtime.cudaSetDevice(0));
            owner.pool().trimTo(0);
            final Pointer all = program.malloc(GpuProgram.FIRST_REGION_BYTES);
            assertEquals(owner, program.pools.owner(DevicePointers.address(all)));
            succeed(program.runtime.cudaFree(all));
        }
    }

    @Test
    void shouldAllocateOnTheDeviceOfTheStream() {
        final int[] count = new int[1];
        JCuda.cudaGetDeviceCount(count);
        assumeTrue(count[0] >= 2, "skipped, needs two GPUs");
        try (GpuProgram program = new GpuProgram(ReusePolicy.STREAM_ORDERED)) {
            final CUdeviceptr facades = new CUdeviceptr();
            final CUdeviceptr jcudas = new CUdeviceptr();
            succeed(program.runtime.cudaSetDevice(1));
            final CUstream stream = program.createStream(CUstream_flags.CU_STREAM_NON_BLOCKING);
            succeed(program.runtime.cudaSetDevice(0));

            succeed(program.driver.cuMemAllocAsync(facades, 1 << 20, stream));
            succeed(JCudaDriver.cuMemAllocAsync(jcudas, 1 << 20, stream));

            assertEquals(deviceOf(jcudas), deviceOf(facades));
            succeed(program.driver.cuMemFreeAsync(facades, stream));
            succeed(program.driver.cuMemFreeAsync(jcudas, stream));
            succeed(program.driver.cuStreamDestroy(stream));
            Objects.requireNonNull(program.pools.ofDevice(1)).pool().close();
        } finally {
            JCuda.cudaSetDevice(0);
        }
    }
}
