package io.outboard.cuda.internal.facade;

import static io.outboard.cuda.internal.facade.GpuProgram.succeed;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.Gpu;
import io.outboard.pool.ReusePolicy;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaError;
import jcuda.runtime.cudaStream_t;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * This class captures a stream into a graph while memory is allocated and freed. The twin without a GPU is {@link
 * FacadeCaptureTest}.
 */
@Tag("gpu")
class FacadeCaptureGpuTest {

    private static final long BLOCK_BYTES = 1L << 20;
    private static final long STRESS_NANOS = 4_000_000_000L;

    @BeforeEach
    void requireGpu() {
        Gpu.require();
    }

    @ParameterizedTest
    @EnumSource
    void shouldNotBreakACapture(final ReusePolicy policy) {
        assertCaptured(policy, CUstream_flags.CU_STREAM_NON_BLOCKING, true);
        assertCaptured(policy, CUstream_flags.CU_STREAM_DEFAULT, true);
    }

    @ParameterizedTest
    @EnumSource
    void shouldNotBreakACaptureThatBeganElsewhere(final ReusePolicy policy) {
        assertCaptured(policy, CUstream_flags.CU_STREAM_DEFAULT, false);
    }

    private static void assertCaptured(final ReusePolicy policy, final int flags, final boolean byFacade) {
        try (GpuProgram program = new GpuProgram(policy)) {
            final CUstream stream = program.createStream(flags);
            final Pointer data = program.malloc(BLOCK_BYTES);
            final CUgraph graph = new CUgraph();
            final int mode = CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL;
            succeed(
                    byFacade
                            ? program.driver.cuStreamBeginCapture(stream, mode)
                            : JCudaDriver.cuStreamBeginCapture(stream, mode));

            program.launch(data, BLOCK_BYTES, 0x77777777, 0, stream);
            // The block is larger than the first region, and than what limbo may hold.
            final Pointer large = program.malloc(2 * GpuProgram.FIRST_REGION_BYTES);
            for (int i = 0; i < 500; i++) {
                succeed(program.runtime.cudaFree(program.malloc(BLOCK_BYTES)));
            }
            succeed(
                    byFacade
                            ? program.driver.cuStreamEndCapture(stream, graph)
                            : JCudaDriver.cuStreamEndCapture(stream, graph));
            final CUgraphExec exec = new CUgraphExec();
            succeed(JCudaDriver.cuGraphInstantiate(exec, graph, 0));
            succeed(JCudaDriver.cuGraphLaunch(exec, stream));

            assertTrue(GpuProgram.holds(data, BLOCK_BYTES, (byte) 0x77));
            succeed(JCudaDriver.cuGraphExecDestroy(exec));
            succeed(JCudaDriver.cuGraphDestroy(graph));
            succeed(program.runtime.cudaFree(large));
            succeed(program.runtime.cudaFree(data));
            succeed(program.driver.cuStreamDestroy(stream));
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldLeaveTheMemoryOfAGraphToTheDriver(final ReusePolicy policy) {
        try (GpuProgram program = new GpuProgram(policy)) {
            final CUstream stream = program.createStream(CUstream_flags.CU_STREAM_NON_BLOCKING);
            final CUdeviceptr pooled = new CUdeviceptr();
            final CUdeviceptr graphs = new CUdeviceptr();
            final CUgraph graph = new CUgraph();
            succeed(program.driver.cuMemAlloc(pooled, BLOCK_BYTES));
            succeed(program.driver.cuStreamBeginCapture(stream, CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL));
            succeed(program.driver.cuMemAllocAsync(graphs, BLOCK_BYTES, stream));
            program.launch(graphs, BLOCK_BYTES, 1, 0, stream);
            succeed(program.driver.cuMemFreeAsync(graphs, stream));
            final int refused = program.driver.cuMemFreeAsync(pooled, stream);
            succeed(program.driver.cuStreamEndCapture(stream, graph));
            final long[] nodes = new long[1];
            succeed(JCudaDriver.cuGraphGetNodes(graph, null, nodes));

            assertAll(
                    () -> assertEquals(cudaError.cudaErrorStreamCaptureUnsupported, refused),
                    () -> assertEquals(3, nodes[0], "allocate, launch, free"));
            succeed(JCudaDriver.cuGraphDestroy(graph));
            succeed(program.driver.cuMemFree(pooled));
            succeed(program.driver.cuStreamDestroy(stream));
            succeed(JCuda.cudaDeviceSynchronize());
        }
    }

    /** One thread captures repeatedly, another allocates and frees. The process used to crash. */
    @ParameterizedTest
    @EnumSource
    void shouldNotBreakCapturesWhileAnotherThreadFrees(final ReusePolicy policy)
            throws InterruptedException, ExecutionException {
        final ExecutorService other = Executors.newSingleThreadExecutor();
        final AtomicBoolean finished = new AtomicBoolean();
        try (GpuProgram program = new GpuProgram(policy)) {
            final CUstream stream = program.createStream(CUstream_flags.CU_STREAM_NON_BLOCKING);
            final Pointer data = program.malloc(BLOCK_BYTES);
            final Future<Long> freed = other.submit(() -> {
                long count = 0;
                for (; !finished.get(); count++) {
                    succeed(program.runtime.cudaFree(program.malloc(4 * BLOCK_BYTES)));
                }
                return count;
            });
            final long end = System.nanoTime() + STRESS_NANOS;
            int captures = 0;
            for (; System.nanoTime() < end && !freed.isDone(); captures++) {
                final CUgraph graph = new CUgraph();
                final int mode = captures % 2 == 0
                        ? CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
                        : CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED;
                succeed(program.driver.cuStreamBeginCapture(stream, mode));
                program.launch(data, BLOCK_BYTES, captures, 0, stream);
                succeed(program.driver.cuStreamEndCapture(stream, graph));
                final long[] nodes = new long[1];
                succeed(JCudaDriver.cuGraphGetNodes(graph, null, nodes));
                assertEquals(1, nodes[0]);
                succeed(JCudaDriver.cuGraphDestroy(graph));
            }
            finished.set(true);

            final String counts = captures + " captures, " + freed.get() + " blocks";
            assertTrue(captures > 0 && freed.get() > 0, counts);
            succeed(program.runtime.cudaFree(data));
            succeed(program.driver.cuStreamDestroy(stream));
        } finally {
            finished.set(true);
            other.shutdown();
            other.awaitTermination(10, TimeUnit.SECONDS);
        }
    }

    /** The destroyed stream's kernel runs on, and can be marked neither during the capture nor afterwards. */
    @ParameterizedTest
    @EnumSource(names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldWaitForAStreamThatEndedDuringACapture(final ReusePolicy policy) {
        try (GpuProgram program = new GpuProgram(policy)) {
            final CUstream captured = program.createStream(CUstream_flags.CU_STREAM_NON_BLOCKING);
            final CUstream slow = program.createStream(CUstream_flags.CU_STREAM_NON_BLOCKING);
            final CUstream fast = program.createStream(CUstream_flags.CU_STREAM_NON_BLOCKING);
            final CUgraph graph = new CUgraph();
            final long bytes = GpuProgram.FIRST_REGION_BYTES;
            final Pointer freed = program.malloc(bytes);
            program.launch(freed, bytes, 0x5A5A5A5A, GpuProgram.LONG_CYCLES, slow);
            succeed(program.driver.cuStreamBeginCapture(captured, CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL));
            succeed(program.runtime.cudaFree(freed));
            succeed(program.driver.cuStreamDestroy(slow));
            succeed(program.driver.cuStreamEndCapture(captured, graph));

            final Pointer next = program.malloc(bytes);
            succeed(JCuda.cudaMemsetAsync(next, 0x77, bytes, new cudaStream_t(fast)));

            assertTrue(GpuProgram.holds(next, bytes, (byte) 0x77));
            succeed(program.runtime.cudaFree(next));
            succeed(JCudaDriver.cuGraphDestroy(graph));
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldGiveRegionsBackWithoutBreakingACapture(final ReusePolicy policy) {
        try (GpuProgram program = new GpuProgram(policy)) {
            final CUstream stream = program.createStream(CUstream_flags.CU_STREAM_NON_BLOCKING);
            final CUgraph graph = new CUgraph();
            succeed(program.runtime.cudaFree(program.malloc(BLOCK_BYTES)));
            succeed(program.driver.cuStreamBeginCapture(stream, CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL));

            Objects.requireNonNull(program.pools.ofDevice(0)).pool().trimTo(0);

            succeed(program.driver.cuStreamEndCapture(stream, graph));
            succeed(JCudaDriver.cuGraphDestroy(graph));
        }
    }

    /** The driver crashes when it is asked about a stream that was destroyed. */
    @ParameterizedTest
    @EnumSource(names = {"STRICT", "IMMEDIATE"})
    void shouldNotAskStreamsThatWereDestroyedElsewhere(final ReusePolicy policy) {
        try (GpuProgram program = new GpuProgram(policy)) {
            succeed(JCudaDriver.cuStreamDestroy(program.createStream(CUstream_flags.CU_STREAM_NON_BLOCKING)));

            for (int i = 0; i < 100; i++) {
                succeed(program.runtime.cudaFree(program.malloc(4 * BLOCK_BYTES)));
            }
        }
    }

    /** A destroyed context ends the capture; the pools of other contexts go on. */
    @Test
    void shouldForgetACaptureThatEndedWithItsContext() {
        try (GpuProgram program = new GpuProgram(ReusePolicy.STRICT)) {
            final CUcontext context = new CUcontext();
            final CUdevice device = new CUdevice();
            succeed(JCudaDriver.cuDeviceGet(device, 0));
            succeed(program.driver.cuCtxCreate(context, 0, device));
            final CUstream stream = program.createStream(CUstream_flags.CU_STREAM_NON_BLOCKING);
            succeed(program.driver.cuStreamBeginCapture(stream, CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED));
            assertTrue(program.pools.captures().any());

            succeed(program.driver.cuCtxDestroy(context));

            assertFalse(program.pools.captures().any());
            succeed(program.runtime.cudaSetDevice(0));
            final long held = Objects.requireNonNull(program.pools.ofDevice(0))
                    .pool()
                    .statistics()
                    .heldBytes();
            for (int i = 0; i < 100; i++) {
                succeed(program.runtime.cudaFree(program.malloc(4 * BLOCK_BYTES)));
            }
            assertEquals(
                    Math.max(held, GpuProgram.FIRST_REGION_BYTES),
                    Objects.requireNonNull(program.pools.ofDevice(0))
                            .pool()
                            .statistics()
                            .heldBytes(),
                    "limbo comes back");
        }
    }
}
