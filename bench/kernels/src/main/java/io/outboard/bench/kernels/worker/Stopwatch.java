package io.outboard.bench.kernels.worker;

import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/** A stopwatch times work on the default stream by two CUDA events. Confined to one thread. */
public final class Stopwatch implements AutoCloseable {

    /**
     * The cycles of a kernel that keeps the device busy until the host has launched what is timed; otherwise the host
     * would be timed. They are some 200 microseconds, more than the host takes for a launch, even interpreted.
     */
    public static final long LAUNCH_CYCLES = 400_000;

    private static final int MICROSECONDS_A_MILLISECOND = 1000;

    private final CUstream stream = new CUstream();
    private final CUevent begin = new CUevent();
    private final CUevent end = new CUevent();

    Stopwatch() {
        BenchDevice.check("cuEventCreate", JCudaDriver.cuEventCreate(begin, CUevent_flags.CU_EVENT_DEFAULT));
        BenchDevice.check("cuEventCreate", JCudaDriver.cuEventCreate(end, CUevent_flags.CU_EVENT_DEFAULT));
    }

    /**
     * Returns the stream to launch work on.
     *
     * @return the default stream
     */
    public CUstream stream() {
        return stream;
    }

    /**
     * Launches work and waits until it has finished.
     *
     * @param work launches it
     * @return the device's time, in microseconds
     */
    public double microseconds(final Runnable work) {
        final float[] milliseconds = new float[1];
        BenchDevice.check("cuEventRecord", JCudaDriver.cuEventRecord(begin, stream));
        work.run();
        BenchDevice.check("cuEventRecord", JCudaDriver.cuEventRecord(end, stream));
        BenchDevice.check("cuEventSynchronize", JCudaDriver.cuEventSynchronize(end));
        BenchDevice.check("cuEventElapsedTime", JCudaDriver.cuEventElapsedTime(milliseconds, begin, end));
        return milliseconds[0] * MICROSECONDS_A_MILLISECOND;
    }

    /** Waits until everything launched has finished; if a kernel crashed, this call throws. */
    public void synchronize() {
        BenchDevice.check("cuStreamSynchronize", JCudaDriver.cuStreamSynchronize(stream));
    }

    @Override
    public void close() {
        BenchDevice.check("cuEventDestroy", JCudaDriver.cuEventDestroy(begin));
        BenchDevice.check("cuEventDestroy", JCudaDriver.cuEventDestroy(end));
    }
}
