package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import org.junit.jupiter.api.Test;

class DeviceOutOfMemoryExceptionTest {

    @Test
    void shouldSayWhatTheDriverSaid() {
        final DeviceOutOfMemoryException exception =
                DeviceOutOfMemoryException.ofDevice(300, 200, 1000, "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2)");

        assertEquals(
                "device out of memory: requested 300 bytes, free 200 bytes of 1000 bytes "
                        + "(cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2))",
                exception.getMessage());
        assertEquals(300, exception.requestedBytes());
        assertEquals(200, exception.freeBytes());
        assertEquals(200, exception.largestFreeBlockBytes());
        assertEquals("cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2)", exception.reason());
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

    /** Writes an exception and reads it, as JMX and remote calls do. */
    @Test
    void shouldTellTheOtherEndAllThatItKnows() throws Exception {
        final DeviceOutOfMemoryException exception = DeviceOutOfMemoryException.ofPool(
                "pool gpu0", 300, 400, () -> 100, () -> "the state", () -> "[a block]", null);
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(exception);
        }

        final DeviceOutOfMemoryException copy;
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            copy = (DeviceOutOfMemoryException) in.readObject();
        }

        assertEquals(
                "pool gpu0 fragmented: requested 300 bytes; the state, largest free block 100 bytes, external"
                        + " fragmentation 0.75; largest holders [a block]",
                copy.getMessage());
        assertEquals(exception.getMessage(), copy.getMessage());
        assertEquals(100, copy.largestFreeBlockBytes());
        assertEquals("fragmented", copy.reason());
    }

    @Test
    void shouldNameThePoolAndHaveTheDevicesAnswerAsItsCause() {
        final DeviceOutOfMemoryException refusal = DeviceOutOfMemoryException.ofDevice(
                64L << 20, 1L << 20, 80L << 30, "cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (2)");

        final DeviceOutOfMemoryException exception = DeviceOutOfMemoryException.ofPool(
                "pool gpu0", 1_000_000, 999_424, () -> 999_424, () -> "the state", () -> "", refusal);

        assertEquals(
                "pool gpu0 full: requested 976.56KiB (1000000 bytes), refused (cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY"
                        + " (2)); the state",
                exception.getMessage());
        assertSame(refusal, exception.getCause());
        assertEquals(
                "device out of memory: requested 64MiB, free 1MiB of 80GiB (cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (2))",
                refusal.getMessage());
    }
}
