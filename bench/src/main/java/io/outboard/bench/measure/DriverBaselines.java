package io.outboard.bench.measure;

import io.outboard.bench.common.Progress;
import io.outboard.bench.device.DriverAllocator;
import io.outboard.bench.device.DriverAllocators;
import io.outboard.bench.trace.Trace;
import io.outboard.cuda.CudaDevice;
import java.io.IOException;
import java.util.List;
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

    /** Steps of progress that {@link #measure} takes. */
    public long steps() {
        return gpu == null ? 0 : DriverAllocators.names().size() * DriverMeasurement.steps(trace);
    }

    /** What is done as each measurement ends. */
    @FunctionalInterface
    public interface Keeper {

        void keep() throws IOException;
    }

    /** Adds a measurement of each, and has it kept as it ends. */
    public void measure(final Progress progress, final List<Measurement> measurements, final Keeper keeper)
            throws IOException {
        if (gpu == null) {
            return;
        }
        for (final String name : DriverAllocators.names()) {
            progress.stage(name);
            try (DriverAllocator driver = DriverAllocators.open(name, gpu.ordinal(), trace.slots())) {
                if (!driver.settings().isEmpty()) {
                    settings += (settings.isEmpty() ? "" : "; ") + name + ": " + driver.settings();
                }
                measurements.add(new DriverMeasurement(driver, trace, progress).run(String.valueOf(gpu.ordinal())));
                keeper.keep();
            }
        }
    }

    /** How they were called, where a reader of the numbers must know. */
    public String settings() {
        return settings;
    }
}
