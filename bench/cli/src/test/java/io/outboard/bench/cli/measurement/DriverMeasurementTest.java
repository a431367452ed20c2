package io.outboard.bench.cli.measurement;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.device.DriverAllocator;
import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import java.util.List;
import org.junit.jupiter.api.Test;

/** These tests check the driver's side of a comparison, on a driver that needs no GPU. */
class DriverMeasurementTest {

    private static final int OUT_OF_MEMORY = 2;

    private final Trace trace = Profiles.named("paper", 5_000);

    @Test
    void shouldDoEveryOperationAndLeaveNothing() {
        final FakeDriver driver = new FakeDriver(Long.MAX_VALUE, OUT_OF_MEMORY);

        final Measurement measurement = measure(driver);

        assertEquals(
                trace.operationCount(),
                measurement.allocate().histogram().getTotalCount()
                        + measurement.free().histogram().getTotalCount());
        assertEquals(0, measurement.failures());
        assertEquals(0, driver.liveBytes);
        assertEquals(trace.peakLiveBytes(), driver.peakLiveBytes);
    }

    @Test
    void shouldNotCountItsOwnGarbageAsTheDrivers() {
        // An object for each operation would be 16 bytes or more an operation; what the JVM itself allocates meanwhile
        // is far less.
        assertEquals(0.0, measure(new FakeDriver(Long.MAX_VALUE, OUT_OF_MEMORY)).gcBytesPerOp(), 0.5);
    }

    @Test
    void shouldSampleWhatTheDeviceReports() {
        final Measurement measurement = measure(new FakeDriver(Long.MAX_VALUE, OUT_OF_MEMORY));

        assertTrue(measurement.memory().size() >= MemorySample.SAMPLES);
        for (final MemorySample sample : measurement.memory()) {
            assertEquals(sample.liveBytes(), sample.deviceUsedBytes());
        }
    }

    /** A pool that keeps what is freed had all it needed since the warm-up, and so seemed to have nothing. */
    @Test
    void shouldSampleFirstWhatWasInUseBeforeTheWarmUp() {
        final FakeDriver keeping = new FakeDriver(Long.MAX_VALUE, OUT_OF_MEMORY) {
            @Override
            public long usedBytes() {
                return peakLiveBytes;
            }
        };

        final List<MemorySample> memory = measure(keeping).memory();

        assertEquals(new MemorySample(0, 0, null, null, 0L), memory.get(0));
        assertTrue(requireNonNull(memory.get(1).deviceUsedBytes()) > trace.peakLiveBytes() / 2);
    }

    @Test
    void shouldCountAllocationsThatFoundNoMemoryAndLeaveOutTheirFrees() {
        final FakeDriver driver = new FakeDriver(trace.peakLiveBytes() / 2, OUT_OF_MEMORY);

        final Measurement measurement = measure(driver);

        assertTrue(measurement.failures() > 0);
        assertEquals(0, driver.liveBytes);
    }

    /**
     * A baseline that failed for another reason once counted as one that ran out of memory, although it measured
     * nothing.
     */
    @Test
    void shouldStopAtAFailureThatIsNoLackOfMemory() {
        final FakeDriver driver = new FakeDriver(trace.peakLiveBytes() / 2, 700);

        final IllegalStateException thrown = assertThrows(IllegalStateException.class, () -> measure(driver));

        assertEquals("fake: allocating failed with code 700", thrown.getMessage());
    }

    private Measurement measure(final DriverAllocator driver) {
        return new DriverMeasurement(driver, trace, new Progress(1)).run("0");
    }

    /** This driver has slots and a limit of live bytes, beyond which every allocation fails with one code. */
    private class FakeDriver implements DriverAllocator {

        private final long[] sizes = new long[trace.slots()];
        private final long limitBytes;
        private final int codeBeyond;
        private long liveBytes;
        long peakLiveBytes;

        FakeDriver(final long limitBytes, final int codeBeyond) {
            this.limitBytes = limitBytes;
            this.codeBeyond = codeBeyond;
        }

        @Override
        public String name() {
            return "fake";
        }

        @Override
        public String settings() {
            return "";
        }

        @Override
        public int allocate(final int slot, final long sizeBytes) {
            assertEquals(0, sizes[slot]);
            if (liveBytes + sizeBytes > limitBytes) {
                return codeBeyond;
            }
            sizes[slot] = sizeBytes;
            liveBytes += sizeBytes;
            peakLiveBytes = Math.max(peakLiveBytes, liveBytes);
            return 0;
        }

        @Override
        public int free(final int slot) {
            assertTrue(sizes[slot] > 0);
            liveBytes -= sizes[slot];
            sizes[slot] = 0;
            return 0;
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
            return liveBytes;
        }

        @Override
        public void close() {}
    }
}
