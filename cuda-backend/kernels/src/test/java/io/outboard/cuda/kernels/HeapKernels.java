package io.outboard.cuda.kernels;

import static io.outboard.cuda.internal.facade.GpuProgram.succeed;

import io.outboard.cuda.internal.facade.GpuProgram;
import java.util.Arrays;
import jcuda.NativePointerObject;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/**
 * The class runs the kernels of {@code heap-threads.cu} on a GPU, linked with an allocator, and reads what they count.
 */
final class HeapKernels implements AutoCloseable {

    static final int BLOCK_THREADS = 256;

    /**
     * The time after which a kernel counts as hanging. Every later call would wait for it, so the process has to end.
     */
    private static final long LIMIT_NS = 60_000_000_000L;

    private static final int COUNTS = 5;

    private final String name;
    private final KernelModule module;
    private final CUdeviceptr counts = new CUdeviceptr();

    HeapKernels(final DeviceAllocator allocator, final boolean coalesced, final boolean checked) {
        final String ptx = GpuProgram.text("heap-threads.ptx.gz");
        name = allocator.paperName() + (coalesced ? ", coalesced" : "") + (checked ? ", checked" : "");
        if (checked) {
            module = coalesced
                    ? KernelModule.linkCoalescedChecked(allocator, ptx)
                    : KernelModule.linkChecked(allocator, ptx);
        } else {
            module = coalesced ? KernelModule.linkCoalesced(allocator, ptx) : KernelModule.link(allocator, ptx);
        }
        succeed(JCudaDriver.cuMemAlloc(counts, (long) COUNTS * Long.BYTES));
        succeed(JCudaDriver.cuMemsetD8(counts, (byte) 0, (long) COUNTS * Long.BYTES));
    }

    /** The counts say what the threads of all kernels so far have seen. */
    record Counts(long served, long servedBytes, long nulls, long misaligned, long overwritten) {}

    Counts counts() {
        final long[] values = new long[COUNTS];
        succeed(JCudaDriver.cuMemcpyDtoH(Pointer.to(values), counts, (long) COUNTS * Long.BYTES));
        return new Counts(values[0], values[1], values[2], values[3], values[4]);
    }

    void useAndFree(final DeviceHeap heap, final int threads, final int largestBytes, final int rounds) {
        run("useAndFree", threads, word(heap.address()), word(largestBytes), word(rounds), Pointer.to(counts));
    }

    void partWays(final DeviceHeap heap, final int threads, final int largestBytes, final int rounds) {
        run("partWays", threads, word(heap.address()), word(largestBytes), word(rounds), Pointer.to(counts));
    }

    void useBoth(
            final DeviceHeap heap,
            final DeviceHeap other,
            final int threads,
            final int largestBytes,
            final int rounds) {
        run(
                "useBoth",
                threads,
                word(heap.address()),
                word(other.address()),
                word(largestBytes),
                word(rounds),
                Pointer.to(counts));
    }

    void holdAligned(final DeviceHeap heap, final int threads, final int largestBytes, final int rounds) {
        run("holdAligned", threads, word(heap.address()), word(largestBytes), word(rounds), Pointer.to(counts));
    }

    /** Lets threads allocate until nothing is left, and frees everything. {@code threads} must make whole blocks. */
    void exhaust(final DeviceHeap heap, final int threads, final int bytes) {
        final CUdeviceptr lists = pointers(threads);
        run("exhaust", threads, word(heap.address()), word(bytes), Pointer.to(lists), Pointer.to(counts));
        run("freeLists", threads, word(heap.address()), Pointer.to(lists));
        succeed(JCudaDriver.cuMemFree(lists));
    }

    void hold(final DeviceHeap heap, final int bytes, final CUdeviceptr blocks, final int count) {
        run("hold", count, word(heap.address()), word(bytes), Pointer.to(blocks), word(count), Pointer.to(counts));
    }

    void release(final DeviceHeap heap, final int bytes, final CUdeviceptr blocks, final int count) {
        run("release", count, word(heap.address()), word(bytes), Pointer.to(blocks), word(count), Pointer.to(counts));
    }

    void freeOne(final DeviceHeap heap, final long pointer) {
        run("freeOne", 1, word(heap.address()), word(pointer));
    }

    private void run(final String kernel, final int threads, final NativePointerObject... arguments) {
        run(module, name, kernel, threads, arguments);
    }

    /**
     * Runs a kernel of a module with a number of threads, rounded up to whole blocks; messages about a kernel that
     * hangs have its name.
     */
    static void run(
            final KernelModule module,
            final String name,
            final String kernel,
            final int threads,
            final NativePointerObject... arguments) {
        final CUstream stream = new CUstream();
        module.launch(kernel, (threads + BLOCK_THREADS - 1) / BLOCK_THREADS, BLOCK_THREADS, stream, arguments);
        final long start = System.nanoTime();
        int code = JCudaDriver.cuStreamQuery(stream);
        while (code == CUresult.CUDA_ERROR_NOT_READY) {
            if (System.nanoTime() - start > LIMIT_NS) {
                System.err.println(kernel + " hangs with " + threads + " threads of " + name);
                Runtime.getRuntime().halt(1);
            }
            Thread.onSpinWait();
            code = JCudaDriver.cuStreamQuery(stream);
        }
        succeed(code);
    }

    /**
     * Returns a parameter of 8 bytes, the longest there is; the kernel reads as many of the lower bytes as it needs.
     */
    static Pointer word(final long value) {
        return Pointer.to(new long[] {value});
    }

    /** Returns device memory for {@code count} pointers, null at first. */
    static CUdeviceptr pointers(final int count) {
        final CUdeviceptr pointers = new CUdeviceptr();
        succeed(JCudaDriver.cuMemAlloc(pointers, (long) count * Long.BYTES));
        succeed(JCudaDriver.cuMemsetD8(pointers, (byte) 0, (long) count * Long.BYTES));
        return pointers;
    }

    static long[] read(final CUdeviceptr pointers, final int count) {
        final long[] values = new long[count];
        succeed(JCudaDriver.cuMemcpyDtoH(Pointer.to(values), pointers, (long) count * Long.BYTES));
        return Arrays.stream(values).filter(value -> value != 0).toArray();
    }

    @Override
    public void close() {
        JCudaDriver.cuMemFree(counts);
        module.close();
    }
}
