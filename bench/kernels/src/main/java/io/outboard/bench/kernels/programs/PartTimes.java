package io.outboard.bench.kernels.programs;

import io.outboard.bench.kernels.worker.BenchDevice;
import java.util.ArrayList;
import java.util.List;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/**
 * The class adds up the times of parts of a stream's work, by events around each part; the time between two events with
 * nothing in between is subtracted. Confined to one thread.
 */
public final class PartTimes implements AutoCloseable {

    private final CUstream stream;
    private final List<CUevent> events = new ArrayList<>();
    private int used;

    public PartTimes(final CUstream stream) {
        this.stream = stream;
    }

    public void begin() {
        record();
        record();
    }

    public void end() {
        record();
    }

    private void record() {
        if (used == events.size()) {
            final CUevent event = new CUevent();
            BenchDevice.check("cuEventCreate", JCudaDriver.cuEventCreate(event, CUevent_flags.CU_EVENT_DEFAULT));
            events.add(event);
        }
        BenchDevice.check("cuEventRecord", JCudaDriver.cuEventRecord(events.get(used), stream));
        used++;
    }

    /** Returns the time of all parts, in microseconds, after waiting until they are done. The sum begins at 0 again. */
    public double microseconds() {
        BenchDevice.check("cuStreamSynchronize", JCudaDriver.cuStreamSynchronize(stream));
        double sum = 0;
        for (int i = 0; i < used; i += 3) {
            sum += between(i + 1) - between(i);
        }
        used = 0;
        return Math.max(0, sum * 1000);
    }

    /** Returns the time from one event to the next, in milliseconds. */
    private double between(final int first) {
        final float[] milliseconds = new float[1];
        BenchDevice.check(
                "cuEventElapsedTime",
                JCudaDriver.cuEventElapsedTime(milliseconds, events.get(first), events.get(first + 1)));
        return milliseconds[0];
    }

    @Override
    public void close() {
        events.forEach(event -> BenchDevice.check("cuEventDestroy", JCudaDriver.cuEventDestroy(event)));
    }
}
