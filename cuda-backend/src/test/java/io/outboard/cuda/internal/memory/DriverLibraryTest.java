package io.outboard.cuda.internal.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.cuda.Gpu;
import org.junit.jupiter.api.Test;

/**
 * This class tests which class of the name is found: on JDK 22 and newer, the build runs this test once from classes
 * and once from the jar.
 */
class DriverLibraryTest {

    private static final int FIRST_RELEASE = 22;

    @Test
    void shouldFindTheClassForThisJdkInTheJar() {
        final boolean jar = VirtualMemoryCalls.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .getPath()
                .endsWith(".jar");
        assertEquals(Boolean.getBoolean("outboard.test.jar"), jar);

        assertEquals(
                jar && Runtime.version().feature() >= FIRST_RELEASE,
                VirtualMemoryCalls.class.isAssignableFrom(DriverLibrary.class));
    }

    @Test
    void shouldFindNothingWhereThereIsNoDriver() {
        Gpu.requireNone();

        assertEquals(false, DriverLibrary.virtualMemory().isPresent());
        assertEquals(false, DriverLibrary.sharedMemory().isPresent());
    }
}
