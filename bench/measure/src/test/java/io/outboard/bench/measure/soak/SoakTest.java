package io.outboard.bench.measure.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.pool.DeviceWork;
import io.outboard.pool.PoolStatistics;
import io.outboard.pool.ReusePolicy;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SoakTest {

    private static final double SECONDS = 0.7;

    private static SoakSettings settings(final ReusePolicy policy) {
        return new SoakSettings(2, SECONDS, policy, "tlsf", SoakSettings.defaultLimitBytes(2), -1);
    }

    /**
     * Returns a clock on which each look takes a microsecond, so that a soak is an amount of work on any machine. It
     * begins where many kernels are launched: the first half second has none.
     */
    private static SoakClock clock() {
        final AtomicLong time = new AtomicLong(1_000_000_000);
        return new SoakClock() {
            @Override
            public long nowNs() {
                return time.addAndGet(1_000);
            }

            @Override
            public void waitUntil(final long timeNs) {
                time.accumulateAndGet(timeNs, Math::max);
            }
        };
    }

    @ParameterizedTest
    @EnumSource(names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldFindNothingWrongWithASafePolicy(final ReusePolicy policy) throws Exception {
        final Soak.Result result = soak(settings(policy));

        assertEquals(List.of(), result.violations());
        assertTrue(result.operations() > 0);
        assertTrue(result.peakLiveBytes() > 0 && result.peakHeldBytes() >= result.peakLiveBytes(), result.toString());
        assertTrue(result.peakLimboBytes() > 0, result.toString());
    }

    /** Without this test the test above would prove nothing. */
    @Test
    void shouldFindWorkThatImmediateReuseDoesNotWaitFor() throws Exception {
        final Soak.Result result = soak(settings(ReusePolicy.IMMEDIATE));

        assertTrue(
                result.violations().get(0).contains("before the work ended"),
                result.violations().toString());
    }

    /** The pool asks a device that always says that all work has ended, so the pool never waits. */
    @ParameterizedTest
    @EnumSource(names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldFindADeviceThatLies(final ReusePolicy policy) throws Exception {
        // The limit is low, so that freed memory is soon handed out again.
        final SoakSettings settings = new SoakSettings(2, SECONDS, policy, "tlsf", 32L << 20, -1);
        final SoakClock clock = clock();
        final TimedDevice device = new TimedDevice(clock, 3);
        try (SimulatedSoak shared = new SimulatedSoak(settings, clock, device, DeviceWork.NONE)) {
            final Soak.Result result = new Soak<>(settings, shared, clock).run(seconds -> {});

            assertFalse(result.violations().isEmpty(), result.toString());
            assertTrue(
                    result.violations().get(0).contains("before the work ended"),
                    result.violations().toString());
        }
    }

    @Test
    void shouldReportBlocksThatDoNotComeBack() throws Exception {
        final SoakSettings settings = settings(ReusePolicy.STRICT);
        final SoakClock clock = clock();
        try (SimulatedSoak shared = new SimulatedSoak(settings, clock)) {
            final Session.Shared<UseRecord.Use> leaking = new Leaking(shared);

            final Soak.Result result = new Soak<>(settings, leaking, clock).run(seconds -> {});

            assertEquals(1, result.violations().size());
            assertFalse(result.violations().isEmpty(), result.toString());
            assertTrue(
                    result.violations().get(0).contains("all blocks must come back"),
                    result.violations().get(0));
        }
    }

    private static Soak.Result soak(final SoakSettings settings) throws Exception {
        final SoakClock clock = clock();
        try (SimulatedSoak shared = new SimulatedSoak(settings, clock)) {
            return new Soak<>(settings, shared, clock).run(seconds -> {});
        }
    }

    /** This soak takes one block more than it returns. */
    private static final class Leaking implements Session.Shared<UseRecord.Use> {

        private final Session.Shared<UseRecord.Use> shared;

        Leaking(final Session.Shared<UseRecord.Use> shared) {
            this.shared = shared;
        }

        @Override
        public Session<UseRecord.Use> open() {
            final Session<UseRecord.Use> session = shared.open();
            session.allocate(1);
            return session;
        }

        @Override
        public PoolStatistics statistics() {
            return shared.statistics();
        }

        @Override
        public long peakLiveBytes() {
            return shared.peakLiveBytes();
        }

        @Override
        public void end() {
            shared.end();
        }

        @Override
        public void close() {
            shared.close();
        }
    }
}
