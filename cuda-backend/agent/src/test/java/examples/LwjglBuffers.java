package examples;

import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.lwjgl.PointerBuffer;
import org.lwjgl.cuda.CU;
import org.lwjgl.system.MemoryStack;
import org.lwjgl.system.MemoryUtil;

/**
 * The program calls the driver by LWJGL: some threads allocate a buffer, have a kernel fill it, check every hundredth,
 * and free it at once, while a kernel may run. Then one thread captures an allocation into a graph, which it launches.
 *
 * <pre>java ... examples.LwjglBuffers [ROUNDS]</pre>
 *
 * <p>The output says whether the buffers held what was written; the error output says how long calls that allocate and
 * free took. Where the system has the driver's library under the name {@code libcuda.so.1} alone, LWJGL needs {@code
 * -Dorg.lwjgl.cuda.libname=libcuda.so.1}.
 */
public final class LwjglBuffers {

    private static final int THREADS = 4;
    private static final int ROUNDS = 2_000;
    private static final int WARM_UP_ROUNDS = 200;
    private static final int CHECKED = 100;
    private static final int LEAST_WORDS = 1_000;
    private static final int MOST_WORDS = 500_000;
    private static final int BLOCK = 256;
    private static final long LONG_NS = 100_000;

    private LwjglBuffers() {}

    public static void main(final String... args) throws Exception {
        final int rounds = args.length > 0 ? Integer.parseInt(args[0]) : ROUNDS;
        final long context;
        final long fill;
        try (MemoryStack stack = MemoryStack.stackPush()) {
            final PointerBuffer handle = stack.mallocPointer(1);
            final IntBuffer device = stack.mallocInt(1);
            check(CU.cuInit(0));
            check(CU.cuDeviceGet(device, 0));
            check(CU.cuDevicePrimaryCtxRetain(handle, device.get(0)));
            context = handle.get(0);
            check(CU.cuCtxSetCurrent(context));
            final ByteBuffer ptx = MemoryUtil.memASCII(JavaCppBuffers.FILL);
            check(CU.cuModuleLoadData(handle, ptx));
            MemoryUtil.memFree(ptx);
            check(CU.cuModuleGetFunction(handle, handle.get(0), "fill"));
            fill = handle.get(0);
        }

        run(context, fill, WARM_UP_ROUNDS);
        final long[] outcome = run(context, fill, rounds);
        System.out.println("wrong words: " + outcome[0]);
        System.err.printf(
                Locale.ROOT,
                "calls: %d, %.3f ms, of which %.3f ms are in calls of more than 0.1 ms%n",
                2L * THREADS * rounds,
                outcome[1] / 1e6,
                outcome[2] / 1e6);
        System.out.println("wrong words of a graph: " + capture(fill));
        check(CU.cuDevicePrimaryCtxReset(0));
    }

    /** Returns the number of wrong words, the nanoseconds in calls, and those in long calls. */
    private static long[] run(final long context, final long fill, final int rounds) throws Exception {
        final ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            final List<Callable<long[]>> tasks = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                final int seed = thread;
                tasks.add(() -> useBuffers(context, fill, rounds, new Random(seed)));
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

    private static long[] useBuffers(final long context, final long fill, final int rounds, final Random random) {
        check(CU.cuCtxSetCurrent(context));
        final PointerBuffer buffer = MemoryUtil.memAllocPointer(1);
        final IntBuffer copy = MemoryUtil.memAllocInt(MOST_WORDS);
        final long stream = newStream();
        long wrong = 0;
        final long[] ns = new long[2];
        for (int round = 0; round < rounds; round++) {
            final int count = LEAST_WORDS + random.nextInt(MOST_WORDS - LEAST_WORDS);
            final long before = System.nanoTime();
            check(CU.cuMemAlloc(buffer, 4L * count));
            add(ns, System.nanoTime() - before);
            launch(fill, buffer.get(0), count, round, stream);
            if (round % CHECKED == 0) {
                wrong += wrongWords(buffer.get(0), copy.limit(count), round, stream);
            }
            final long freed = System.nanoTime();
            check(CU.cuMemFree(buffer.get(0)));
            add(ns, System.nanoTime() - freed);
        }
        check(CU.cuStreamDestroy(stream));
        MemoryUtil.memFree(copy);
        MemoryUtil.memFree(buffer);
        return new long[] {wrong, ns[0], ns[1]};
    }

    private static void add(final long[] ns, final long more) {
        ns[0] += more;
        ns[1] += more > LONG_NS ? more : 0;
    }

    /** Left to the driver alone, a block of the pool would end the capture. */
    private static long capture(final long fill) {
        final long stream = newStream();
        final IntBuffer copy = MemoryUtil.memAllocInt(LEAST_WORDS);
        try (MemoryStack stack = MemoryStack.stackPush()) {
            final PointerBuffer kept = stack.mallocPointer(1);
            check(CU.cuMemAlloc(kept, 4L * LEAST_WORDS));
            check(CU.cuStreamBeginCapture_v2(stream, CU.CU_STREAM_CAPTURE_MODE_GLOBAL));
            final PointerBuffer captured = stack.mallocPointer(1);
            check(CU.cuMemAllocAsync(captured, 4L * LEAST_WORDS, stream));
            launch(fill, captured.get(0), LEAST_WORDS, 7, stream);
            check(CU.cuMemcpyDtoDAsync(kept.get(0), captured.get(0), 4L * LEAST_WORDS, stream));
            check(CU.cuMemFreeAsync(captured.get(0), stream));
            final PointerBuffer graph = stack.mallocPointer(1);
            check(CU.cuStreamEndCapture(stream, graph));
            final PointerBuffer executable = stack.mallocPointer(1);
            check(CU.cuGraphInstantiateWithFlags(executable, graph.get(0), 0));
            check(CU.cuGraphLaunch(executable.get(0), stream));
            final long wrong = wrongWords(kept.get(0), copy, 7, stream);
            check(CU.cuMemFree(kept.get(0)));
            check(CU.cuGraphExecDestroy(executable.get(0)));
            check(CU.cuGraphDestroy(graph.get(0)));
            check(CU.cuStreamDestroy(stream));
            return wrong;
        } finally {
            MemoryUtil.memFree(copy);
        }
    }

    private static long newStream() {
        try (MemoryStack stack = MemoryStack.stackPush()) {
            final PointerBuffer stream = stack.mallocPointer(1);
            check(CU.cuStreamCreate(stream, CU.CU_STREAM_NON_BLOCKING));
            return stream.get(0);
        }
    }

    private static void launch(
            final long fill, final long address, final int count, final int value, final long stream) {
        try (MemoryStack stack = MemoryStack.stackPush()) {
            final PointerBuffer parameters = stack.pointers(
                    MemoryUtil.memAddress(stack.longs(address)),
                    MemoryUtil.memAddress(stack.ints(count)),
                    MemoryUtil.memAddress(stack.ints(value)));
            final int grid = (count + BLOCK - 1) / BLOCK;
            check(CU.cuLaunchKernel(fill, grid, 1, 1, BLOCK, 1, 1, 0, stream, parameters, null));
        }
    }

    private static long wrongWords(final long address, final IntBuffer copy, final int value, final long stream) {
        check(CU.cuMemcpyDtoHAsync(copy, address, stream));
        check(CU.cuStreamSynchronize(stream));
        long wrong = 0;
        for (int i = 0; i < copy.limit(); i++) {
            wrong += copy.get(i) == value ? 0 : 1;
        }
        return wrong;
    }

    private static void check(final int code) {
        if (code != 0) {
            throw new IllegalStateException("code=" + code + " must be 0");
        }
    }
}
