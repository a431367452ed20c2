package io.outboard.bench.cli.device;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("gpu")
class CuMemAllocAsyncAllocatorGpuTest extends DriverAllocatorContract {

    @Override
    DriverAllocator open(final int slots) {
        return GpuDevice.open(DriverAllocators.CU_MEM_ALLOC_ASYNC, slots);
    }

    @Override
    long deviceUsedBytes() {
        return GpuDevice.usedBytes();
    }

    @Test
    void shouldKeepFreedMemoryWhileOpenAndRestoreTheThresholdOnClose() {
        Assumptions.assumeTrue(ForeignFunction.isAvailable(), "skipped, needs JDK 22 or newer");
        // The contract's own allocator is open already, so the threshold is at its maximum.
        final DefaultMemoryPool pool = DefaultMemoryPool.of(0).orElseThrow();
        assertEquals(DefaultMemoryPool.KEEP_ALL, pool.releaseThreshold());
        close();
        final long thresholdBefore = pool.releaseThreshold();

        try (DriverAllocator allocator = open(1)) {
            final long usedEmpty = allocator.usedBytes();
            allocator.allocate(0, BLOCK_BYTES);
            allocator.free(0);
            allocator.synchronize();
            final long usedKept = allocator.usedBytes();

            assertAll(
                    () -> assertEquals(DefaultMemoryPool.KEEP_ALL, pool.releaseThreshold()),
                    () -> assertTrue(usedKept >= usedEmpty + BLOCK_BYTES / 2, usedEmpty + " then " + usedKept),
                    () -> assertTrue(allocator.settings().contains("maximum"), allocator.settings()));
        }
        assertAll(() -> assertEquals(0, thresholdBefore), () -> assertEquals(thresholdBefore, pool.releaseThreshold()));
    }
}
