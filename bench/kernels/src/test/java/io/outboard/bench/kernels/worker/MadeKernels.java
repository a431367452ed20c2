package io.outboard.bench.kernels.worker;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The class checks whether the kernels that {@code ptx.sh --all} makes are there; a test that needs a missing kernel is
 * skipped.
 */
public final class MadeKernels {

    private static final String REMEDY = "skipped, needs PTX made by cuda-backend/ptx.sh --all";

    private MadeKernels() {}

    /** Requires the kernels of some cases. */
    public static void require(final List<? extends DeviceCase> cases) {
        for (final DeviceCase work : cases) {
            assumeTrue(MadeKernels.class.getResource(work.resource()) != null, REMEDY + ": " + work.resource());
        }
    }

    /** Requires all kernels. */
    public static void requireAll() {
        assumeTrue(Files.exists(Path.of("target/ptx")), REMEDY);
    }
}
