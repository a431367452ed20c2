package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** How a dump writes text; what it says of a pool is tested where there are strategies. */
class PoolDumpTest {

    @Test
    void shouldQuoteWhateverAClassMayBeCalled() {
        final StringBuilder all = new StringBuilder();
        for (int c = 0; c <= Character.MAX_VALUE; c++) {
            all.append((char) c);
        }

        final String quoted = PoolDump.quoted(all.toString());

        assertEquals(all.toString(), Json.parse(quoted));
        assertTrue(quoted.chars().noneMatch(c -> Character.isSurrogate((char) c)), "a writer would refuse a lone one");
    }

    @Test
    void shouldLeavePlainTextAsItIs() {
        assertEquals("\"a.B.c(B.java:12) \u00e9\"", PoolDump.quoted("a.B.c(B.java:12) \u00e9"));
    }
}
