package io.outboard.test;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.pool.DeviceBuffer;
import io.outboard.pool.Pool;
import io.outboard.pool.ReusePolicy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** These tests say what a simulated GPU does: its memory, its streams, and the errors that a test asks for. */
class SimulatedGpuTest {

    private static final long MIB = 1L << 20;

    private final SimulatedGpu gpu = SimulatedGpu.open(64 * MIB);
    private final DeviceMemory memory = gpu.memory();

    @AfterEach
    void close() {
        gpu.close();
    }

    // Memory

    @Test
    void shouldReadWhatWasWritten() {
        final long a = gpu.pool().allocate(1024);

        memory.writeInts(a, 1, -2, 3);
        memory.writeFloats(a + 12, 1.5f, -2.5f);
        memory.writeDoubles(a + 20, Math.PI, Math.E);
        memory.writeBytes(a + 37, (byte) 9);

        assertArrayEquals(new int[] {1, -2, 3}, memory.readInts(a, 3));
        assertEquals(-2, memory.readInt(a + 4));
        assertArrayEquals(new float[] {1.5f, -2.5f}, memory.readFloats(a + 12, 2));
        assertEquals(-2.5f, memory.readFloat(a + 16));
        assertEquals(Math.PI, memory.readDouble(a + 20));
        assertEquals(Math.PI, memory.readDoubles(a + 20, 2)[0]);
        assertArrayEquals(new byte[] {9}, memory.readBytes(a + 37, 1));
        assertArrayEquals(new byte[] {1, 0, 0, 0}, memory.readBytes(a, 4), "little endian");
    }

    /** The kit refuses wrong writes itself, so a pool's own check of memory finds none. */
    @Test
    void shouldServeAPoolThatChecksItsMemory() {
        final List<Object> found = new ArrayList<>();
        try (SimulatedGpu checked = SimulatedGpu.open(MIB, builder -> builder.check(found::add))) {
            final long a = checked.pool().allocate(1000);
            assertEquals(Float.NaN, checked.memory().readFloat(a + 996));
            checked.stream(1).launch("fill", memory -> memory.fill(a, 1000, (byte) 7), a);
            checked.pool().free(a);
            checked.pool().trimTo(0);
            checked.check();
        }

        assertEquals(List.of(), found);
    }

    @Test
    void shouldHaveFreshMemoryThatIsNotZero() {
        final long a = gpu.pool().allocate(256);

        assertEquals(0xA5A5A5A5, memory.readInt(a));
    }

    @Test
    void shouldFillAndCopyAcrossPages() {
        final long a = gpu.pool().allocate(MIB);
        final long b = gpu.pool().allocate(MIB);

        memory.fill(a, MIB, (byte) 7);
        memory.fill(a + 65_000, 1000, (byte) 8);
        memory.copy(a + 1, b, MIB - 1);

        final byte[] copied = memory.readBytes(b, (int) MIB - 1);
        for (int i = 0; i < copied.length; i++) {
            assertEquals(i + 1 >= 65_000 && i + 1 < 66_000 ? 8 : 7, copied[i], "at " + i);
        }
    }

    @Test
    void shouldCopyRangesThatOverlap() {
        final long a = gpu.pool().allocate(256);
        memory.writeInts(a, 1, 2, 3, 4);

        memory.copy(a, a + 4, 12);

        assertArrayEquals(new int[] {1, 1, 2, 3}, memory.readInts(a, 4));
    }

    @Test
    void shouldRefuseNegativeSizes() {
        final long a = gpu.pool().allocate(256);

        assertThrows(IllegalArgumentException.class, () -> memory.fill(a, -1, (byte) 0));
        assertThrows(IllegalArgumentException.class, () -> memory.readBytes(a, -1));
        assertThrows(IllegalArgumentException.class, () -> memory.readInts(a, -1));
        assertThrows(IllegalArgumentException.class, () -> memory.copy(a, a, -1));
        gpu.pool().free(a);
        gpu.check();
    }

    // Streams

    @Test
    void shouldRunKernelsLateAndInOrder() {
        final long a = gpu.pool().allocate(256);
        final SimulatedStream stream = gpu.stream(1);
        memory.writeInts(a, 5);
        stream.launch("double", kernel -> kernel.writeInts(a, 2 * kernel.readInt(a)), a);
        stream.launch("increment", kernel -> kernel.writeInts(a, 1 + kernel.readInt(a)), a);
        assertEquals(5, memory.readInt(a));
        memory.writeInts(a, 10);

        stream.advance();
        assertEquals(20, memory.readInt(a), "it sees what the memory holds by now");
        assertFalse(stream.isIdle());
        stream.synchronize();
        assertEquals(21, memory.readInt(a));
        assertTrue(stream.isIdle());
        stream.advance();
        assertEquals(21, memory.readInt(a));
    }

