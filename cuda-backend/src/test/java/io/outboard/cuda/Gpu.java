package io.outboard.cuda;

import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.cuda.internal.memory.CudaCalls;
import io.outboard.cuda.internal.memory.NativeLibrary;
import org.junit.jupiter.api.Assumptions;

/** The class lets a test run only where a GPU works. */
public final class Gpu {

    private Gpu() {}

    /** Returns CUDA on a device 0 that works; where there is none, the test is skipped and says why. */
    public static CudaCalls require() {
        try {
            final CudaCalls calls = NativeLibrary.load();
            CudaMemorySource.open(calls, 0).close();
            return calls;
        } catch (final CudaUnavailableException e) {
            return Assumptions.abort("skipped, needs a GPU: " + e.getMessage());
        }
    }

    /** Returns CUDA's calls wherever JCuda's library loads, with a GPU or without. */
    public static CudaCalls requireLibrary() {
        try {
            return NativeLibrary.load();
        } catch (final CudaUnavailableException e) {
            return Assumptions.abort("skipped, needs JCuda's library: " + e.getMessage());
        }
    }

    /** Skips the test where a GPU works, for tests of what happens without one. */
    public static void requireNone() {
        boolean works = true;
        try {
            CudaMemorySource.open(0).close();
        } catch (final CudaUnavailableException e) {
            works = false;
        }
        Assumptions.assumeFalse(works, "skipped, there is a GPU");
    }

    public static String messageOf(final Throwable thrown) {
        return String.valueOf(thrown.getMessage());
    }
}
