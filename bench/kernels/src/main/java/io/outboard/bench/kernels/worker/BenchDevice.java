package io.outboard.bench.kernels.worker;

import io.outboard.core.Region;
import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.driver.DevicePointers;
import jcuda.Pointer;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUlimit;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaError;
import org.jspecify.annotations.Nullable;

/** A device whose primary context is the thread's current one, and its memory. Confined to one thread. */
public final class BenchDevice implements AutoCloseable {

    private final CudaMemorySource source;
    private final Stopwatch stopwatch;
    private @Nullable Region heapMemory;
    private boolean driverHeapIsSet;

    /**
     * Opens a device.
     *
     * @param device its number
     */
    public BenchDevice(final int device) {
        source = CudaMemorySource.open(device);
        checkRuntime("cudaSetDevice", JCuda.cudaSetDevice(device));
        // Frees nothing, but makes the primary context, unless there is one, and its being current certain.
        checkRuntime("cudaFree", JCuda.cudaFree(new Pointer()));
        stopwatch = new Stopwatch();
    }

    /**
     * The stopwatch of the default stream.
     *
     * @return the same each time
     */
    public Stopwatch stopwatch() {
        return stopwatch;
    }

    /**
     * How many multiprocessors the device has.
     *
     * @return 1 or more
     */
    public int multiprocessors() {
        final int[] count = new int[1];
        check(
                "cuDeviceGetAttribute",
                JCudaDriver.cuDeviceGetAttribute(
                        count, CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, current()));
        return count[0];
    }

    private static CUdevice current() {
        final CUdevice device = new CUdevice();
        check("cuCtxGetDevice", JCudaDriver.cuCtxGetDevice(device));
        return device;
    }

    /**
     * Gives the driver's heap a size, once. The driver takes it when the first module that uses it is loaded; later,
     * its size can't change.
     *
     * @param bytes 0 for no change
     */
    public void limitDriverHeap(final long bytes) {
        if (bytes != 0 && !driverHeapIsSet) {
            check("cuCtxSetLimit", JCudaDriver.cuCtxSetLimit(CUlimit.CU_LIMIT_MALLOC_HEAP_SIZE, bytes));
            driverHeapIsSet = true;
        }
    }

    /**
     * Memory for something that a case needs beside its heap; {@link #giveBack} ends it.
     *
     * @param bytes 1 or more
     * @return the region, not cleared
     */
    public Region take(final long bytes) {
        return source.take(bytes);
    }

    /**
     * Gives memory back. Not after a failure: then the context may be broken, and the failure would be hidden by the
     * next.
     *
     * @param region from {@link #take}
     */
    public void giveBack(final Region region) {
        source.giveBack(region);
    }

    /**
     * Memory for heaps: one region, the largest that was asked for so far.
     *
     * @param bytes 1 or more
     * @return where it begins
     */
    public long heapMemory(final long bytes) {
        Region region = heapMemory;
        if (region == null || region.sizeBytes() < bytes) {
            heapMemory = null;
            if (region != null) {
                source.giveBack(region);
            }
            region = source.take(bytes);
            heapMemory = region;
        }
        return region.address();
    }

    @Override
    public void close() {
        stopwatch.close();
        source.close();
    }

    /**
     * Zeroes memory, after what was launched before.
     *
     * @param region all of it
     */
    public static void clear(final Region region) {
        check("cuMemsetD8", JCudaDriver.cuMemsetD8(pointer(region), (byte) 0, region.sizeBytes()));
    }

    /**
     * Copies from where a region begins, after what was launched before.
     *
     * @param to host memory for so many bytes
     * @param from device memory
     * @param bytes 0 or more, at most the region's
     */
    public static void copyToHost(final Pointer to, final Region from, final long bytes) {
        if (bytes != 0) {
            check("cuMemcpyDtoH", JCudaDriver.cuMemcpyDtoH(to, pointer(from), bytes));
        }
    }

    /**
     * Fills a region, after what was launched before.
     *
     * @param to device memory
     * @param from host memory of as many bytes
     */
    public static void copyToDevice(final Region to, final Pointer from) {
        check("cuMemcpyHtoD", JCudaDriver.cuMemcpyHtoD(pointer(to), from, to.sizeBytes()));
    }

    private static CUdeviceptr pointer(final Region region) {
        final CUdeviceptr pointer = new CUdeviceptr();
        DevicePointers.set(pointer, region.address());
        return pointer;
    }

    /**
     * Fails if a call of the driver did.
     *
     * @param call its name
     * @param result what it returned
     */
    public static void check(final String call, final int result) {
        if (result != CUresult.CUDA_SUCCESS) {
            throw new CudaFailureException(call, result, CUresult.stringFor(result));
        }
    }

    private static void checkRuntime(final String call, final int result) {
        if (result != cudaError.cudaSuccess) {
            throw new CudaFailureException(call, result, cudaError.stringFor(result));
        }
    }
}
