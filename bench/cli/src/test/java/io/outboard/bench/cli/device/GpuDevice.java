package io.outboard.bench.cli.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.driver.CudaUnavailableException;
import org.junit.jupiter.api.Assumptions;

/** This class lets a test run only where a GPU works. */
public final class GpuDevice {

    private GpuDevice() {}

    /** Opens a baseline on device 0; if there is no GPU, the test is skipped and says why. */
    static DriverAllocator open(final String name, final int slots) {
        try {
            return DriverAllocators.open(name, 0, slots);
        } catch (final CudaUnavailableException e) {
            return Assumptions.abort("skipped, needs a GPU: " + e.getMessage());
        }
    }

    /** Skips a test if there is no GPU. */
    public static void require() {
        try (CudaMemorySource source = CudaMemorySource.open(0)) {
            assertEquals(0, source.device().ordinal());
        } catch (final CudaUnavailableException e) {
            Assumptions.abort("skipped, needs a GPU: " + e.getMessage());
        }
    }

    static long usedBytes() {
        try (CudaMemorySource source = CudaMemorySource.open(0)) {
            return source.usedBytes();
        }
    }
}