    @Test
    void shouldWaitForAnotherStream() {
        final long a = gpu.pool().allocate(256);
        gpu.stream(1).launch("first", kernel -> kernel.writeInts(a, 1), a);
        gpu.stream(2).waitFor(gpu.stream(1));
        gpu.stream(2).launch("second", kernel -> kernel.writeInts(a, 10 + kernel.readInt(a)), a);

        gpu.stream(2).synchronize();

        assertEquals(11, memory.readInt(a));
    }

    @Test
    void shouldRunKernelsWhenThePoolWaits() {
        final long a = gpu.pool().allocate(48 * MIB);
        final List<String> ran = new ArrayList<>();
        gpu.stream(1).launch("kernel", kernel -> ran.add("kernel"), a);
        gpu.pool().free(a);
        assertEquals(List.of(), ran);

        gpu.pool().free(gpu.pool().allocate(48 * MIB));

        assertEquals(List.of("kernel"), ran, "its block may not be handed out before");
        gpu.check();
    }

    @Test
    void shouldAnswerTheSameStream() {
        assertSame(gpu.stream(3), gpu.stream(3));
        assertEquals(3, gpu.stream(3).handle());
        assertThrows(IllegalArgumentException.class, () -> gpu.stream(-1));
    }

    @Test
    void shouldReportWhatAKernelThrows() {
        gpu.stream(1).launch("division", kernel -> {
            throw new ArithmeticException("by zero");
        });
        gpu.stream(1).synchronize();

        final List<MemoryFaultError> faults = gpu.takeFaults();
        assertEquals(1, faults.size());
        assertTrue(faults.get(0)
                .getMessage()
                .startsWith("kernel: kernel division on stream 1 threw java.lang.ArithmeticException: by zero"));
        assertInstanceOf(ArithmeticException.class, faults.get(0).getCause());
        gpu.check();
    }

