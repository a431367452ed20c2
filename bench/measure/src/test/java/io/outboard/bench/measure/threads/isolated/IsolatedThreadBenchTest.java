package io.outboard.bench.measure.threads.isolated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.measurement.ThreadProfile;
import io.outboard.bench.cli.report.Percentile;
import io.outboard.bench.measure.threads.ThreadBench;
import io.outboard.bench.measure.threads.ThreadSettings;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** This class runs each profile on a pool that is right, and on memory that is wrong. */
class IsolatedThreadBenchTest {

    private static final long MIB = 1L << 20;

    /** The length of a round in which a thread of any machine frees a block. */
    private static final int MOST_MILLIS = 20_000;

    private static ThreadSettings settings(final ThreadProfile profile) {
        return settings(profile, 10);
    }

    private static ThreadSettings settings(final ThreadProfile profile, final int roundMillis) {
        return new ThreadSettings(
                profile,
                ThreadSettings.Kind.POOL,
                "tlsf",
                "STRICT",
                ThreadSettings.NO_DEVICE,
                0,
                2,
                1,
                0,
                256,
                MIB,
                20,
                roundMillis);
    }

    @ParameterizedTest
    @EnumSource
    void shouldServeEveryProfileAndGetAllBlocksBack(final ThreadProfile profile) throws Exception {
        final ThreadBench.Checked checked = new IsolatedThreadBench(settings(profile)).checked();

        assertTrue(checked.blocks() > 0);
        assertTrue(checked.peakLiveBytes() >= 256 && checked.peakLiveBytes() < 300 * MIB, checked.toString());
    }

    @ParameterizedTest
    @EnumSource
    void shouldMeasureEveryProfile(final ThreadProfile profile) throws Exception {
        final ThreadBench.Speed speed = new IsolatedThreadBench(settings(profile)).speed();
        ThreadBench.Clocked clocked;
        int roundMillis = 5;
        do {
            // On a busy machine, a round may be over before a block has been freed.
            roundMillis *= 2;
            clocked = new IsolatedThreadBench(settings(profile, roundMillis)).clocked();
        } while (clocked.free().percentile(Percentile.MAX) == 0 && roundMillis < MOST_MILLIS);

        assertTrue(speed.opsPerSecond() > 0, speed.toString());
        assertTrue(speed.peakHeldBytes() >= speed.heldBytes() && speed.heldBytes() > 0, speed.toString());
        assertTrue(clocked.allocate().percentile(Percentile.MAX) > 0);
        assertTrue(clocked.free().percentile(Percentile.MAX) > 0);
    }

    /** The memory has the same address again and again, as from a pool that lost a write. */
    @ParameterizedTest
    @EnumSource
    void shouldFailIfABlockIsHandedOutTwice(final ThreadProfile profile) {
        final AtomicLong calls = new AtomicLong();
        final IsolatedThreadBench bench = new IsolatedThreadBench(settings(profile), new WrongSupply() {
            @Override
            long address() {
                return (calls.incrementAndGet() % 5 + 1) * MIB;
            }
        });

        final IllegalStateException thrown = assertThrows(IllegalStateException.class, bench::checked);

        assertTrue(String.valueOf(thrown.getMessage()).startsWith("a thread failed: "), thrown.getMessage());
    }

    /** The memory has blocks that begin one granule behind the start of others. */
    @ParameterizedTest
    @EnumSource
    void shouldFailIfBlocksOverlap(final ThreadProfile profile) {
        final AtomicLong calls = new AtomicLong();
        final IsolatedThreadBench bench = new IsolatedThreadBench(settings(profile), new WrongSupply() {
            @Override
            long address() {
                return MIB + 256 * calls.incrementAndGet();
            }
        });

        final IllegalStateException thrown = assertThrows(IllegalStateException.class, bench::checked);

        assertTrue(String.valueOf(thrown.getMessage()).contains("overlap"), thrown.getMessage());
    }

    @ParameterizedTest
    @EnumSource
    void shouldFailIfBlocksDoNotComeBack(final ThreadProfile profile) {
        final AtomicLong calls = new AtomicLong();
        final IsolatedThreadBench bench = new IsolatedThreadBench(settings(profile), new WrongSupply() {
            @Override
            long address() {
                return 2 * MIB * calls.incrementAndGet();
            }

            @Override
            public long liveBlocks() {
                return 3;
            }
        });

        final IllegalStateException thrown = assertThrows(IllegalStateException.class, bench::speed);

        assertEquals("liveBlocks=3 must be 0 when all has been freed", thrown.getMessage());
    }

    /** The memory has addresses that it makes up. */
    private abstract static class WrongSupply implements Supply {

        abstract long address();

        @Override
        public Blocks blocks() {
            return new Blocks() {
                @Override
                long allocate(final long sizeBytes) {
                    return address();
                }

                @Override
                void free(final long address) {}
            };
        }

        @Override
        public long heldBytes() {
            return 0;
        }

        @Override
        public long limboBytes() {
            return 0;
        }

        @Override
        public long liveBlocks() {
            return 0;
        }

        @Override
        public long synchronizations() {
            return 0;
        }

        @Override
        public void close() {}
    }
}
