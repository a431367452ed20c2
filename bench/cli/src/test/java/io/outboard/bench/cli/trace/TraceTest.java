package io.outboard.bench.cli.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TraceTest {

    @Test
    void shouldPackTheExtremesOfSlotAndBytes() {
        final long allocation = Trace.allocation(Trace.MAX_SLOTS - 1, Trace.MAX_BYTES);
        final long free = Trace.free(Trace.MAX_SLOTS - 1, Trace.MAX_BYTES);

        assertEquals(Long.MAX_VALUE, allocation);
        assertEquals(-1L, free);
        assertFalse(Trace.isFree(allocation));
        assertTrue(Trace.isFree(free));
        assertEquals(Trace.MAX_SLOTS - 1, Trace.slot(free));
        assertEquals(Trace.MAX_BYTES, Trace.bytes(free));
    }

    @Test
    void shouldComputeThePeaksApartFromEachOther() {
        final Trace trace = trace(
                3,
                Trace.allocation(0, 1000),
                Trace.free(0, 1000),
                Trace.allocation(2, 10),
                Trace.allocation(1, 20),
                Trace.allocation(0, 30),
                Trace.free(2, 10));

        assertEquals(1000, trace.peakLiveBytes());
        assertEquals(3, trace.peakLiveBlocks());
        assertEquals(6, trace.operationCount());
        assertEquals("test, 6 operations", trace.toString());
    }

    @Test
    void shouldHandOutTheArrayItself() {
        final Trace trace = trace(1, Trace.allocation(0, 1));

        assertSame(trace.operations(), trace.operations());
    }

    @Test
    void shouldRejectOperationsThatContradictEachOther() {
        assertRejected(
                "operation 1: slot=0 must be empty for an allocation, and holds 5 bytes",
                () -> trace(1, Trace.allocation(0, 5), Trace.allocation(0, 6)));
        assertRejected(
                "operation 0: slot=1 must hold a block for a free, and is empty", () -> trace(2, Trace.free(1, 5)));
        assertRejected(
                "operation 2: slot=0 must hold a block for a free, and is empty",
                () -> trace(1, Trace.allocation(0, 5), Trace.free(0, 5), Trace.free(0, 5)));
        assertRejected(
                "operation 1: bytes=6 must be 5, the bytes of the block freed in slot=0",
                () -> trace(1, Trace.allocation(0, 5), Trace.free(0, 6)));
        assertRejected("operation 0: bytes=0 must be > 0", () -> trace(8, 7L << 40));
        assertRejected("operation 0: slot=2 must be < slots=2", () -> trace(2, Trace.allocation(2, 1)));
    }

    @Test
    void shouldRejectAnEmptyTrace() {
        assertRejected("operations=0 must be > 0", () -> trace(1));
    }

    @ParameterizedTest
    @CsvSource({"0", "-1", "8388609"})
    void shouldRejectSlotsOutOfRange(final int slots) {
        assertRejected("slots=" + slots + " must be 1..8388608", () -> trace(slots, Trace.allocation(0, 1)));
    }

    @Test
    void shouldRejectARegionOfNothing() {
        assertRejected("regionBytes=0 must be > 0", () -> new Trace("test", 1, 0, new long[] {Trace.allocation(0, 1)}));
    }

    @Test
    void shouldRejectWhatCannotBePacked() {
        assertRejected("slot=-1 must be 0..8388607", () -> Trace.allocation(-1, 1));
        assertRejected("slot=8388608 must be 0..8388607", () -> Trace.free(8388608, 1));
        assertRejected("bytes=0 must be 1..1099511627775", () -> Trace.allocation(0, 0));
        assertRejected("bytes=1099511627776 must be 1..1099511627775", () -> Trace.free(0, 1L << 40));
    }

    private static Trace trace(final int slots, final long... operations) {
        return new Trace("test", slots, 1L << 30, operations);
    }

    private static void assertRejected(final String message, final Runnable action) {
        final IllegalArgumentException e = assertThrows(IllegalArgumentException.class, action::run);
        assertEquals(message, e.getMessage());
    }
}
