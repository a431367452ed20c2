package io.outboard.cuda.internal.memory;

/**
 * This class leaves the calls of the runtime to JCuda, where JCuda is on the class path: its runtime keeps the
 * program's last error, may be too new for the driver, and, if it is older than 12, knows alone which device a thread
 * has chosen.
 */
final class ForeignCallsBesideJCuda extends ForeignCalls {

    private final CudaCalls runtime = new JCudaCalls();

    @Override
    public int deviceCount(final int[] count) {
        return runtime.deviceCount(count);
    }

    @Override
    public int runtimeVersion(final int[] version) {
        return runtime.runtimeVersion(version);
    }

    @Override
    public int currentDevice(final int[] device) {
        return runtime.currentDevice(device);
    }

    @Override
    public int setDevice(final int device) {
        return runtime.setDevice(device);
    }

    @Override
    public int memoryInfo(final long[] freeBytes, final long[] totalBytes) {
        return runtime.memoryInfo(freeBytes, totalBytes);
    }

    @Override
    public void clearLastError() {
        runtime.clearLastError();
    }
}
