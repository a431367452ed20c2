package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import examples.Program;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.StrategyOptions;
import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.simulated.SimulatedDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A buffer is closed once, and reported if it is lost before. */
class DeviceBufferTest {

    private static final long MIB = 1L << 20;

    private static PoolBuilder builder() {
        return Pool.over(new VirtualMemorySource())
                .strategy("tlsf", new StrategyOptions(256, 1 << 14))
                .firstRegionBytes(4 * MIB)
                .limitBytes(4 * MIB);
    }

    private static void lose(final Pool pool, final int buffers) {
        for (int i = 0; i < buffers; i++) {
            assertNotNull(pool.buffer(100));
        }
    }

    /** Collects garbage until {@code count} buffers have been reported. */
    private static List<LogRecord> reports(final Warnings warnings, final int count) throws InterruptedException {
        final List<LogRecord> reports = new ArrayList<>();
        final long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (reports.size() < count) {
            if (System.nanoTime() > deadline) {
                fail("only " + reports.size() + " of " + count + " leaks were reported");
            }
            System.gc();
            final LogRecord report = warnings.records().poll(100, TimeUnit.MILLISECONDS);
            if (report != null) {
                reports.add(report);
                warnings.records().drainTo(reports);
            }
        }
        return reports;
    }

    @ParameterizedTest
    @EnumSource(LeakLevel.class)
    void shouldHoldABlockUntilItIsClosed(final LeakLevel level) {
        try (Pool pool = builder().leakLevel(level).build()) {
            final DeviceBuffer buffer = pool.buffer(1000);

            assertEquals(1000, buffer.sizeBytes());
            assertEquals(1024, pool.sizeOf(buffer.address()));
            final String text = "[0x" + Long.toHexString(buffer.address()) + ", 1000 bytes";
            assertEquals(text + "]", buffer.toString());

            buffer.close();
            buffer.close();

            assertEquals(0, pool.statistics().liveBlocks());
            assertEquals(
                    "the buffer is closed",
                    assertThrows(IllegalStateException.class, buffer::address).getMessage());
            assertThrows(IllegalStateException.class, buffer::sizeBytes);
            assertEquals(text + ", closed]", buffer.toString());
        }
    }

    @Test
    void shouldBeAlignedIfAsked() {
        try (Pool pool = builder().build()) {
            final DeviceBuffer first = pool.buffer(100);
            final DeviceBuffer aligned = pool.buffer(1000, 1 << 16);

            assertEquals(0, aligned.address() & 0xffff);
            assertEquals(1000, aligned.sizeBytes());
            assertThrows(IllegalArgumentException.class, () -> pool.buffer(1000, 3));
            aligned.close();
            first.close();
            assertEquals(0, pool.statistics().liveBlocks());
        }
    }

    /** The same stream may have the buffer's memory at once, others only after the stream's work. */
    @ParameterizedTest
    @EnumSource(LeakLevel.class)
    void shouldGoBackOnItsStream(final LeakLevel level) {
        final SimulatedDevice device = new SimulatedDevice();
        try (Pool pool = builder()
                .reuse(ReusePolicy.STREAM_ORDERED, device)
                .leakLevel(level)
                .build()) {
            device.submit(7);
            final DeviceBuffer buffer = pool.bufferAsync(4 * MIB, 7);
            final long address = buffer.address();

            buffer.close();

            assertEquals(4 * MIB, pool.statistics().limboBytes());
            try (DeviceBuffer next = pool.bufferAsync(4 * MIB, 7)) {
                assertEquals(address, next.address());
            }
            assertEquals(0, device.awaits() + device.synchronizations(), "nothing was waited for");
        }
    }

