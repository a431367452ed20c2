package io.outboard.cuda.internal.memory;

import io.outboard.core.DeviceOutOfMemoryException;
import jcuda.driver.CUresult;
import jcuda.driver.CUstreamCaptureStatus;
import jcuda.runtime.cudaError;

/** A CUDA context, the number of its device, and the captures that our work must not disturb. Safe for any number of threads. */
public record CudaContext(CudaCalls calls, long handle, int device, StreamCaptures captures) {

    /** What a device reports, in bytes. */
    public record Memory(long freeBytes, long totalBytes) {}

    /** What the context's device reports. */
    @SuppressWarnings("try")
    public Memory memory() {
        final long[] freeBytes = new long[1];
        final long[] totalBytes = new long[1];
        try (ContextScope scope = new ContextScope(calls, handle)) {
            CudaFailures.check("cuMemGetInfo", calls.contextMemoryInfo(freeBytes, totalBytes));
        }
        return new Memory(freeBytes[0], totalBytes[0]);
    }

    /** What to throw when the device has no more. */
    DeviceOutOfMemoryException outOfMemory(final String call, final int code, final long wantedBytes) {
        final Memory memory = memory();
        return DeviceOutOfMemoryException.ofDevice(
                wantedBytes,
                memory.freeBytes(),
                memory.totalBytes(),
                call + ": " + CUresult.stringFor(code) + " (" + code + ")");
    }

    /** Another one, or this, to mark its work; its device doesn't matter for that. */
    CudaContext other(final long otherHandle) {
        return otherHandle == handle ? this : new CudaContext(calls, otherHandle, device, captures);
    }

    boolean enter() {
        return ContextScope.enter(calls, handle);
    }

    void leave(final boolean entered) {
        ContextScope.leave(calls, entered);
    }

    /** Whether a stream of this context that exists is captured; 0 stands for all that block. The context is current. */
    boolean isCapturing(final long stream) {
        final int[] status = CallScratch.get().status;
        final int code = calls.captureStatus(status, stream);
        if (isOfCapture(code)) {
            return true;
        }
        CudaFailures.check("cuStreamIsCapturing", code);
        return status[0] != CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE;
    }

    /** Whether a call was refused since a stream is captured. */
    static boolean isOfCapture(final int code) {
        return code >= cudaError.cudaErrorStreamCaptureUnsupported
                && code <= cudaError.cudaErrorStreamCaptureWrongThread;
    }
}
