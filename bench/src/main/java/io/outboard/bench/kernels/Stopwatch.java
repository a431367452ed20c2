package io.outboard.bench.kernels;

import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/** Times work on the default stream by two CUDA events. Confined to one thread. */
final class Stopwatch implements AutoCloseable {

    private static final int MICROSECONDS_A_MILLISECOND = 1000;

    private final CUstream stream = new CUstream();
    private final CUevent begin = new CUevent();
    private final CUevent end = new CUevent();

    Stopwatch() {
        KernelBench.check("cuEventCreate", JCudaDriver.cuEventCreate(begin, CUevent_flags.CU_EVENT_DEFAULT));
        KernelBench.check("cuEventCreate", JCudaDriver.cuEventCreate(end, CUevent_flags.CU_EVENT_DEFAULT));
    }

    /** The stream that work is to be launched on. */
    CUstream stream() {
        return stream;
    }

    /**
     * Launches work and waits until it has finished.
     *
     * @return what the device took, in microseconds
     */
    double microseconds(final Runnable work) {
        final float[] milliseconds = new float[1];
        KernelBench.check("cuEventRecord", JCudaDriver.cuEventRecord(begin, stream));
        work.run();
        KernelBench.check("cuEventRecord", JCudaDriver.cuEventRecord(end, stream));
        KernelBench.check("cuEventSynchronize", JCudaDriver.cuEventSynchronize(end));
        KernelBench.check("cuEventElapsedTime", JCudaDriver.cuEventElapsedTime(milliseconds, begin, end));
        return milliseconds[0] * MICROSECONDS_A_MILLISECOND;
    }

    /** Waits until everything launched has finished; a kernel that crashed is found here. */
    void synchronize() {
        KernelBench.check("cuStreamSynchronize", JCudaDriver.cuStreamSynchronize(stream));
    }

    @Override
    public void close() {
        KernelBench.check("cuEventDestroy", JCudaDriver.cuEventDestroy(begin));
        KernelBench.check("cuEventDestroy", JCudaDriver.cuEventDestroy(end));
    }
}
