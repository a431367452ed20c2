package io.outboard.bench.cli.device;

import java.util.Optional;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/**
 * This class allocates with the driver's {@code cuMemAllocAsync} and {@code cuMemFreeAsync}, on a non-blocking stream
 * of its own, from the device's default memory pool.
 *
 * <p>The pool's release threshold is set to its maximum, so that the pool keeps freed memory. With the default
 * threshold, 0, the pool returns all free memory to the system at each synchronisation and takes it anew afterwards;
 * that is its slowest case, and not a fair opponent. JCuda 12.6.0 lacks {@code cuMemPoolSetAttribute}, so that one call
 * goes through {@code java.lang.foreign}. Before JDK 22 the default stays, and {@link #settings} says so. The threshold
 * belongs to the process, so it is only restored correctly if one such allocator is open at a time.
 */
final class CuMemAllocAsyncAllocator extends SlottedAllocator {

    private final CUdeviceptr[] pointers;
    private final CUstream stream = new CUstream();
    private final long[] freeBytes = new long[1];
    private final long[] totalBytes = new long[1];
    private String settings = "";

    private CuMemAllocAsyncAllocator(final int slots) {
        super(slots);
        pointers = new CUdeviceptr[slots];
        for (int slot = 0; slot < slots; slot++) {
            pointers[slot] = new CUdeviceptr();
        }
    }

    static CuMemAllocAsyncAllocator open(final int device, final int slots) {
        final CuMemAllocAsyncAllocator allocator = new CuMemAllocAsyncAllocator(slots);
        try {
            allocator.enterContext(device);
            allocator.configurePool(device);
            allocator.createStream();
            return allocator;
        } catch (final RuntimeException e) {
            try {
                allocator.close();
            } catch (final RuntimeException suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
    }

    @Override
    public String name() {
        return DriverAllocators.CU_MEM_ALLOC_ASYNC;
    }

    @Override
    public String settings() {
        return settings;
    }

    @Override
    public int synchronize() {
        return JCudaDriver.cuStreamSynchronize(stream);
    }

    @Override
    public String codeName(final int code) {
        return CUresult.stringFor(code);
    }

    @Override
    public long usedBytes() {
        check("cuMemGetInfo", JCudaDriver.cuMemGetInfo(freeBytes, totalBytes));
        return totalBytes[0] - freeBytes[0];
    }

    @Override
    int allocateInto(final int slot, final long sizeBytes) {
        return JCudaDriver.cuMemAllocAsync(pointers[slot], sizeBytes, stream);
    }

    @Override
    int freeFrom(final int slot) {
        return JCudaDriver.cuMemFreeAsync(pointers[slot], stream);
    }

    /** Makes the device's primary context current; the runtime's calls use the same context. */
    private void enterContext(final int ordinal) {
        final CUdevice device = new CUdevice();
        final CUcontext previous = new CUcontext();
        final CUcontext primary = new CUcontext();
        check("cuInit", JCudaDriver.cuInit(0));
        check("cuDeviceGet", JCudaDriver.cuDeviceGet(device, ordinal));
        check("cuCtxGetCurrent", JCudaDriver.cuCtxGetCurrent(previous));
        check("cuDevicePrimaryCtxRetain", JCudaDriver.cuDevicePrimaryCtxRetain(primary, device));
        onClose(() -> check("cuDevicePrimaryCtxRelease", JCudaDriver.cuDevicePrimaryCtxRelease(device)));
        check("cuCtxSetCurrent", JCudaDriver.cuCtxSetCurrent(primary));
        onClose(() -> check("cuCtxSetCurrent", JCudaDriver.cuCtxSetCurrent(previous)));
    }

    private void configurePool(final int ordinal) {
        final Optional<DefaultMemoryPool> found = DefaultMemoryPool.of(ordinal);
        if (found.isEmpty()) {
            settings = "release threshold of the pool left at its default: JDK 22 or newer is needed to set it";
            return;
        }
        final DefaultMemoryPool pool = found.get();
        final long previousThreshold = pool.releaseThreshold();
        pool.setReleaseThreshold(DefaultMemoryPool.KEEP_ALL);
        // These steps run after the stream's last work, in reverse order: the threshold is restored, then the pool is
        // trimmed to it.
        onClose(() -> pool.trimTo(previousThreshold));
        onClose(() -> pool.setReleaseThreshold(previousThreshold));
        settings = "release threshold of the pool set to its maximum";
    }

    private void createStream() {
        check("cuStreamCreate", JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING));
        onClose(() -> check("cuStreamDestroy", JCudaDriver.cuStreamDestroy(stream)));
        onClose(() -> check("cuStreamSynchronize", JCudaDriver.cuStreamSynchronize(stream)));
    }
}
