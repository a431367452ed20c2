package io.outboard.cuda;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** This class tests a pool on a GPU without JCuda, in a virtual machine of its own. */
@Tag("gpu")
class WithoutJCudaGpuTest {

    @TempDir
    private Path temporary;

    @Test
    @EnabledIfSystemProperty(named = "outboard.test.jar", matches = "true")
    void shouldServeAPool() throws IOException, InterruptedException {
        Gpu.require();

        final List<String> lines = ChildJvm.run(
                temporary,
                WithoutJCudaTest::isOther,
                "--enable-native-access=ALL-UNNAMED",
                WithoutJCudaProbe.class,
                "0");

        assertTrue(
                lines.size() == 3
                        && lines.get(0).endsWith("CUDA runtime none: 5000")
                        && lines.get(1).endsWith("(cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2))")
                        && lines.get(2).equals("done"),
                lines.toString());
    }
}
