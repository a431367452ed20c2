package examples;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
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

/**
 * The program calls CUDA by JavaCPP: some threads allocate a buffer, have a kernel fill it, check every hundredth, and
 * free it at once, while a kernel may run. Then one thread captures an allocation into a graph, which it launches.
 *
 * <pre>java ... examples.JavaCppBuffers [ROUNDS]</pre>
 *
 * <p>The output says whether the buffers held what was written; the error output says how long calls that allocate and
 * free took.
 */
public final class JavaCppBuffers {

    private static final int THREADS = 4;
    private static final int ROUNDS = 2_000;
    private static final int WARM_UP_ROUNDS = 200;
    private static final int CHECKED = 100;
    private static final int LEAST_WORDS = 1_000;
    private static final int MOST_WORDS = 500_000;
    private static final int BLOCK = 256;
    private static final long LONG_NS = 100_000;

    /** The kernel writes a value into each of so many words. */
    static final String FILL = """
            .version 6.0
            .target sm_50
            .address_size 64

            .visible .entry fill(.param .u64 words, .param .u32 count, .param .u32 value)
            {
                .reg .pred %p<2>;
                .reg .b32 %r<7>;
                .reg .b64 %rd<4>;

                ld.param.u64 %rd1, [words];
                ld.param.u32 %r1, [count];
                ld.param.u32 %r2, [value];
                mov.u32 %r3, %ctaid.x;
                mov.u32 %r4, %ntid.x;
                mov.u32 %r5, %tid.x;
                mad.lo.u32 %r6, %r3, %r4, %r5;
                setp.ge.u32 %p1, %r6, %r1;
                @%p1 bra done;
                mul.wide.u32 %rd2, %r6, 4;
                cvta.to.global.u64 %rd3, %rd1;
                add.u64 %rd3, %rd3, %rd2;
                st.global.u32 [%rd3], %r2;
            done:
                ret;
            }
            """;

    private JavaCppBuffers() {}

    public static void main(final String... args) throws Exception {
        check(cudart.cudaSetDevice(0));
        check(cudart.cudaFree(null));
        final CUmod_st module = new CUmod_st();
        check(cudart.cuModuleLoadData(module, new BytePointer(FILL)));
        final CUfunc_st fill = new CUfunc_st();
        check(cudart.cuModuleGetFunction(fill, module, "fill"));

        final int rounds = args.length > 0 ? Integer.parseInt(args[0]) : ROUNDS;
        run(fill, WARM_UP_ROUNDS);
        final long[] outcome = run(fill, rounds);
        System.out.println("wrong words: " + outcome[0]);
        System.err.printf(
                Locale.ROOT,
                "calls: %d, %.3f ms, of which %.3f ms are in calls of more than 0.1 ms%n",
                2L * THREADS * rounds,
                outcome[1] / 1e6,
                outcome[2] / 1e6);
        System.out.println("wrong words of a graph: " + capture(fill));
        check(cudart.cudaDeviceReset());
    }

