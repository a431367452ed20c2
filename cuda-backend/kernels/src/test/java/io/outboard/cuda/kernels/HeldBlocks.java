package io.outboard.cuda.kernels;

import static io.outboard.cuda.internal.facade.GpuProgram.succeed;

import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.facade.GpuProgram;
import jcuda.NativePointerObject;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.JCudaDriver;

/**
 * The class holds memory for a heap on a GPU, with kernels that hold its blocks and count what they see ({@code
 * held.cuh}).
 */
final class HeldBlocks implements AutoCloseable {

    /**
     * The heap's size is the same as in other tests, since the limit of the driver's heap can't be raised once a kernel
     * has used it.
     */
    static final long HEAP_BYTES = 64L << 20;

    private static final int ALL_COUNTS = 5;

    private final CUdeviceptr memory = new CUdeviceptr();
    private final CUdeviceptr counts = new CUdeviceptr();
    private final KernelModule module;

    /** The counts say what threads have seen since the last call. */
    record Counts(long served, long nulls, long misaligned, long overwritten, long late) {

        /** Returns the counts of threads that saw nothing wrong. */
        static Counts of(final long served, final long nulls) {
            return new Counts(served, nulls, 0, 0, 0);
        }
    }

    /** Loads kernels from beside this class. */
    HeldBlocks(final String kernels) {
        succeed(JCudaDriver.cuMemAlloc(memory, HEAP_BYTES));
        succeed(JCudaDriver.cuMemsetD8(memory, (byte) 0xA5, HEAP_BYTES));
        succeed(JCudaDriver.cuMemAlloc(counts, (long) ALL_COUNTS * Long.BYTES));
        succeed(JCudaDriver.cuMemsetD8(counts, (byte) 0, (long) ALL_COUNTS * Long.BYTES));
        // The driver has to know the size of its heap before the kernels are loaded.
        heap(DeviceAllocator.CUDA_MALLOC, HEAP_BYTES).close();
        module = KernelModule.load(kernels, GpuProgram.text(kernels + ".ptx.gz"));
    }

    DeviceHeap heap(final DeviceAllocator allocator, final long bytes) {
        return DeviceHeap.over(DevicePointers.address(memory), bytes)
                .allocator(allocator)
                .build();
    }

    /** Returns the last argument of kernels. */
    Pointer counts() {
        return Pointer.to(counts);
    }

    /** Runs a kernel of a variant with a number of threads, rounded up to whole blocks. */
    Counts run(final String kernel, final String variant, final int threads, final NativePointerObject... arguments) {
        HeapKernels.run(module, variant, kernel + variant, threads, arguments);
        final long[] values = new long[ALL_COUNTS];
        succeed(JCudaDriver.cuMemcpyDtoH(Pointer.to(values), counts, (long) ALL_COUNTS * Long.BYTES));
        succeed(JCudaDriver.cuMemsetD8(counts, (byte) 0, (long) ALL_COUNTS * Long.BYTES));
        return new Counts(values[0], values[1], values[2], values[3], values[4]);
    }

    @Override
    public void close() {
        module.close();
        succeed(JCudaDriver.cuMemFree(counts));
        succeed(JCudaDriver.cuMemFree(memory));
    }
}