    /** A second free would free the next owner's block, or throw. */
    @ParameterizedTest
    @EnumSource(LeakLevel.class)
    void shouldFreeOnceIfTwoThreadsClose(final LeakLevel level) throws Exception {
        final ExecutorService threads = Executors.newFixedThreadPool(2);
        try (Pool pool = builder().leakLevel(level).build()) {
            final int rounds = 500;
            final DeviceBuffer[] buffers = new DeviceBuffer[rounds];
            for (int i = 0; i < rounds; i++) {
                buffers[i] = pool.buffer(256);
            }
            final AtomicInteger arrived = new AtomicInteger();
            final List<Future<?>> done = new ArrayList<>();
            for (int t = 0; t < 2; t++) {
                done.add(threads.submit(() -> {
                    for (int i = 0; i < rounds; i++) {
                        arrived.incrementAndGet();
                        // The thread spins rather than sleeps, so that both threads go on within nanoseconds.
                        while (arrived.get() < 2 * (i + 1)
                                && !Thread.currentThread().isInterrupted()) {
                            Thread.onSpinWait();
                        }
                        buffers[i].close();
                    }
                    return null;
                }));
            }
            for (final Future<?> thread : done) {
                thread.get(60, TimeUnit.SECONDS);
            }

            assertEquals(0, pool.statistics().liveBlocks());
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void shouldDoNothingIfThePoolWasClosedFirst() {
        try (Warnings warnings = new Warnings()) {
            final Pool pool = builder().leakLevel(LeakLevel.ALL).build();
            final DeviceBuffer buffer = pool.buffer(1);

            pool.close();
            assertDoesNotThrow(buffer::close);

            assertEquals(1, warnings.records().size());
        }
    }

    @Test
    void shouldSayThatItsBlockWasFreedByAddress() {
        try (Pool pool = builder().leakLevel(LeakLevel.ALL).build()) {
            final DeviceBuffer buffer = pool.buffer(1);
            pool.free(buffer.address());

            assertThrows(InvalidAddressException.class, buffer::close);

            assertDoesNotThrow(buffer::close);
        }
    }

    @Test
    void shouldWaitInLimboAsAnyBlock() {
        final SimulatedDevice device = new SimulatedDevice();
        try (Pool pool = builder().reuse(ReusePolicy.STRICT, device).build()) {
            pool.buffer(256).close();

            assertEquals(256, pool.statistics().limboBytes());
        }
    }

    @Test
    void shouldRefuseWhatThePoolRefuses() {
        try (Pool pool = builder().build()) {
            assertThrows(IllegalArgumentException.class, () -> pool.buffer(0));
            assertThrows(DeviceOutOfMemoryException.class, () -> pool.buffer(5 * MIB));
        }
    }

    @Test
    void shouldReportALostBufferWithItsStack() throws InterruptedException {
        try (Warnings warnings = new Warnings();
                Pool pool = builder().name("lossy").leakLevel(LeakLevel.ALL).build()) {
            final DeviceBuffer kept = pool.buffer(100);
            final long lost = Program.address(Program.buffer(pool, 100));
            pool.buffer(100).close();

            final LogRecord report = reports(warnings, 1).get(0);

            assertEquals(
                    "pool lossy: a buffer was collected without having been closed, [0x" + Long.toHexString(lost)
                            + ", 100 bytes]; it stays in use",
                    report.getMessage());
            final StackTraceElement[] stack = report.getThrown().getStackTrace();
            assertEquals("examples.Program.buffer", stack[0].getClassName() + "." + stack[0].getMethodName());
            assertEquals("shouldReportALostBufferWithItsStack", stack[1].getMethodName(), "the rest is all there");
            assertEquals(1, pool.statistics().leaks());
            assertEquals(2, pool.statistics().liveBlocks());
            pool.free(lost);
            kept.close();
            assertEquals(0, warnings.records().size());
        }
    }

    @Test
    void shouldReportEveryLostBufferButTakeTheStackOfFew() throws InterruptedException {
        try (Warnings warnings = new Warnings();
                Pool pool =
                        builder().leakLevel(LeakLevel.SAMPLED).reclaimLeaks().build()) {
            lose(pool, 4096);

            final List<LogRecord> reports = reports(warnings, 4096);

            assertEquals(4096, reports.size());
            final long stacks = reports.stream()
                    .filter(report -> report.getThrown() != null)
                    .count();
            // About 64 stacks are expected, with a standard deviation of 8.
            assertTrue(stacks > 8 && stacks < 256, () -> stacks + " stacks");
        }
    }

    @Test
    void shouldFreeALostBufferIfAsked() throws InterruptedException {
        try (Warnings warnings = new Warnings();
                Pool pool = builder().leakLevel(LeakLevel.ALL).reclaimLeaks().build()) {
            lose(pool, 10);

            final List<LogRecord> reports = reports(warnings, 10);

            assertTrue(reports.get(0).getMessage().endsWith("it is freed now"));
            assertEquals(0, pool.statistics().liveBlocks());
        }
    }

    @Test
    void shouldReportThatALostBufferCannotBeFreed() throws InterruptedException {
        try (Warnings warnings = new Warnings();
                Pool pool = builder().leakLevel(LeakLevel.ALL).reclaimLeaks().build()) {
            pool.free(pool.buffer(100).address());

            final String message = reports(warnings, 1).get(0).getMessage();

            assertTrue(message.contains("freeing it failed: " + InvalidAddressException.class.getName()), message);
        }
    }

    @Test
    void shouldReportALostBufferThoughTheHostHasNoMemoryToFreeIt() throws InterruptedException {
        final SteadyDevice full = new SteadyDevice() {
            @Override
            public long mark() {
                throw new OutOfMemoryError("simulated");
            }
        };
        final Pool pool = builder()
                .reuse(ReusePolicy.STRICT, full)
                .limboLimitBytes(1)
                .leakLevel(LeakLevel.ALL)
                .reclaimLeaks()
                .build();
        try (Warnings warnings = new Warnings()) {
            lose(pool, 1);

            final String message = reports(warnings, 1).get(0).getMessage();

            assertTrue(message.contains("freeing it failed: " + OutOfMemoryError.class.getName()), message);
        }
    }

    @Test
    void shouldNotLookForLeaksIfItIsOff() throws InterruptedException {
        try (Warnings warnings = new Warnings();
                Pool off = builder().build();
                Pool all = builder().leakLevel(LeakLevel.ALL).reclaimLeaks().build()) {
            lose(off, 10);
            lose(all, 1);

            assertEquals(1, reports(warnings, 1).size());
            assertEquals(0, warnings.records().size());
            assertEquals(10, off.statistics().liveBlocks());
            assertNull(off.largestHolders().get(0).site());
            off.trimTo(0);
        }
    }

    @Test
    void shouldRefuseToReclaimWhatItDoesNotLookFor() {
        assertEquals(
                "leakLevel=OFF must be another level for leaks to be reclaimed",
                assertThrows(
                                IllegalArgumentException.class,
                                () -> builder().reclaimLeaks().build())
                        .getMessage());
    }

    @Test
    void shouldNameTheSitesOfHolders() {
        try (Warnings warnings = new Warnings()) {
            final Pool pool = builder().name("gpu0").leakLevel(LeakLevel.ALL).build();
            final DeviceBuffer buffer = Program.buffer(pool, 2 * MIB);
            pool.allocate(MIB);

            final DeviceOutOfMemoryException thrown =
                    assertThrows(DeviceOutOfMemoryException.class, () -> pool.buffer(3 * MIB));
            pool.close();

            final String holder = ", 2MiB, allocated at examples.Program.buffer(Program.java:";
            assertTrue(String.valueOf(thrown.getMessage()).contains(holder), thrown::getMessage);
            assertTrue(String.valueOf(thrown.getMessage()).endsWith(", 1MiB]]"), thrown::getMessage);
            final String warning = warnings.records().remove().getMessage();
            assertTrue(warning.startsWith("pool gpu0 is closed with 2 blocks in use, 3MiB; the largest: "), warning);
            assertTrue(warning.contains(holder), warning);
            buffer.close();
        }
    }

    @Test
    void shouldForgetASiteWithItsBuffer() {
        try (Pool pool = builder().leakLevel(LeakLevel.ALL).build()) {
            final DeviceBuffer buffer = pool.buffer(256);
            final long address = buffer.address();
            assertNotNull(pool.largestHolders().get(0).site());

            buffer.close();

            assertEquals(address, pool.allocate(256));
            assertNull(pool.largestHolders().get(0).site());
            pool.free(address);
        }
    }
}
