package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.common.ResultSink;
import io.outboard.bench.cli.device.DriverAllocator;
import io.outboard.bench.cli.device.DriverAllocators;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.cuda.CudaDevice;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The driver's own allocators on one trace, where there is a GPU. */
public final class DriverBaselines {

    private final Trace trace;
    private final @Nullable CudaDevice gpu;
    private String settings = "";

    public DriverBaselines(final Trace trace, final @Nullable CudaDevice gpu) {
        this.trace = trace;
        this.gpu = gpu;
    }

    /** Work, as progress counts it, that {@link #measure} takes. */
    public long steps() {
        return gpu == null ? 0 : DriverAllocators.names().size() * DriverMeasurement.steps(trace);
    }

    /**
     * Tells of a measurement of each as it is done.
     *
     * @throws IOException if {@code measurements} can't keep one
     */
    public void measure(final Progress progress, final ResultSink<Measurement> measurements) throws IOException {
        if (gpu == null) {
            return;
        }
        for (final String name : DriverAllocators.names()) {
            progress.stage(name);
            try (DriverAllocator driver = DriverAllocators.open(name, gpu.ordinal(), trace.slots())) {
                if (!driver.settings().isEmpty()) {
                    settings += (settings.isEmpty() ? "" : "; ") + name + ": " + driver.settings();
                }
                measurements.accept(new DriverMeasurement(driver, trace, progress).run(String.valueOf(gpu.ordinal())));
            }
        }
    }

    /** How they were called, where a reader of the numbers must know. */
    public String settings() {
        return settings;
    }
}
