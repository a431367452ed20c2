package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;

/** A JDK that can't call Linux leads to an error that says so. */
@EnabledForJreRange(max = JRE.JAVA_21)
class OldJdkTest {

    @Test
    void shouldSayWhichJdkIsNeeded(@TempDir final Path folder) {
        for (final IOException e : new IOException[] {
            assertThrows(IOException.class, () -> LeasedMemorySource.connect(folder.resolve("lender"))),
            assertThrows(IOException.class, () -> LenderStatus.of(folder.resolve("lender"))),
            assertThrows(IOException.class, () -> LendingDevice.memory(MemoryDevice.UNIT_BYTES))
        }) {
            assertTrue(String.valueOf(e.getMessage()).contains("need JDK 22 or newer"), e::getMessage);
        }
    }
}
