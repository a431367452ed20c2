package io.outboard.bench.cli.device;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** These tests check what each baseline must do, over the driver or over a simulation of the driver. */
abstract class DriverAllocatorContract {

    static final long BLOCK_BYTES = 256L << 20;

    private static final long TOLERANCE_BYTES = 32L << 20;
    private static final int SLOTS = 3;
    private static final int OUT_OF_MEMORY = 2;

    private DriverAllocator allocator;

    /** Opens an allocator with the given number of slots; aborts the test if there is no GPU. */
    abstract DriverAllocator open(int slots);

    /** Returns how much the device has in use, read by other means than the allocator. */
    abstract long deviceUsedBytes();

    @BeforeEach
    void open() {
        allocator = open(SLOTS);
    }

    @AfterEach
    void close() {
        if (allocator != null) {
            allocator.close();
        }
    }

    @Test
    void shouldAllocateAndFreeInEachSlot() {
        for (int round = 0; round < 3; round++) {
            for (int slot = 0; slot < SLOTS; slot++) {
                assertEquals(0, allocator.allocate(slot, 1000L << slot));
            }
            for (int slot = 0; slot < SLOTS; slot++) {
                assertEquals(0, allocator.free(slot));
            }
        }
        assertEquals(0, allocator.synchronize());
    }

    @Test
    void shouldReserveDeviceMemory() {
        final long usedBefore = allocator.usedBytes();

        assertEquals(0, allocator.allocate(0, BLOCK_BYTES));
        assertEquals(0, allocator.synchronize());

        assertTrue(allocator.usedBytes() >= usedBefore + BLOCK_BYTES - TOLERANCE_BYTES);
    }

    @Test
    void shouldReturnDeviceMemoryOnCloseAndCloseTwice() {
        allocator.close();
        final long usedBefore = deviceUsedBytes();
        final DriverAllocator other = open(SLOTS);
        other.allocate(0, BLOCK_BYTES);
        other.allocate(2, BLOCK_BYTES);
        other.free(0);

        other.close();
        other.close();

        final long usedAfter = deviceUsedBytes();
        assertTrue(usedAfter <= usedBefore + TOLERANCE_BYTES, usedBefore + " then " + usedAfter);
    }

    @Test
    void shouldReturnTheCodeAndLeaveTheSlotFreeWhenMemoryRunsOut() {
        final int code = allocator.allocate(1, 1L << 46);

        assertAll(
                () -> assertEquals(OUT_OF_MEMORY, code),
                () -> assertFalse(allocator.codeName(code).isBlank()),
                () -> assertEquals(0, allocator.allocate(1, 1000)),
                () -> assertEquals(0, allocator.free(1)));
    }

    @Test
    void shouldRefuseToUseASlotTwiceOrFreeItTwice() {
        allocator.allocate(0, 1000);

        assertAll(
                () -> assertThrows(IllegalStateException.class, () -> allocator.allocate(0, 1000)),
                () -> assertThrows(IllegalStateException.class, () -> allocator.free(1)),
                () -> assertEquals(0, allocator.free(0)),
                () -> assertThrows(IllegalStateException.class, () -> allocator.free(0)));
    }
}
