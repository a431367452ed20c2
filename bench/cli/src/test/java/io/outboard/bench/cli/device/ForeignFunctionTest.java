package io.outboard.bench.cli.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/**
 * These tests need no GPU: they call the C library in the way in which the memory pool's attributes are read and set.
 */
@EnabledOnOs(OS.LINUX)
class ForeignFunctionTest {

    private static final String LIBRARY = "libc.so.6";

    @BeforeEach
    void requireForeign() {
        Assumptions.assumeTrue(ForeignFunction.isAvailable(), "skipped, needs JDK 22 or newer");
    }

    @Test
    void shouldPassAndReturnInts() throws ReflectiveOperationException {
        final MethodHandle abs = ForeignFunction.find(LIBRARY, "abs", int.class);

        assertEquals(42, ForeignFunction.call(abs, -42));
    }

    @Test
    void shouldPassPointersAsLongs() throws ReflectiveOperationException {
        final MethodHandle compare = ForeignFunction.find(LIBRARY, "memcmp", long.class, long.class, long.class);
        final ByteBuffer left = ByteBuffer.allocateDirect(8).putLong(0, 0x0102_0304_0506_0708L);
        final ByteBuffer right = ByteBuffer.allocateDirect(8).putLong(0, 0x0102_0304_0506_0709L);
        final long leftAddress = ForeignFunction.addressOf(left);
        final long rightAddress = ForeignFunction.addressOf(right);

        try {
            assertEquals(0, ForeignFunction.call(compare, leftAddress, rightAddress, 7L));
            assertEquals(-1, Integer.signum(ForeignFunction.call(compare, leftAddress, rightAddress, 8L)));
        } finally {
            Reference.reachabilityFence(left);
            Reference.reachabilityFence(right);
        }
    }

    @Test
    void shouldMissWhatIsNotThere() {
        assertThrows(ReflectiveOperationException.class, () -> ForeignFunction.find("libnone.so.1", "abs", int.class));
        assertThrows(
                ReflectiveOperationException.class, () -> ForeignFunction.find(LIBRARY, "no_such_name", int.class));
    }
}
