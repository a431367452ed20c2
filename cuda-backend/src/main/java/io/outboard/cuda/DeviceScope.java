package io.outboard.cuda;

import io.outboard.core.DeviceOutOfMemoryException;
import jcuda.runtime.cudaError;

/**
 * A device made current on the calling thread for the span of a few calls, which go through this object; closing it
 * makes current what was before. Confined to one thread.
 *
 * <p>{@code cudaSetDevice} is skipped where the device is current already. That saves a call and, where the program has
 * made a context of its own current by the driver's API, works in that one, as {@code cudaMalloc} does.
 */
final class DeviceScope implements AutoCloseable {

    private final CudaCalls calls;
    private final int device;
    private final int previousDevice;

    /**
     * Makes a device current.
     *
     * @param calls CUDA
     * @param device its number, one that exists
     * @throws CudaFailureException if that fails; the current device is then what it was
     */
    DeviceScope(final CudaCalls calls, final int device) {
        this.calls = calls;
        this.device = device;
        final int[] current = new int[1];
        check(calls, "cudaGetDevice", calls.currentDevice(current));
        previousDevice = current[0];
        if (previousDevice != device) {
            check(calls, "cudaSetDevice", calls.setDevice(device));
        }
    }

    /** What the device reports, in bytes. */
    record Memory(long freeBytes, long totalBytes) {}

    Memory memory() {
        final long[] freeBytes = new long[1];
        final long[] totalBytes = new long[1];
        check(calls, "cudaMemGetInfo", calls.memoryInfo(freeBytes, totalBytes));
        return new Memory(freeBytes[0], totalBytes[0]);
    }

    /** As {@code cudaMalloc}, also while a stream is captured; throws {@link DeviceOutOfMemoryException} for exhaustion. */
    long malloc(final long sizeBytes) {
        final long[] address = new long[1];
        final int code = StreamCaptures.relaxed(calls, () -> calls.malloc(address, sizeBytes));
        if (code == cudaError.cudaErrorMemoryAllocation) {
            calls.clearLastError();
            final Memory memory = memory();
            throw DeviceOutOfMemoryException.ofDevice(
                    sizeBytes, memory.freeBytes(), memory.totalBytes(), calls.nameOf(code) + " (" + code + ")");
        }
        check(calls, "cudaMalloc", code);
        return address[0];
    }

    /** As {@code cudaFree}, also while a stream is captured. */
    void free(final long address) {
        check(calls, "cudaFree", StreamCaptures.relaxed(calls, () -> calls.free(address)));
    }

    @Override
    public void close() {
        if (previousDevice != device) {
            check(calls, "cudaSetDevice", calls.setDevice(previousDevice));
        }
    }

    /**
     * Throws if a call failed.
     *
     * @param calls CUDA
     * @param call the function's name
     * @param code what it returned
     * @throws CudaFailureException if {@code code} isn't 0
     */
    static void check(final CudaCalls calls, final String call, final int code) {
        if (code != CudaCalls.SUCCESS) {
            calls.clearLastError();
            throw new CudaFailureException(call, code, calls.nameOf(code));
        }
    }
}
