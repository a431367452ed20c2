package io.outboard.cuda.memory;

import jcuda.runtime.cudaError;

/** Whether there is a device at all, or why not in one line. Safe for any number of threads. Not for applications. */
public final class Devices {

    private Devices() {}

    /**
     * Counts the devices.
     *
     * @param calls CUDA
     * @return their number, 1 or more
     * @throws CudaUnavailableException if there is none, or CUDA doesn't start
     */
    public static int count(final CudaCalls calls) {
        final int[] count = new int[1];
        final int code = calls.deviceCount(count);
        if (code != CudaCalls.SUCCESS) {
            calls.clearLastError();
            throw new CudaUnavailableException(messageFor(calls, code));
        }
        if (count[0] == 0) {
            throw new CudaUnavailableException(messageFor(calls, cudaError.cudaErrorNoDevice));
        }
        return count[0];
    }

    /** What an error says of devices that the environment hides; empty if it hides none. */
    public static String hidden() {
        final String visible = System.getenv("CUDA_VISIBLE_DEVICES");
        return visible == null ? "" : "; CUDA_VISIBLE_DEVICES=" + visible + " hides all others";
    }

    private static String messageFor(final CudaCalls calls, final int code) {
        final String named = calls.nameOf(code) + " (" + code + ")";
        switch (code) {
            case cudaError.cudaErrorInsufficientDriver:
                final int[] version = new int[1];
                return calls.driverVersion(version) == CudaCalls.SUCCESS && version[0] > 0
                        ? "the NVIDIA driver is too old: it supports CUDA " + version[0] / 1000 + "."
                                + version[0] % 1000 / 10 + ", 12.0 is needed; install driver 525 or newer [" + named
                                + "]"
                        : "no NVIDIA driver: libcuda.so.1 was not found; install driver 525 or newer, or give the"
                                + " container its GPU (--gpus all) [" + named + "]";
            case cudaError.cudaErrorNoDevice:
                return "no CUDA device: the NVIDIA driver is there but shows none; see what nvidia-smi lists" + hidden()
                        + " [" + named + "]";
            case cudaError.cudaErrorStubLibrary:
                return "no NVIDIA driver: the libcuda.so.1 that was found is the CUDA toolkit's stub; take its folder"
                        + " off LD_LIBRARY_PATH [" + named + "]";
            default:
                return "CUDA does not start: cudaGetDeviceCount failed; nvidia-smi may say more [" + named + "]";
        }
    }
}
