package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QuotaTest {

    @Test
    void shouldReadSizes() {
        assertEquals(new Quota(1L << 30, 4L << 30), Quota.parse("--quota", "1GiB:4GiB"));
        assertEquals(new Quota(0, 4096), Quota.parse("--quota", ":4KiB"));
        assertEquals(new Quota(4096, Long.MAX_VALUE), Quota.parse("--quota", "4KiB:"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1GiB", "x:1", "2GiB:1GiB", "1:2:3"})
    void shouldRefuseAnythingElse(final String text) {
        final IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> Quota.parse("--quota", text));

        assertTrue(String.valueOf(e.getMessage()).contains("must be"), e::getMessage);
    }

    @Test
    void shouldRefuseNegativeBytes() {
        assertThrows(IllegalArgumentException.class, () -> new Quota(-1, 0));
    }
}
