package io.outboard.bench.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.worker.Watchdog;
import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.memory.CudaUnavailableException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Short runs on a device, through the process that cases run in, with every block checked. */
@Tag("gpu")
class RequestProgramsGpuTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    @BeforeEach
    void needsAGpu() {
        try (CudaMemorySource source = CudaMemorySource.open(0)) {
            assertEquals(0, source.device().ordinal());
        } catch (final CudaUnavailableException e) {
            Assumptions.abort("skipped, needs a GPU: " + e.getMessage());
        }
    }

    @ParameterizedTest
    @MethodSource("io.outboard.bench.programs.RequestProgramsTest#programs")
    void shouldServeEachRequestAndGetAllBack(final Program program) throws Exception {
        final List<ProgramCase> cases = Programs.cases(program.name(), true);

        final List<String> results = new Watchdog<ProgramCase>(ProgramWorker.class, 0, LIMIT).run(cases, ignored -> {});

        for (final String result : results) {
            assertTrue(result.contains("\"status\":\"ok\""), result);
            assertTrue(result.contains("\"refused\":0,\"misaligned\":0,\"mismatches\":0,\"leaked\":"), result);
            assertTrue(result.contains("\"leaked\":0") || result.contains("\"leaked\":null"), result);
            assertTrue(result.contains("\"leaked\":0") || result.contains("Cuda") || result.contains("Bump"), result);
        }
    }
}
