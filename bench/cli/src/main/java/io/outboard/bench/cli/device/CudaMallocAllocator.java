package io.outboard.bench.cli.device;

import jcuda.Pointer;
import jcuda.runtime.JCuda;
import jcuda.runtime.cudaError;

/**
 * This class allocates with the runtime's {@code cudaMalloc} and {@code cudaFree}; the latter waits until the device
 * has finished all work.
 */
final class CudaMallocAllocator extends SlottedAllocator {

    private final Pointer[] pointers;
    private final long[] freeBytes = new long[1];
    private final long[] totalBytes = new long[1];

    private CudaMallocAllocator(final int slots) {
        super(slots);
        pointers = new Pointer[slots];
        for (int slot = 0; slot < slots; slot++) {
            pointers[slot] = new Pointer();
        }
    }

    static CudaMallocAllocator open(final int device, final int slots) {
        final CudaMallocAllocator allocator = new CudaMallocAllocator(slots);
        final int[] previousDevice = new int[1];
        allocator.check("cudaGetDevice", JCuda.cudaGetDevice(previousDevice));
        allocator.check("cudaSetDevice", JCuda.cudaSetDevice(device));
        allocator.onClose(() -> allocator.check("cudaSetDevice", JCuda.cudaSetDevice(previousDevice[0])));
        return allocator;
    }

    @Override
    public String name() {
        return DriverAllocators.CUDA_MALLOC;
    }

    @Override
    public String settings() {
        return "";
    }

    @Override
    public int synchronize() {
        return JCuda.cudaDeviceSynchronize();
    }

    @Override
    public String codeName(final int code) {
        return cudaError.stringFor(code);
    }

    @Override
    public long usedBytes() {
        check("cudaMemGetInfo", JCuda.cudaMemGetInfo(freeBytes, totalBytes));
        return totalBytes[0] - freeBytes[0];
    }

    @Override
    int allocateInto(final int slot, final long sizeBytes) {
        return JCuda.cudaMalloc(pointers[slot], sizeBytes);
    }

    @Override
    int freeFrom(final int slot) {
        return JCuda.cudaFree(pointers[slot]);
    }
}
