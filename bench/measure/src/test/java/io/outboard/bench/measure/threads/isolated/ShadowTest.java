package io.outboard.bench.measure.threads.isolated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShadowTest {

    private static final long BASE = 1L << 40;
    private static final long PAGE = 4L << 20;

    private final Shadow shadow = new Shadow();

    /** The first block reaches from 1024 bytes before a page's end to 1024 bytes behind it. */
    @ParameterizedTest
    @CsvSource({"-1024,1", "-2048,1025", "1023,1", "0,256", "-4096,8192"})
    void shouldFindAnOverlap(final long offset, final long sizeBytes) {
        shadow.allocated(BASE + PAGE - 1024, 2048);
        final long address = (BASE + PAGE + offset) & -256;

        assertThrows(IllegalStateException.class, () -> shadow.allocated(address, sizeBytes));
    }

    @Test
    void shouldAllowNeighboursAndReuse() {
        shadow.allocated(BASE + 1024, 1024);
        shadow.allocated(BASE, 1024);
        shadow.allocated(BASE + 2048, 1);
        shadow.freed(BASE + 1024);
        shadow.allocated(BASE + 1024, 512);

        assertEquals(4, shadow.blocks());
        assertEquals(2049, shadow.peakLiveBytes());
    }

    @Test
    void shouldFindADoubleFree() {
        shadow.allocated(BASE, 256);
        shadow.freed(BASE);

        assertThrows(IllegalStateException.class, () -> shadow.freed(BASE));
    }

    @Test
    void shouldFindAnAddressThatNoPoolWouldHandOut() {
        final IllegalStateException thrown =
                assertThrows(IllegalStateException.class, () -> shadow.allocated(BASE + 128, 1));

        assertTrue(String.valueOf(thrown.getMessage()).endsWith("must be a multiple of 256"));
    }
}
