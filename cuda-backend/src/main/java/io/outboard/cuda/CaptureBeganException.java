package io.outboard.cuda;

import io.outboard.core.DeviceWork;
import jcuda.runtime.cudaError;

/**
 * A capture has begun since {@link DeviceWork#isCapturing} denied it, so the device can be neither waited for nor marked now.
 * Nothing has been called; the pool tries again when it next needs to.
 */
final class CaptureBeganException extends CudaFailureException {

    private static final long serialVersionUID = 1L;

    CaptureBeganException(final String call) {
        super(call, cudaError.cudaErrorStreamCaptureUnsupported, "a stream is being captured into a graph");
    }
}
