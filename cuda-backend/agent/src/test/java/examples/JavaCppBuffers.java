package examples;

import org.bytedeco.cuda.cudart.CUfunc_st;
import org.bytedeco.cuda.cudart.CUgraphExec_st;
import org.bytedeco.cuda.cudart.CUgraph_st;
import org.bytedeco.cuda.cudart.CUmod_st;
import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.IntPointer;
import org.bytedeco.javacpp.LongPointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerPointer;

/** The {@link Buffers} of JavaCPP; at the end one thread captures an allocation into a graph, which it launches. */
public final class JavaCppBuffers extends Buffers {

    private final CUfunc_st fill;
    private final CUstream_st stream = new CUstream_st();
    private final IntPointer copy = new IntPointer(MOST_WORDS);
    private Pointer buffer = new Pointer();

    private JavaCppBuffers(final CUfunc_st fill) {
        this.fill = fill;
        check(cudart.cudaSetDevice(0));
        check(cudart.cudaStreamCreateWithFlags(stream, cudart.cudaStreamNonBlocking));
    }

    public static void main(final String... args) throws Exception {
        check(cudart.cudaSetDevice(0));
        check(cudart.cudaFree(null));
        final CUmod_st module = new CUmod_st();
        check(cudart.cuModuleLoadData(module, new BytePointer(FILL)));
        final CUfunc_st fill = new CUfunc_st();
        check(cudart.cuModuleGetFunction(fill, module, "fill"));
        run(args, () -> new JavaCppBuffers(fill));
        final JavaCppBuffers buffers = new JavaCppBuffers(fill);
        System.out.println("wrong words of a graph: " + buffers.capture());
        buffers.destroy();
        check(cudart.cudaDeviceReset());
    }

    @Override
    void allocate(final long bytes) {
        buffer = new Pointer();
        check(cudart.cudaMalloc(buffer, bytes));
    }

    @Override
    void fill(final int count, final int value) {
        try (LongPointer address = new LongPointer(1).put(buffer.address());
                IntPointer words = new IntPointer(1).put(count);
                IntPointer content = new IntPointer(1).put(value);
                PointerPointer<Pointer> parameters = new PointerPointer<>(address, words, content)) {
            check(cudart.cuLaunchKernel(
                    fill, grid(count), 1, 1, BLOCK, 1, 1, 0, stream, parameters, (PointerPointer<?>) null));
        }
    }

    @Override
    void read(final int[] words, final int count) {
        check(cudart.cudaMemcpyAsync(copy, buffer, 4L * count, cudart.cudaMemcpyDeviceToHost, stream));
        check(cudart.cudaStreamSynchronize(stream));
        copy.get(words, 0, count);
    }

    @Override
    void free() {
        check(cudart.cudaFree(buffer));
    }

    @Override
    void destroy() {
        check(cudart.cudaStreamDestroy(stream));
        copy.close();
    }

    /** Left to the driver alone, a block of the pool would end the capture. */
    private long capture() {
        final Pointer kept = new Pointer();
        check(cudart.cudaMalloc(kept, 4L * LEAST_WORDS));
        final CUgraph_st graph = new CUgraph_st();
        check(cudart.cudaStreamBeginCapture(stream, cudart.cudaStreamCaptureModeGlobal));
        check(cudart.cudaMallocAsync(buffer, 4L * LEAST_WORDS, stream));
        fill(LEAST_WORDS, 7);
        check(cudart.cudaMemcpyAsync(kept, buffer, 4L * LEAST_WORDS, cudart.cudaMemcpyDeviceToDevice, stream));
        check(cudart.cudaFreeAsync(buffer, stream));
        check(cudart.cudaStreamEndCapture(stream, graph));
        final CUgraphExec_st executable = new CUgraphExec_st();
        check(cudart.cudaGraphInstantiate(executable, graph, 0));
        check(cudart.cudaGraphLaunch(executable, stream));
        final int[] words = new int[LEAST_WORDS];
        buffer = kept;
        read(words, LEAST_WORDS);
        check(cudart.cudaFree(kept));
        check(cudart.cudaGraphExecDestroy(executable));
        check(cudart.cudaGraphDestroy(graph));
        return wrongWords(words, LEAST_WORDS, 7);
    }
}
