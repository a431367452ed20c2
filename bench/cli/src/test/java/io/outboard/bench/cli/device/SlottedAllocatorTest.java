package io.outboard.bench.cli.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.outboard.cuda.driver.CudaFailureException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** These tests check the contract of the two baselines without a GPU, and the order of closing. */
class SlottedAllocatorTest extends DriverAllocatorContract {

    private static final long DEVICE_BYTES = 1L << 30;

    private long usedBytes;
    private final List<String> undone = new ArrayList<>();

    @Override
    DriverAllocator open(final int slots) {
        return new Simulated(slots);
    }

    @Override
    long deviceUsedBytes() {
        return usedBytes;
    }

    @Test
    void shouldUndoInReverseOrderAndOnceThoughOneStepFails() {
        final SlottedAllocator allocator = new Simulated(1);
        allocator.onClose(() -> undone.add("first"));
        allocator.onClose(() -> allocator.check("second", 700));
        allocator.onClose(() -> undone.add("third"));

        final CudaFailureException thrown = assertThrows(CudaFailureException.class, allocator::close);
        allocator.close();

        assertEquals(List.of("third", "first"), undone);
        assertEquals("second failed: code 700 (700)", thrown.getMessage());
    }

    @Test
    void shouldRefuseToHaveNoSlots() {
        assertThrows(IllegalArgumentException.class, () -> new Simulated(0));
    }

    private final class Simulated extends SlottedAllocator {

        private final long[] sizes;

        Simulated(final int slots) {
            super(slots);
            sizes = new long[slots];
        }

        @Override
        public String name() {
            return "simulated";
        }

        @Override
        public String settings() {
            return "";
        }

        @Override
        public int synchronize() {
            return 0;
        }

        @Override
        public String codeName(final int code) {
            return "code " + code;
        }

        @Override
        public long usedBytes() {
            return usedBytes;
        }

        @Override
        int allocateInto(final int slot, final long sizeBytes) {
            if (sizeBytes > DEVICE_BYTES - usedBytes) {
                return 2;
            }
            sizes[slot] = sizeBytes;
            usedBytes += sizeBytes;
            return 0;
        }

        @Override
        int freeFrom(final int slot) {
            usedBytes -= sizes[slot];
            return 0;
        }
    }
}