    /** Kernels in Kotlin and Scala may throw checked exceptions, which the pool's caller mustn't get. */
    @Test
    void shouldReportWhatAKernelThrowsUnchecked() {
        final long a = gpu.pool().allocate(48 * MIB);
        gpu.stream(1).launch("file", kernel -> sneak(new IOException("no such file")), a);
        gpu.pool().free(a);
        gpu.pool().free(gpu.pool().allocate(48 * MIB));

        final MemoryFaultError fault = assertThrows(MemoryFaultError.class, gpu::check);
        assertTrue(fault.getMessage().contains("threw java.io.IOException: no such file"), fault.getMessage());
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Throwable> void sneak(final Throwable thrown) throws T {
        throw (T) thrown;
    }

    @Test
    void shouldRefuseAnotherDevicesStream() {
        try (SimulatedGpu other = SimulatedGpu.open(MIB)) {
            assertThrows(IllegalArgumentException.class, () -> gpu.stream(1).waitFor(other.stream(1)));
        }
        assertTrue(gpu.stream(1).isIdle());
    }

    @Test
    void shouldNotLetAKernelCallThePool() {
        gpu.stream(1).launch("allocation", kernel -> gpu.pool().allocate(256));

        final MemoryFaultError fault = assertThrows(MemoryFaultError.class, gpu::check);
        assertTrue(fault.getMessage().contains("a kernel must not call the pool"), fault.getMessage());
        gpu.pool().free(gpu.pool().allocate(256));
        gpu.check();
    }

    // Errors

    @Test
    void shouldRunOutOfMemory() {
        final long a = gpu.pool().allocate(40 * MIB);

        final DeviceOutOfMemoryException e =
                assertThrows(DeviceOutOfMemoryException.class, () -> gpu.pool().allocate(25 * MIB));
        assertEquals(24 * MIB, e.freeBytes());
        gpu.pool().free(gpu.pool().allocate(24 * MIB));
        gpu.pool().free(a);
        gpu.check();
    }

    @Test
    void shouldHaveAllOfASmallDevice() {
        try (SimulatedGpu small = SimulatedGpu.open(1024)) {
            final long[] blocks = {
                small.pool().allocate(256),
                small.pool().allocate(256),
                small.pool().allocate(512)
            };
            assertThrows(DeviceOutOfMemoryException.class, () -> small.pool().allocate(1));
            for (final long block : blocks) {
                small.pool().free(block);
            }
            small.check();
        }
    }

    /** A program that frees what it has when a request fails. */
    private static void program(final Pool pool) {
        try (DeviceBuffer a = pool.buffer(1000);
                DeviceBuffer b = pool.buffer(2000);
                DeviceBuffer c = pool.buffer(3000)) {
            assertTrue(a.address() != b.address() && b.address() != c.address());
        }
    }

    @Test
    void shouldLetEachRequestFail() {
        int failures = 0;
        for (boolean failed = true; failed; ) {
            gpu.failRequest(failures + 1);
            try {
                program(gpu.pool());
                failed = false;
            } catch (final DeviceOutOfMemoryException e) {
                failures++;
                assertTrue(e.getMessage().contains("which the test lets fail"), e.getMessage());
            }
            gpu.check();
        }

        assertEquals(3, failures);
        assertEquals(1 + 2 + 3 + 3, gpu.requests());
    }

    @Test
    void shouldLetTheDeviceFail() {
        final RuntimeException failure = new IllegalStateException("the device is lost");
        gpu.failCall(1, () -> failure);

        assertSame(
                failure,
                assertThrows(IllegalStateException.class, () -> gpu.pool().allocate(256)));
        assertEquals(1, gpu.calls());
        gpu.pool().free(gpu.pool().allocate(256));
        gpu.check();
    }

    /** A loop over the calls ends with one that doesn't come: it mustn't fail the end of the test. */
    @Test
    void shouldCloseThoughACallIsToFail() {
        gpu.pool().free(gpu.pool().allocate(256));
        gpu.failCall(1, () -> new IllegalStateException("the device is lost"));

        gpu.close();
    }

    @Test
    void shouldHaveDevicesOfAnySize() {
        for (final long bytes : new long[] {256, 1L << 31, 3L << 40, 1L << 62}) {
            try (SimulatedGpu other = SimulatedGpu.open(bytes)) {
                final long sizeBytes = Math.min(bytes, 1000);
                final long address = other.pool().allocate(sizeBytes);
                other.memory().fill(address, sizeBytes, (byte) 1);
                other.pool().free(address);
                other.check();
            }
        }
    }

    @Test
    void shouldReachOffsetsThatNoIntHolds() {
        try (SimulatedGpu large = SimulatedGpu.open(8L << 30)) {
            final long address = large.pool().allocate(5L << 30);
            for (final long offset : new long[] {(1L << 31) - 2, (1L << 32) - 2, (5L << 30) - 4}) {
                large.memory().writeInts(address + offset, 7);
                assertEquals(7, large.memory().readInt(address + offset));
            }
            large.pool().free(address);
            large.check();
        }
    }

    @Test
    void shouldRefuseWrongNumbers() {
        assertThrows(IllegalArgumentException.class, () -> gpu.failRequest(0));
        assertThrows(IllegalArgumentException.class, () -> gpu.failCall(0, IllegalStateException::new));
        assertThrows(IllegalArgumentException.class, () -> SimulatedGpu.open(0));
    }

    @Test
    void shouldHaveThePoolThatIsAskedFor() {
        try (SimulatedGpu other =
                SimulatedGpu.open(MIB, builder -> builder.name("other").reuse(ReusePolicy.STREAM_ORDERED))) {
            assertEquals(ReusePolicy.STREAM_ORDERED, other.pool().reusePolicy());
            assertTrue(other.pool().toString().startsWith("pool other"));
        }
        assertEquals(ReusePolicy.STRICT, gpu.pool().reusePolicy());
    }

    @Test
    void shouldServeManyThreads() throws InterruptedException, ExecutionException {
        final ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            final List<Future<?>> done = new ArrayList<>();
            for (int thread = 0; thread < 4; thread++) {
                final SimulatedStream stream = gpu.stream(thread);
                done.add(threads.submit(() -> {
                    for (int i = 0; i < 500; i++) {
                        final long address = gpu.pool().allocate(1 + i * 400L);
                        final int value = i;
                        stream.launch("fill", kernel -> kernel.fill(address, 1, (byte) value), address);
                        if (i % 3 == 0) {
                            stream.synchronize();
                            assertEquals((byte) value, memory.readBytes(address, 1)[0]);
                        }
                        gpu.pool().free(address);
                    }
                }));
            }
            for (final Future<?> each : done) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
        gpu.check();
    }

    @Test
    void shouldCloseTwice() {
        gpu.close();
        gpu.close();
    }
}
