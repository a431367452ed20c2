package io.outboard.cuda;

import static io.outboard.cuda.GpuProgram.succeed;
import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.ReusePolicy;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaError;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A stream is captured into a graph while memory comes and goes. Its CPU twin is {@link FacadeCaptureTest}. */
@Tag("gpu")
class FacadeCaptureGpuTest {

    private static final long BLOCK_BYTES = 1L << 20;

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
        assertCaptured(policy, CUstream_flags.CU_STREAM_NON_BLOCKING, false);
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
            // More than the first region, and more than limbo may hold.
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
}
