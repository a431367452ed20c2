package examples;

import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import org.lwjgl.PointerBuffer;
import org.lwjgl.cuda.CU;
import org.lwjgl.system.MemoryStack;
import org.lwjgl.system.MemoryUtil;

/**
 * The {@link Buffers} of LWJGL; at the end one thread captures an allocation into a graph, which it launches. Where the
 * system has the driver's library under the name {@code libcuda.so.1} alone, LWJGL needs {@code
 * -Dorg.lwjgl.cuda.libname=libcuda.so.1}.
 */
public final class LwjglBuffers extends Buffers {

    private final long fill;
    private final PointerBuffer buffer = MemoryUtil.memAllocPointer(1);
    private final IntBuffer copy = MemoryUtil.memAllocInt(MOST_WORDS);
    private final long stream;

    private LwjglBuffers(final long context, final long fill) {
        this.fill = fill;
        check(CU.cuCtxSetCurrent(context));
        try (MemoryStack stack = MemoryStack.stackPush()) {
            final PointerBuffer made = stack.mallocPointer(1);
            check(CU.cuStreamCreate(made, CU.CU_STREAM_NON_BLOCKING));
            stream = made.get(0);
        }
    }

    public static void main(final String... args) throws Exception {
        try (MemoryStack stack = MemoryStack.stackPush()) {
            final PointerBuffer handle = stack.mallocPointer(1);
            check(CU.cuInit(0));
            check(CU.cuDevicePrimaryCtxRetain(handle, 0));
            final long context = handle.get(0);
            check(CU.cuCtxSetCurrent(context));
            final ByteBuffer ptx = MemoryUtil.memASCII(FILL);
            check(CU.cuModuleLoadData(handle, ptx));
            MemoryUtil.memFree(ptx);
            check(CU.cuModuleGetFunction(handle, handle.get(0), "fill"));
            final long fill = handle.get(0);
            run(args, () -> new LwjglBuffers(context, fill));
            final LwjglBuffers buffers = new LwjglBuffers(context, fill);
            System.out.println("wrong words of a graph: " + buffers.capture());
            buffers.destroy();
        }
        check(CU.cuDevicePrimaryCtxReset(0));
    }

    @Override
    void allocate(final long bytes) {
        check(CU.cuMemAlloc(buffer, bytes));
    }

    @Override
    void fill(final int count, final int value) {
        try (MemoryStack stack = MemoryStack.stackPush()) {
            final PointerBuffer parameters = stack.pointers(
                    MemoryUtil.memAddress(stack.longs(buffer.get(0))),
                    MemoryUtil.memAddress(stack.ints(count)),
                    MemoryUtil.memAddress(stack.ints(value)));
            check(CU.cuLaunchKernel(fill, grid(count), 1, 1, BLOCK, 1, 1, 0, stream, parameters, null));
        }
    }

    @Override
    void read(final int[] words, final int count) {
        check(CU.cuMemcpyDtoHAsync(copy.limit(count), buffer.get(0), stream));
        check(CU.cuStreamSynchronize(stream));
        copy.get(0, words, 0, count);
    }

    @Override
    void free() {
        check(CU.cuMemFree(buffer.get(0)));
    }

    @Override
    void destroy() {
        check(CU.cuStreamDestroy(stream));
        MemoryUtil.memFree(copy);
        MemoryUtil.memFree(buffer);
    }

    /** Left to the driver alone, a block of the pool would end the capture. */
    private long capture() {
        try (MemoryStack stack = MemoryStack.stackPush()) {
            final PointerBuffer kept = stack.mallocPointer(1);
            check(CU.cuMemAlloc(kept, 4L * LEAST_WORDS));
            check(CU.cuStreamBeginCapture_v2(stream, CU.CU_STREAM_CAPTURE_MODE_GLOBAL));
            check(CU.cuMemAllocAsync(buffer, 4L * LEAST_WORDS, stream));
            fill(LEAST_WORDS, 7);
            check(CU.cuMemcpyDtoDAsync(kept.get(0), buffer.get(0), 4L * LEAST_WORDS, stream));
            check(CU.cuMemFreeAsync(buffer.get(0), stream));
            final PointerBuffer graph = stack.mallocPointer(1);
            check(CU.cuStreamEndCapture(stream, graph));
            final PointerBuffer executable = stack.mallocPointer(1);
            check(CU.cuGraphInstantiateWithFlags(executable, graph.get(0), 0));
            check(CU.cuGraphLaunch(executable.get(0), stream));
            final int[] words = new int[LEAST_WORDS];
            buffer.put(0, kept.get(0));
            read(words, LEAST_WORDS);
            check(CU.cuMemFree(kept.get(0)));
            check(CU.cuGraphExecDestroy(executable.get(0)));
            check(CU.cuGraphDestroy(graph.get(0)));
            return wrongWords(words, LEAST_WORDS, 7);
        }
    }
}
