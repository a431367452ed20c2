package io.outboard.cuda;

import static io.outboard.cuda.internal.facade.GpuProgram.succeed;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.facade.GpuProgram;
import io.outboard.cuda.internal.facade.HazardGpuTest;
import io.outboard.cuda.internal.memory.DriverLibrary;
import io.outboard.pool.Pool;
import io.outboard.pool.ReusePolicy;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUfunction;
import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.CUmodule;
import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaStream_t;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * This class tests a pool of the program's own, without a facade, under the hazard of {@link HazardGpuTest}: the pool
 * has no other memory than what a kernel still writes. From the jar, on JDK 22 and newer, it uses marks of contexts,
 * otherwise a thread that synchronises. The twins without a GPU are {@code ContextWorkTest} and {@code
 * SynchronizerTest}.
 */
@Tag("gpu")
class CudaWorkGpuTest {

    private static final long BLOCK_BYTES = 32L << 20;
    private static final int KERNELS = 0x5A5A5A5A;
    private static final byte OTHERS = (byte) 0xA5;
    private static final long PER_THREAD = 2;

    private final CudaPool gpu = open();
    private final Pool pool = gpu.pool();

    /** The constants say where the kernel runs that still writes. */
    private enum Where {
        NON_BLOCKING,
        BLOCKING,
        LEGACY,
        PER_THREAD,
        ANOTHER_THREADS,
        DESTROYED,
        GRAPH
    }

    private static CudaPool open() {
        Gpu.require();
        return CudaPool.open(0, builder -> builder.firstRegionBytes(BLOCK_BYTES).limitBytes(BLOCK_BYTES));
    }

    @BeforeEach
    void setDevice() {
        succeed(JCuda.cudaSetDevice(0));
    }

    @AfterEach
    void close() {
        JCuda.cudaSetDevice(0);
        JCuda.cudaDeviceSynchronize();
        gpu.close();
        JCuda.cudaGetLastError();
    }

    private static CUstream stream(final int flags) {
        final CUstream stream = new CUstream();
        succeed(JCudaDriver.cuStreamCreate(stream, flags));
        return stream;
    }

    /** Loads the kernel in the current context. */
    private static CUfunction kernel() {
        final CUmodule module = new CUmodule();
        final CUfunction kernel = new CUfunction();
        succeed(JCudaDriver.cuModuleLoadData(module, GpuProgram.text("write-after.ptx.gz")));
        succeed(JCudaDriver.cuModuleGetFunction(kernel, module, "writeAfter"));
        return kernel;
    }

    private static void launch(final CUfunction kernel, final long address, final long cycles, final CUstream stream) {
        final Pointer parameters = Pointer.to(
                Pointer.to(DevicePointers.pointerTo(address)),
                Pointer.to(new int[] {(int) (BLOCK_BYTES / Integer.BYTES)}),
                Pointer.to(new int[] {KERNELS}),
                Pointer.to(new long[] {cycles}));
        succeed(JCudaDriver.cuLaunchKernel(kernel, 16, 1, 1, 256, 1, 1, 0, stream, parameters, null));
    }

    /** Frees memory to which the action lets a kernel write, allocates it again and writes it by another stream. */
    private void assertNotCorrupted(final Consumer<Long> launch) {
        final long written = pool.allocate(BLOCK_BYTES);
        final CUstream fast = stream(CUstream_flags.CU_STREAM_NON_BLOCKING);
        launch.accept(written);

        pool.free(written);
        final long again = pool.allocate(BLOCK_BYTES);

        final Pointer others = DevicePointers.pointerTo(again);
        succeed(JCuda.cudaSetDevice(0));
        succeed(JCuda.cudaMemsetAsync(others, OTHERS, BLOCK_BYTES, new cudaStream_t(fast)));
        succeed(JCudaDriver.cuStreamSynchronize(fast));
        assertTrue(GpuProgram.holds(others, BLOCK_BYTES, OTHERS));
        pool.free(again);
        succeed(JCudaDriver.cuStreamDestroy(fast));
    }

    @ParameterizedTest
    @EnumSource
    void shouldNotHandOutWhatAKernelStillWrites(final Where where) {
        final CUfunction kernel = kernel();
        for (int round = 0; round < 3; round++) {
            assertNotCorrupted(address -> launch(kernel, address, where));
        }
    }

    private void launch(final CUfunction kernel, final long address, final Where where) {
        switch (where) {
            case LEGACY -> launch(kernel, address, GpuProgram.LONG_CYCLES, new CUstream());
            case PER_THREAD -> launch(kernel, address, GpuProgram.LONG_CYCLES, perThread());
            case ANOTHER_THREADS ->
                inThread(() -> {
                    succeed(JCuda.cudaSetDevice(0));
                    launch(kernel, address, GpuProgram.LONG_CYCLES, perThread());
                });
            case GRAPH -> launchGraph(kernel, address);
            default -> {
                final CUstream stream = stream(
                        where == Where.BLOCKING
                                ? CUstream_flags.CU_STREAM_DEFAULT
                                : CUstream_flags.CU_STREAM_NON_BLOCKING);
                launch(kernel, address, GpuProgram.LONG_CYCLES, stream);
                if (where == Where.DESTROYED) {
                    succeed(JCudaDriver.cuStreamDestroy(stream));
                }
            }
        }
    }

