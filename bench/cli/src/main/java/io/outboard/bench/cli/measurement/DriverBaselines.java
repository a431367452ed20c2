package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.common.ResultSink;
import io.outboard.bench.cli.device.DriverAllocator;
import io.outboard.bench.cli.device.DriverAllocators;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.cuda.CudaDevice;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** This class measures the driver's own allocators on one trace, if there is a GPU. */
public final class DriverBaselines {

    private final Trace trace;
    private final @Nullable CudaDevice gpu;
    private String settings = "";

    public DriverBaselines(final Trace trace, final @Nullable CudaDevice gpu) {
        this.trace = trace;
        this.gpu = gpu;
    }

    /** Returns the work of {@link #measure}, in the unit of {@link Progress}. */
    public long steps() {
        return gpu == null ? 0 : DriverAllocators.names().size() * DriverMeasurement.steps(trace);
    }

    /**
     * Measures each allocator, and reports each measurement as soon as it is done.
     *
     * @throws IOException if {@code measurements} can't keep a measurement
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

    /** Tells how the allocators were called, as far as a reader of the numbers must know. */
    public String settings() {
        return settings;
    }
}
