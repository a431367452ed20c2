package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RegionTest {

    @Test
    void shouldEndAfterItsLastByte() {
        assertEquals(0x1100, new Region(0x1000, 0x100).endAddress());
    }

    @ParameterizedTest
    @ValueSource(longs = {0x1000, 0x1001, 0x10FF})
    void shouldContainItsOwnAddresses(final long address) {
        assertTrue(new Region(0x1000, 0x100).contains(address));
    }

    @ParameterizedTest
    @ValueSource(longs = {0xFFF, 0x1100, 0, -1, -0x1000, Long.MIN_VALUE, Long.MAX_VALUE})
    void shouldNotContainOtherAddresses(final long address) {
        assertFalse(new Region(0x1000, 0x100).contains(address));
    }

    @Test
    void shouldReachFromZeroToTheLastAddress() {
        final Region region = new Region(0, Long.MAX_VALUE);

        assertTrue(region.contains(0));
        assertTrue(region.contains(Long.MAX_VALUE - 1));
        assertFalse(region.contains(-1));
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE})
    void shouldRefuseANegativeAddress(final long address) {
        assertRefused(address, 1, "address=" + address + " must be >= 0");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void shouldRefuseASizeOfZeroOrLess(final long sizeBytes) {
        assertRefused(0, sizeBytes, "sizeBytes=" + sizeBytes + " must be > 0");
    }

    @Test
    void shouldRefuseToEndBeyondTheLastAddress() {
        assertRefused(1, Long.MAX_VALUE, "sizeBytes=9223372036854775807 must be <= 2^63 - 1 - address, with address=1");
    }

    @Test
    void shouldReadAsARange() {
        assertEquals("[0x10000000000..0x10000100000), 1MiB", new Region(1L << 40, 1L << 20).toString());
    }

    private static void assertRefused(final long address, final long sizeBytes, final String message) {
        assertEquals(
                message,
                assertThrows(IllegalArgumentException.class, () -> new Region(address, sizeBytes))
                        .getMessage());
    }
}
