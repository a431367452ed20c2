package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class DeviceOutOfMemoryExceptionTest {

    @Test
    void shouldSayWhatTheDriverSaid() {
        final DeviceOutOfMemoryException exception =
                DeviceOutOfMemoryException.ofDevice(300, 200, 1000, "cudaErrorMemoryAllocation (2)");

        assertEquals(
                "device out of memory: requested 300 bytes, free 200 of 1000 bytes (cudaErrorMemoryAllocation (2))",
                exception.getMessage());
        assertEquals(300, exception.requestedBytes());
        assertEquals(200, exception.freeBytes());
        assertEquals(200, exception.largestFreeBlockBytes());
        assertEquals("cudaErrorMemoryAllocation (2)", exception.reason());
    }

    @Test
    void shouldCallARegionFullThatHasLessFreeThanRequested() {
        final Statistics statistics = new Statistics(1000, 299, 299, 701, 1, 1, 0);

        final DeviceOutOfMemoryException exception = DeviceOutOfMemoryException.ofStrategy(300, statistics);

        assertEquals("full", exception.reason());
        assertEquals("region full: requested 300 bytes; " + statistics, exception.getMessage());
    }

    @Test
    void shouldCallARegionFragmentedThatHasAsMuchFreeAsRequested() {
        final Statistics statistics = new Statistics(1000, 300, 100, 1000, 1, 3, 0);

        final DeviceOutOfMemoryException exception = DeviceOutOfMemoryException.ofStrategy(300, statistics);

        assertEquals("fragmented", exception.reason());
        assertEquals(300, exception.requestedBytes());
        assertEquals(300, exception.freeBytes());
        assertEquals(100, exception.largestFreeBlockBytes());
    }
}
