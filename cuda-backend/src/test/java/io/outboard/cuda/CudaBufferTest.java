package io.outboard.cuda;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.memory.FakeCuda;
import io.outboard.pool.DeviceBuffer;
import io.outboard.pool.LeakLevel;
import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import jcuda.driver.CUdeviceptr;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** This class tests buffers as JCuda programs use them, on a simulated device. */
class CudaBufferTest {

    private final FakeCuda cuda = new FakeCuda(1);
    private final CudaPool gpu = CudaPool.over(
            CudaMemorySource.open(cuda, 0),
            builder -> builder.leakLevel(LeakLevel.ALL).reclaimLeaks().name("pointed"));

    @AfterEach
    void close() {
        gpu.close();
    }

    @Test
    void shouldPointToItsFirstByte() {
        try (CudaBuffer buffer = gpu.buffer(1000)) {
            final CUdeviceptr pointer = buffer.pointer();

            assertAll(
                    () -> assertEquals(buffer.address(), DevicePointers.address(pointer)),
                    () -> assertEquals(
                            buffer.address() + 24,
                            DevicePointers.address(pointer.withByteOffset(16).withByteOffset(8))),
                    () -> assertNotSame(pointer, buffer.pointer(), "JCuda writes into what it is given"),
                    () -> assertEquals(1000, buffer.sizeBytes()),
                    () -> assertTrue(gpu.pool().contains(buffer.address())));
        }
    }

    @Test
    void shouldBeAlignedIfAsked() {
        try (CudaBuffer first = gpu.buffer(1);
                CudaBuffer aligned = gpu.buffer(1, 1 << 20);
                CudaBuffer ordered = gpu.bufferAsync(1, 0)) {
            assertEquals(0, DevicePointers.address(aligned.pointer()) & ((1 << 20) - 1));
            assertEquals(3, gpu.pool().statistics().liveBlocks(), () -> first + " " + ordered);
        }
    }

    @Test
    void shouldCloseOnceWithTheBufferThatItIs() {
        final DeviceBuffer block = gpu.pool().buffer(256);
        final CudaBuffer buffer = CudaBuffer.of(block);
        assertEquals(block.toString(), buffer.toString());

        buffer.close();
        buffer.close();
        block.close();

        assertAll(
                () -> assertEquals(0, gpu.pool().statistics().liveBlocks()),
                () -> assertThrows(IllegalStateException.class, buffer::pointer),
                () -> assertThrows(IllegalStateException.class, block::address),
                () -> assertTrue(buffer.toString().endsWith(", closed]"), buffer::toString));
    }

    /** If the buffer were reclaimed as a leak, the pointer would lose its memory. */
    @Test
    void shouldNotBeLostWhileAPointerIsThere() {
        final @Nullable CUdeviceptr[] pointer = new CUdeviceptr[1];
        final WeakReference<CudaBuffer> buffer = forgotten(pointer);
        pointer[0] = Objects.requireNonNull(pointer[0]).withByteOffset(8);

        try {
            assertFalse(isCollected(buffer, TimeUnit.MILLISECONDS.toNanos(300)), "the pointer keeps it");
        } finally {
            Reference.reachabilityFence(pointer[0]);
        }
        pointer[0] = null;
        assertTrue(isCollected(buffer, TimeUnit.SECONDS.toNanos(20)), "and nothing else does");
    }

    private WeakReference<CudaBuffer> forgotten(final @Nullable CUdeviceptr[] pointer) {
        final CudaBuffer buffer = gpu.buffer(256);
        pointer[0] = buffer.pointer();
        return new WeakReference<>(buffer);
    }

    private static boolean isCollected(final WeakReference<?> reference, final long withinNs) {
        final long deadline = System.nanoTime() + withinNs;
        while (reference.get() != null && System.nanoTime() < deadline) {
            System.gc();
        }
        return reference.get() == null;
    }
}