    private static CUstream perThread() {
        return DevicePointers.withHandle(new CUstream(), PER_THREAD);
    }

    private static void inThread(final Runnable action) {
        final Thread thread = new Thread(action);
        thread.start();
        try {
            thread.join();
        } catch (final InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void launchGraph(final CUfunction kernel, final long address) {
        final CUstream stream = stream(CUstream_flags.CU_STREAM_NON_BLOCKING);
        final CUgraph graph = new CUgraph();
        final CudaWork.Capture capture = gpu.capture(DevicePointers.handle(stream));
        assertTrue(gpu.work().isCapturing());
        succeed(JCudaDriver.cuStreamBeginCapture(stream, CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL));
        launch(kernel, address, GpuProgram.LONG_CYCLES, stream);
        succeed(JCudaDriver.cuStreamEndCapture(stream, graph));
        capture.close();
        final CUgraphExec exec = new CUgraphExec();
        succeed(JCudaDriver.cuGraphInstantiate(exec, graph, 0));
        succeed(JCudaDriver.cuGraphLaunch(exec, stream));
    }

    /** The block is freed on a stream, which is then destroyed. */
    @Test
    void shouldNotHandOutWhatADestroyedStreamStillWritesIfStreamOrdered() {
        try (CudaPool ordered = CudaPool.open(
                0,
                builder -> builder.firstRegionBytes(BLOCK_BYTES)
                        .limitBytes(BLOCK_BYTES)
                        .reuse(ReusePolicy.STREAM_ORDERED))) {
            final CUfunction kernel = kernel();
            final CUstream slow = stream(CUstream_flags.CU_STREAM_NON_BLOCKING);
            final long written = ordered.pool().allocateAsync(BLOCK_BYTES, DevicePointers.handle(slow));
            launch(kernel, written, GpuProgram.LONG_CYCLES, slow);
            ordered.pool().freeAsync(written, DevicePointers.handle(slow));
            succeed(JCudaDriver.cuStreamDestroy(slow));
            final CUstream next = stream(CUstream_flags.CU_STREAM_NON_BLOCKING);

            // The new stream may have the same handle.
            final long again = ordered.pool().allocateAsync(BLOCK_BYTES, DevicePointers.handle(next));

            final Pointer others = DevicePointers.pointerTo(again);
            succeed(JCuda.cudaMemsetAsync(others, OTHERS, BLOCK_BYTES, new cudaStream_t(next)));
            assertTrue(GpuProgram.holds(others, BLOCK_BYTES, OTHERS));
            ordered.pool().free(again);
        }
    }

    @Test
    void shouldTellStreamsOfTheSameHandleApart() {
        final CUstream first = stream(CUstream_flags.CU_STREAM_NON_BLOCKING);
        final long id = gpu.work().idOf(DevicePointers.handle(first));
        assertEquals(id, gpu.work().idOf(DevicePointers.handle(first)));
        succeed(JCudaDriver.cuStreamDestroy(first));

        final CUstream second = stream(CUstream_flags.CU_STREAM_NON_BLOCKING);

        assertNotEquals(id, gpu.work().idOf(DevicePointers.handle(second)));
        assertNotEquals(gpu.work().idOf(0), gpu.work().idOf(DevicePointers.handle(second)));
    }

    /** JCuda takes "not ready" for an error. */
    @Test
    void shouldAskWithoutAnExceptionWhileAKernelRuns() {
        final CudaWork work = gpu.work();
        final CUfunction kernel = kernel();
        final CUstream stream = stream(CUstream_flags.CU_STREAM_DEFAULT);
        final long address = pool.allocate(BLOCK_BYTES);
        JCudaDriver.setExceptionsEnabled(true);
        try {
            launch(kernel, address, GpuProgram.LONG_CYCLES, stream);
            final long all = work.mark();
            final long one = work.mark(DevicePointers.handle(stream));

            assertFalse(work.isFinished(all));
            assertFalse(work.isFinished(one));
            work.await(all);
            assertTrue(work.isFinished(all));
            assertTrue(work.isFinished(one));
            work.release(all);
            work.release(one);
        } finally {
            JCudaDriver.setExceptionsEnabled(false);
        }
        pool.free(address);
    }

    /** Mapped memory belongs to no context. */
    @Test
    void shouldWaitForAnotherContextThatUsesTheMemory() {
        assumeTrue(
                DriverLibrary.virtualMemory().isPresent(),
                "skipped, needs JDK 22 or newer, and the classes in their jar");
        final CUcontext primary = new CUcontext();
        succeed(JCudaDriver.cuCtxGetCurrent(primary));
        final CUdevice device = new CUdevice();
        succeed(JCudaDriver.cuDeviceGet(device, 0));
        final CUcontext other = new CUcontext();
        succeed(JCudaDriver.cuCtxCreate(other, 0, device));
        gpu.work().add(DevicePointers.handle(other));
        final CUfunction kernel = kernel();
        final CUstream stream = stream(CUstream_flags.CU_STREAM_NON_BLOCKING);

        assertNotCorrupted(address -> {
            succeed(JCudaDriver.cuCtxSetCurrent(other));
            launch(kernel, address, GpuProgram.LONG_CYCLES, stream);
            succeed(JCudaDriver.cuCtxSetCurrent(primary));
        });
    }

    @Test
    void shouldWaitForAKernelOfAnotherDevice() {
        final int[] count = new int[1];
        JCuda.cudaGetDeviceCount(count);
        assumeTrue(count[0] >= 2, "skipped, needs two GPUs");
        final int[] can = new int[1];
        succeed(JCuda.cudaDeviceCanAccessPeer(can, 1, 0));
        assumeTrue(can[0] == 1, "skipped, needs GPUs that reach each other");
        gpu.source().show(1);
        succeed(JCuda.cudaSetDevice(1));
        JCuda.cudaDeviceEnablePeerAccess(0, 0);
        final CUfunction kernel = kernel();
        final CUstream stream = stream(CUstream_flags.CU_STREAM_NON_BLOCKING);

        assertNotCorrupted(address -> {
            succeed(JCuda.cudaSetDevice(1));
            launch(kernel, address, GpuProgram.LONG_CYCLES, stream);
        });
    }

    // The following tests are about captures.

    @ParameterizedTest
    @CsvSource({"0,true", "1,true", "2,true", "0,false", "1,false", "2,false"})
    void shouldLeaveCapturesAlone(final int mode, final boolean announced) throws Exception {
        final CUfunction kernel = kernel();
        final ExecutorService other = Executors.newSingleThreadExecutor();
        final AtomicBoolean finished = new AtomicBoolean();
        try (CudaPool large = CudaPool.open(0)) {
            final long address = large.pool().allocate(BLOCK_BYTES);
            final Future<Long> churned = other.submit(() -> {
                long rounds = 0;
                for (; !finished.get(); rounds++) {
                    large.pool().free(large.pool().allocate(1L << 20));
                }
                return rounds;
            });
            // A capture that nobody announces is seen on streams that block, and none may begin while somebody asks.
            final CUstream stream =
                    stream(announced ? CUstream_flags.CU_STREAM_NON_BLOCKING : CUstream_flags.CU_STREAM_DEFAULT);
            if (!announced) {
                finished.set(true);
                churned.get();
            }
            for (int i = 0; i < 200; i++) {
                final CudaWork.Capture capture = announced ? large.capture(DevicePointers.handle(stream)) : null;
                succeed(JCudaDriver.cuStreamBeginCapture(stream, mode));
                launch(kernel, address, 0, stream);
                for (int j = 0; j < 20; j++) {
                    large.pool().free(large.pool().allocate(1L << 20));
                }
                final CUgraph graph = new CUgraph();
                succeed(JCudaDriver.cuStreamEndCapture(stream, graph));
                if (capture != null) {
                    capture.close();
                }
                final long[] nodes = new long[1];
                succeed(JCudaDriver.cuGraphGetNodes(graph, null, nodes));
                assertEquals(1, nodes[0]);
                succeed(JCudaDriver.cuGraphDestroy(graph));
            }
            finished.set(true);
            churned.get();
            large.pool().free(address);
        } finally {
            finished.set(true);
            other.shutdown();
        }
    }

    /**
     * A mark must hold no other work up. An event on the default stream would: a kernel on another blocking stream
     * waits for it.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldHoldNothingUp(final boolean blocking) {
        assumeTrue(
                blocking || Runtime.version().feature() >= 22,
                "the first mark waits for other streams' work where contexts can't be marked");
        final int flags = blocking ? CUstream_flags.CU_STREAM_DEFAULT : CUstream_flags.CU_STREAM_NON_BLOCKING;
        final CUfunction kernel = kernel();
        final CUstream slow = stream(flags);
        final CUstream fast = stream(flags);
        final long address = pool.allocate(BLOCK_BYTES);
        launch(kernel, address, 0, fast);
        succeed(JCuda.cudaDeviceSynchronize());
        launch(kernel, address, GpuProgram.LONG_CYCLES, slow);

        final long mark = gpu.work().mark();
        launch(kernel, address, 0, fast);
        succeed(JCudaDriver.cuStreamSynchronize(fast));

        assertFalse(gpu.work().isFinished(mark), "the slow one still runs");
        gpu.work().release(mark);
        succeed(JCuda.cudaDeviceSynchronize());
        pool.free(address);
    }
}
