package io.outboard.bench.measure.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.pool.ReusePolicy;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * This class runs real kernels; the twin without a GPU is {@link SoakTest}. Facades have one policy in a process, so
 * there is one test.
 */
@Tag("gpu")
class SoakGpuTest {

    @BeforeEach
    void requireGpu() {
        try {
            CudaMemorySource.open(0).close();
        } catch (final CudaUnavailableException e) {
            Assumptions.abort("skipped, needs a GPU: " + e.getMessage());
        }
    }

    @Test
    void shouldFindNothingWrongWithTheFacades() throws Exception {
        final SoakSettings settings =
                new SoakSettings(4, 3, ReusePolicy.STRICT, "tlsf", SoakSettings.defaultLimitBytes(4), 0);
        try (GpuSoak shared = new GpuSoak(settings)) {
            final Soak.Result result = new Soak<>(settings, shared, SoakClock.SYSTEM).run(seconds -> {});

            assertEquals(List.of(), result.violations());
            assertTrue(result.operations() > 1_000, result.toString());
        }
    }
}
