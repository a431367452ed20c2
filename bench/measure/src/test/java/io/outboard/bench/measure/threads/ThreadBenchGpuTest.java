package io.outboard.bench.measure.threads;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.measurement.ThreadProfile;
import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.driver.CudaUnavailableException;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * This class runs on memory of a GPU, from each kind of supply. The twin without a GPU is {@code
 * IsolatedThreadBenchTest}.
 */
@Tag("gpu")
class ThreadBenchGpuTest {

    @BeforeEach
    void requireGpu() {
        try {
            CudaMemorySource.open(0).close();
        } catch (final CudaUnavailableException e) {
            Assumptions.abort("skipped, needs a GPU: " + e.getMessage());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "POOL,STRICT,0",
        "POOL,TRACKED,0",
        "FACADE,STRICT,0",
        "FACADE,STRICT,2",
        "FACADE,STREAM_ORDERED,0",
        "CUDA_MALLOC,STRICT,0",
        "CU_MEM_ALLOC_ASYNC,STRICT,0"
    })
    void shouldServeEveryProfile(final ThreadSettings.Kind kind, final String policy, final int launchers)
            throws Exception {
        for (final ThreadProfile profile : ThreadProfile.values()) {
            final ThreadSettings settings =
                    new ThreadSettings(profile, kind, "tlsf", policy, 0, 0, 2, 0, launchers, 256, 1 << 20, 20, 20);

            assertTrue(ThreadBench.open(settings).checked().blocks() > 0, settings.toString());
            assertTrue(ThreadBench.open(settings).speed().opsPerSecond() > 0, settings.toString());
        }
    }
}
