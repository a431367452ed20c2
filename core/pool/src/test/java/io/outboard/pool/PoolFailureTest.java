package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.StrategyOptions;
import io.outboard.pool.simulated.SimulatedDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** In one scenario, the n-th call of the device or the memory source fails, for every n. */
class PoolFailureTest {

    private static final long MIB = 1L << 20;
    private static final int STREAMS = 3;

    /** This exception stands for what drivers fail with. */
    private static final class FailureException extends RuntimeException {

        private static final long serialVersionUID = 1L;
    }

    private static DeviceOutOfMemoryException deviceIsFull() {
        return DeviceOutOfMemoryException.ofDevice(1, 0, 1, "simulated");
    }

    @ParameterizedTest
    @EnumSource(value = ReusePolicy.class, names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldLoseNothingWhicheverCallOfTheDeviceFails(final ReusePolicy policy) {
        final Scenario whole = new Scenario(policy);
        whole.run();
        final long calls = whole.device.calls();
        whole.end();
        assertTrue(calls > 5, () -> "only " + calls + " calls");

        for (long n = 1; n <= calls; n++) {
            final Scenario scenario = new Scenario(policy);
            scenario.device.failAt(n, FailureException::new);
            scenario.run();
            scenario.end();
        }
    }

    @ParameterizedTest
    @EnumSource(ReusePolicy.class)
    void shouldLoseNothingWhicheverCallOfTheSourceFails(final ReusePolicy policy) {
        failAtEachCallOfTheSource(() -> new Scenario(policy));
    }

    @ParameterizedTest
    @EnumSource(ReusePolicy.class)
    void shouldLoseNothingWhicheverCallFailsWhileItGrowsInPlace(final ReusePolicy policy) {
        failAtEachCallOfTheSource(() -> {
            final Scenario scenario = new Scenario(policy);
            scenario.source.growingInPlace();
            return scenario;
        });
    }

    private static void failAtEachCallOfTheSource(final Supplier<Scenario> scenarios) {
        final Scenario whole = scenarios.get();
        whole.run();
        final long calls = whole.source.calls();
        whole.end();
        assertTrue(calls >= 6, () -> "only " + calls + " calls");

        for (final Supplier<RuntimeException> failure :
                List.<Supplier<RuntimeException>>of(FailureException::new, PoolFailureTest::deviceIsFull)) {
            for (long n = 1; n <= calls; n++) {
                final Scenario scenario = scenarios.get();
                scenario.source.failAt(n, failure);
                scenario.run();
                scenario.end();
            }
        }
    }

    /** If the first region can't be given back, or the device fails, everything else still goes back. */
    @Test
    void shouldGiveBackAllThatItCanWhenItIsClosed() {
        for (int n = 1; n <= 3; n++) {
            final Scenario scenario = new Scenario(ReusePolicy.STRICT);
            scenario.pool.allocate(3 * MIB);
            scenario.pool.allocate(3 * MIB);
            scenario.pool.allocate(7 * MIB);
            final int regions = scenario.source.regionsOut();
            assertEquals(3, regions);
            scenario.source.failAt(n, FailureException::new);

            assertEquals(1, scenario.failuresOf(scenario.pool::close));

            assertEquals(1, scenario.source.regionsOut());
            assertEquals(0, scenario.failuresOf(scenario.pool::close), "a second time");
        }
        final Scenario scenario = new Scenario(ReusePolicy.TRACKED);
        scenario.run();
        scenario.device.failAt(1, FailureException::new);

        assertEquals(1, scenario.failuresOf(scenario.pool::close));

        assertEquals(0, scenario.source.regionsOut());
        assertEquals(0, scenario.device.marksOut());
    }

    @Test
    void shouldTellEveryFailureWhenItIsClosed() {
        final Scenario scenario = new Scenario(ReusePolicy.TRACKED);
        scenario.run();
        final int regions = scenario.source.regionsOut();
        assertTrue(regions > 1, () -> regions + " regions");
        failFromNowOn(scenario.device);
        final RuntimeException ofSource = new UnsupportedOperationException("simulated");
        scenario.source.failAt(1, () -> ofSource);

        final Throwable thrown = assertThrows(FailureException.class, scenario.pool::close);

        // The failures are those of the device and of the first region.
        assertTrue(
                List.of(thrown.getSuppressed()).contains(ofSource),
                () -> List.of(thrown.getSuppressed()).toString());
        assertEquals(0, scenario.device.marksOut());
        assertEquals(1, scenario.source.regionsOut());
    }

    private static void failFromNowOn(final SimulatedDevice device) {
        device.failAt(1, () -> {
            failFromNowOn(device);
            return new FailureException();
        });
    }

    /** The scenario makes calls of every kind, in the same order each time. It skips calls that fail. */
    private static final class Scenario {

        final SimulatedDevice device = new SimulatedDevice();
        final FailingMemorySource source = new FailingMemorySource(1L << 40);
        final Pool pool;
        private final TreeMap<Long, Long> live = new TreeMap<>();
        private final TreeMap<Long, Long> freed = new TreeMap<>();

        Scenario(final ReusePolicy policy) {
            pool = Pool.over(source)
                    .strategy("tlsf", new StrategyOptions(256, 1024))
                    .firstRegionBytes(4 * MIB)
                    .limitBytes(16 * MIB)
                    .reuse(policy, device)
                    .build();
        }

        void run() {
            for (int round = 0; round < 4; round++) {
                for (int i = 0; i < 14; i++) {
                    device.submit(i % STREAMS);
                    allocate(MIB, i % STREAMS);
                }
                for (int i = 0; i < 12; i++) {
                    free(i % STREAMS);
                }
                for (int i = 0; i < 100; i++) {
                    allocate(256, i % STREAMS);
                }
                for (int i = 0; i < 90; i++) {
                    free(i % STREAMS);
                }
                device.finishNext(0);
                if (round == 1) {
                    device.finishAll();
                    for (int i = live.size(); i > 0; i--) {
                        free(1);
                    }
                    failuresOf(() -> pool.trimTo(MIB));
                }
                check();
            }
        }

        private void allocate(final long sizeBytes, final long stream) {
            failuresOf(() -> {
                final long address = pool.allocateAsync(sizeBytes, stream);
                final Map.Entry<Long, Long> before = live.lowerEntry(address + sizeBytes);
                assertTrue(before == null || before.getKey() + before.getValue() <= address, "handed out twice");
                live.put(address, pool.sizeOf(address));
            });
        }

        /** Frees a block; it is free even if the call fails, since only recycling can fail. */
        private void free(final long stream) {
            if (!live.isEmpty()) {
                final long address = live.firstKey();
                freed.put(address, live.remove(address));
                failuresOf(() -> pool.freeAsync(address, stream));
            }
        }

        int failuresOf(final Runnable action) {
            try {
                action.run();
            } catch (final FailureException | DeviceOutOfMemoryException e) {
                check();
                return 1;
            }
            return 0;
        }

        private void check() {
            final PoolStatistics statistics = pool.statistics();
            final List<Long> shown = new ArrayList<>();
            final long[] bytes = new long[2];
            pool.forEachBlock((address, sizeBytes, free) -> {
                bytes[free ? 1 : 0] += sizeBytes;
                if (!free) {
                    shown.add(address);
                }
            });
            final long usedBytes =
                    live.values().stream().mapToLong(Long::longValue).sum();
            if (source.regionsOut() > 0 && statistics.regions() > 0) {
                assertEquals(live.size(), statistics.liveBlocks());
                assertEquals(usedBytes, statistics.usedBytes());
                assertEquals(bytes[0] - usedBytes, statistics.limboBytes());
                assertEquals(bytes[1], statistics.freeBytes());
                assertEquals(source.regionsOut(), statistics.regions());
                assertTrue(shown.containsAll(live.keySet()));
                shown.removeAll(live.keySet());
                assertTrue(freed.keySet().containsAll(shown), "in use, though never freed");
            }
        }

        /** Checks that the pool works again: all of it can be used, and given back. */
        void end() {
            final int blocks = live.size();
            for (int i = 0; i < blocks; i++) {
                free(0);
            }
            device.finishAll();
            failuresOf(() -> pool.trimTo(0));
            assertEquals(0, pool.trimTo(0));
            assertEquals(1L << 40, source.availableBytes());
            assertEquals(0, device.marksOut());
            assertEquals(0, pool.statistics().limboBytes());
            final long whole = pool.allocate(16 * MIB);
            pool.free(whole);
            assertEquals(0, pool.trimTo(0));
            pool.close();
            assertEquals(0, source.regionsOut());
        }
    }
}
