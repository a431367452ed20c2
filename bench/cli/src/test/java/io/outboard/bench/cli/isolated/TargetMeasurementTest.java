package io.outboard.bench.cli.isolated;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.bench.cli.common.Progress;
import io.outboard.bench.cli.measurement.Passes;
import io.outboard.bench.cli.trace.Trace;
import org.junit.jupiter.api.Test;

/** These tests measure a target on a machine whose time passes as they say. */
class TargetMeasurementTest {

    private static final long OPERATION_NS = 10;

    /** An allocation and a free, so that a pass is many replays. */
    private final Trace trace = new Trace("two", 1, 4096, new long[] {Trace.allocation(0, 1), Trace.free(0, 1)});

    private final Machine machine = new Machine();
    private final TargetMeasurement measurement = new TargetMeasurement(machine, trace, new Progress(1), machine);

    @Test
    void shouldNotCountWhatOtherProgramsTake() {
        machine.othersNs = 30;

        final TargetMeasurement.Times times = measurement.run();

        assertEquals(OPERATION_NS, times.cpuNsPerOp());
        assertEquals((double) (OPERATION_NS + machine.othersNs), times.nsPerOp());
        assertEquals(0.75, times.waited(), 1e-9);
    }

    @Test
    void shouldTakeTheFastestPassOfATurn() {
        final int passes = Passes.passesATurn(trace);
        machine.slowUntil = machine.operations + (long) (passes - 1) * Passes.speedReplays(trace) * 2;

        assertEquals(OPERATION_NS, measurement.turn());

        machine.slowUntil = Long.MAX_VALUE;
        assertEquals(2 * OPERATION_NS, measurement.turn());
        final TargetMeasurement.Times times = measurement.finish(false);
        assertEquals(2, times.cpuTurnsNs().size());
        assertEquals(OPERATION_NS, times.cpuNsPerOp());
        assertEquals(0, times.waited());
    }

    @Test
    void shouldCountGarbageOfAllPasses() {
        machine.garbageBytes = 16;

        assertEquals(16, measurement.run().gcBytesPerOp());
    }

    /** This target takes ten nanoseconds for an operation, or twice as much while it is slow. */
    private static final class Machine extends Target implements ThreadClock {

        private long operations;
        private long slowUntil;
        private long othersNs;
        private long garbageBytes;
        private long wallNs;
        private long cpuNs;
        private long allocatedBytes;

        @Override
        public boolean allocate(final int slot, final long sizeBytes) {
            operate();
            return true;
        }

        @Override
        public boolean wasServed(final int slot) {
            return true;
        }

        @Override
        public void free(final int slot) {
            operate();
        }

        private void operate() {
            final long ns = operations++ < slowUntil ? 2 * OPERATION_NS : OPERATION_NS;
            cpuNs += ns;
            wallNs += ns + othersNs;
            allocatedBytes += garbageBytes;
        }

        @Override
        public long wallNs() {
            return wallNs;
        }

        @Override
        public long cpuNs() {
            return cpuNs;
        }

        @Override
        public long allocatedBytes() {
            return allocatedBytes;
        }
    }
}
