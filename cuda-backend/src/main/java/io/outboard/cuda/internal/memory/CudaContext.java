package io.outboard.cuda.internal.memory;

import io.outboard.core.DeviceOutOfMemoryException;
import jcuda.driver.CUstreamCaptureStatus;
import jcuda.runtime.cudaError;

/** A CUDA context has a device, and captures that our calls must not disturb. Safe for any number of threads. */
public record CudaContext(CudaCalls calls, long handle, int device, StreamCaptures captures) {

    /** This record has the memory that a device reports, in bytes. */
    public record Memory(long freeBytes, long totalBytes) {}

    /** Asks the context's device for its memory. */
    @SuppressWarnings("try")
    public Memory memory() {
        final long[] freeBytes = new long[1];
        final long[] totalBytes = new long[1];
        try (ContextScope scope = new ContextScope(calls, handle)) {
            CudaFailures.check("cuMemGetInfo", calls.contextMemoryInfo(freeBytes, totalBytes));
        }
        return new Memory(freeBytes[0], totalBytes[0]);
    }

    /** Makes the exception for a device that has no more memory. */
    DeviceOutOfMemoryException outOfMemory(final String call, final int code, final long wantedBytes) {
        final Memory memory = memory();
        return DeviceOutOfMemoryException.ofDevice(
                wantedBytes,
                memory.freeBytes(),
                memory.totalBytes(),
                call + ": " + CudaFailures.driverNameOf(code) + " (" + code + ")");
    }

    /**
     * Answers the context of a handle, so that its work can be marked; another context gets this context's device,
     * which marks don't use.
     */
    CudaContext other(final long otherHandle) {
        return otherHandle == handle ? this : new CudaContext(calls, otherHandle, device, captures);
    }

    boolean enter() {
        return ContextScope.enter(calls, handle);
    }

    void leave(final boolean entered) {
        ContextScope.leave(calls, entered);
    }

    /** Answers whether a stream of this current context is captured; stream 0 stands for all blocking streams. */
    boolean isCapturing(final long stream) {
        final int[] status = CallScratch.get().status;
        final int code = calls.captureStatus(status, stream);
        if (isOfCapture(code)) {
            return true;
        }
        CudaFailures.check("cuStreamIsCapturing", code);
        return status[0] != CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE;
    }

    /** Answers whether a call was refused since a stream is captured. */
    static boolean isOfCapture(final int code) {
        return code >= cudaError.cudaErrorStreamCaptureUnsupported
                && code <= cudaError.cudaErrorStreamCaptureWrongThread;
    }
}
