package io.outboard.cuda.kernels;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** This class tests which names the headers of the in-kernel allocators put into namespace {@code outboard}. */
class DeviceAllocatorNamesTest {

    private static final long LIMIT_SECONDS = 60;

    @Tag("thorough")
    @Test
    void shouldLeaveTheNamesOfTheirPartsToOthers() {
        final CpuProgram program = new CpuProgram("names.cpp", Path.of("target/names/names"), "-O0");

        program.run(LIMIT_SECONDS);
    }
}