    /** Returns the number of wrong words, the nanoseconds in calls, and those in long calls. */
    private static long[] run(final CUfunc_st fill, final int rounds) throws Exception {
        final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            final List<Callable<long[]>> tasks = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                final int seed = thread;
                tasks.add(() -> useBuffers(fill, rounds, new Random(seed)));
            }
            final long[] sums = new long[3];
            for (final Future<long[]> each : threads.invokeAll(tasks)) {
                final long[] part = each.get();
                Arrays.setAll(sums, i -> sums[i] + part[i]);
            }
            return sums;
        } finally {
            threads.shutdown();
        }
    }

    private static long[] useBuffers(final CUfunc_st fill, final int rounds, final Random random) {
        check(cudart.cudaSetDevice(0));
        final CUstream_st stream = new CUstream_st();
        check(cudart.cudaStreamCreateWithFlags(stream, cudart.cudaStreamNonBlocking));
        final IntPointer copy = new IntPointer(MOST_WORDS);
        long wrong = 0;
        final long[] ns = new long[2];
        for (int round = 0; round < rounds; round++) {
            final int count = LEAST_WORDS + random.nextInt(MOST_WORDS - LEAST_WORDS);
            final Pointer buffer = new Pointer();
            final long before = System.nanoTime();
            check(cudart.cudaMalloc(buffer, 4L * count));
            add(ns, System.nanoTime() - before);
            launch(fill, buffer, count, round, stream);
            if (round % CHECKED == 0) {
                check(cudart.cudaMemcpyAsync(copy, buffer, 4L * count, cudart.cudaMemcpyDeviceToHost, stream));
                check(cudart.cudaStreamSynchronize(stream));
                for (int i = 0; i < count; i++) {
                    wrong += copy.get(i) == round ? 0 : 1;
                }
            }
            final long freed = System.nanoTime();
            check(cudart.cudaFree(buffer));
            add(ns, System.nanoTime() - freed);
        }
        check(cudart.cudaStreamDestroy(stream));
        return new long[] {wrong, ns[0], ns[1]};
    }

    private static void add(final long[] ns, final long more) {
        ns[0] += more;
        ns[1] += more > LONG_NS ? more : 0;
    }

    /** Left to the driver alone, a block of the pool would end the capture. */
    private static long capture(final CUfunc_st fill) {
        final CUstream_st stream = new CUstream_st();
        check(cudart.cudaStreamCreateWithFlags(stream, cudart.cudaStreamNonBlocking));
        final Pointer kept = new Pointer();
        check(cudart.cudaMalloc(kept, 4L * LEAST_WORDS));
        final CUgraph_st graph = new CUgraph_st();
        check(cudart.cudaStreamBeginCapture(stream, cudart.cudaStreamCaptureModeGlobal));
        final Pointer captured = new Pointer();
        check(cudart.cudaMallocAsync(captured, 4L * LEAST_WORDS, stream));
        launch(fill, captured, LEAST_WORDS, 7, stream);
        check(cudart.cudaMemcpyAsync(kept, captured, 4L * LEAST_WORDS, cudart.cudaMemcpyDeviceToDevice, stream));
        check(cudart.cudaFreeAsync(captured, stream));
        check(cudart.cudaStreamEndCapture(stream, graph));
        final CUgraphExec_st executable = new CUgraphExec_st();
        check(cudart.cudaGraphInstantiate(executable, graph, 0));
        check(cudart.cudaGraphLaunch(executable, stream));
        final IntPointer copy = new IntPointer(LEAST_WORDS);
        check(cudart.cudaMemcpyAsync(copy, kept, 4L * LEAST_WORDS, cudart.cudaMemcpyDeviceToHost, stream));
        check(cudart.cudaStreamSynchronize(stream));
        long wrong = 0;
        for (int i = 0; i < LEAST_WORDS; i++) {
            wrong += copy.get(i) == 7 ? 0 : 1;
        }
        check(cudart.cudaFree(kept));
        check(cudart.cudaGraphExecDestroy(executable));
        check(cudart.cudaGraphDestroy(graph));
        check(cudart.cudaStreamDestroy(stream));
        return wrong;
    }

    private static void launch(
            final CUfunc_st fill, final Pointer buffer, final int count, final int value, final CUstream_st stream) {
        try (LongPointer address = new LongPointer(1).put(buffer.address());
                IntPointer words = new IntPointer(1).put(count);
                IntPointer content = new IntPointer(1).put(value);
                PointerPointer<Pointer> parameters = new PointerPointer<>(address, words, content)) {
            final int grid = (count + BLOCK - 1) / BLOCK;
            check(cudart.cuLaunchKernel(
                    fill, grid, 1, 1, BLOCK, 1, 1, 0, stream, parameters, (PointerPointer<?>) null));
        }
    }

    private static void check(final int code) {
        if (code != 0) {
            throw new IllegalStateException("code=" + code + " must be 0");
        }
    }
}
