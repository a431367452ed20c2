package io.outboard.bench.kernels.programs.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.device.GpuDevice;
import io.outboard.bench.kernels.programs.ProgramCase;
import io.outboard.bench.kernels.report.programs.ProgramResult;
import io.outboard.bench.kernels.worker.MadeKernels;
import io.outboard.bench.kernels.worker.Watchdog;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * This class does short runs on a device, through the process that cases run in, and compares every result with the
 * CPU's.
 */
@Tag("gpu")
class ProgramsGpuTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    @BeforeEach
    void needsAGpu() {
        GpuDevice.require();
    }

    @ParameterizedTest
    @MethodSource("io.outboard.bench.kernels.programs.catalogue.Programs#names")
    void shouldComeToWhatTheCpuComesToAndGiveAllBack(final String program) throws Exception {
        // Others' code may fail.
        final List<ProgramCase> cases = Programs.cases(program, true).stream()
                .filter(work -> !work.store().isPeer())
                .toList();
        MadeKernels.require(cases);

        final List<String> results =
                new Watchdog<ProgramCase>(ProgramWorker.class, 0, LIMIT).run(cases, ignored -> {}, ignored -> {});

        for (final String line : results) {
            assertEquals("", ProgramResult.parse("results", 1, line).failure(), line);
            // Every result counts mismatches, unless nothing can be compared.
            assertTrue(line.contains("\"mismatches\":0"), line);
            assertTrue(line.contains("\"leaked\":0") || line.contains("\"leaked\":null"), line);
        }
    }
}
