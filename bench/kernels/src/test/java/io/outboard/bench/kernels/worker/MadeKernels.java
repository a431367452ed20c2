package io.outboard.bench.kernels.worker;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Checks for kernels that {@code ptx.sh --all} makes; without them, tests of them are skipped. */
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
