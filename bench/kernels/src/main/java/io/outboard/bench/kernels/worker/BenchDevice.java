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

/**
 * A bench device is a device, whose primary context is the thread's current one, with its memory. Confined to one
 * thread.
 */
public final class BenchDevice implements AutoCloseable {

    private final int number;
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
        number = device;
        source = CudaMemorySource.open(device);
        checkRuntime("cudaSetDevice", JCuda.cudaSetDevice(device));
        // A free of a null pointer makes the primary context, unless there is one, and makes it current.
        checkRuntime("cudaFree", JCuda.cudaFree(new Pointer()));
        stopwatch = new Stopwatch();
    }

    /**
     * Returns which device it is.
     *
     * @return its number
     */
    public int number() {
        return number;
    }

    /**
     * Returns the stopwatch of the default stream.
     *
     * @return the same each time
     */
    public Stopwatch stopwatch() {
        return stopwatch;
    }

    /**
     * Returns how many multiprocessors the device has.
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
     * Sets the size of the driver's heap, once. The driver reads the size when the first module that uses the heap is
     * loaded; later, it can't change.
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
     * Takes memory for something that a case needs beside its heap, until {@link #giveBack}.
     *
     * @param bytes 1 or more
     * @return the region, not cleared
     */
    public Region take(final long bytes) {
        return source.take(bytes);
    }

    /**
     * Frees memory. Must not be called after a failure: the context may be broken, and a second failure would hide the
     * first.
     *
     * @param region from {@link #take}
     */
    public void giveBack(final Region region) {
        source.giveBack(region);
    }

    /**
     * Returns memory for heaps: a single region, of the largest size that was asked for so far.
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
     * Fills memory with zeroes, after all work launched before.
     *
     * @param region all of it
     */
    public static void clear(final Region region) {
        check("cuMemsetD8", JCudaDriver.cuMemsetD8(pointer(region), (byte) 0, region.sizeBytes()));
    }

    /**
     * Copies from the beginning of a region, after all work launched before.
     *
     * @param to host memory for that many bytes
     * @param from device memory
     * @param bytes 0 or more, at most the region's
     */
    public static void copyToHost(final Pointer to, final Region from, final long bytes) {
        if (bytes != 0) {
            check("cuMemcpyDtoH", JCudaDriver.cuMemcpyDtoH(to, pointer(from), bytes));
        }
    }

    /**
     * Fills a region, after all work launched before.
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
     * Throws if a call of the driver failed.
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
