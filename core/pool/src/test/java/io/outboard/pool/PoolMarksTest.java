package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.StrategyOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Marks that can't be made, or not when it would be best: nothing is lost, and nothing comes back early. */
class PoolMarksTest {

    private static final long MIB = 1L << 20;
    private static final long STREAM = 1;

    private final FailingMemorySource source = new FailingMemorySource(1L << 40);
    private final SimulatedDevice device = new SimulatedDevice();

    private PoolBuilder builder(final ReusePolicy policy) {
        return Pool.over(source)
                .strategy("tlsf", new StrategyOptions(256, 4096))
                .firstRegionBytes(4 * MIB)
                .limitBytes(4 * MIB)
                .reuse(policy, device);
    }

    /** Whichever call of the device fails, the block is freed, and comes back though its stream has ended. */
    @Test
    void shouldRecycleWhatCouldNotBeMarkedBeforeItsStreamEnded() {
        for (int failing = 1; failing <= 6; failing++) {
            final Pool pool = builder(ReusePolicy.STREAM_ORDERED).build();
            final long stream = 100 + failing;
            final long block = pool.allocateAsync(4 * MIB, stream);
            device.submit(stream);
            device.failAt(failing, () -> new IllegalStateException("no event"));
            try {
                pool.freeAsync(block, stream);
            } catch (final IllegalStateException e) {
                assertEquals("no event", e.getMessage());
            }
            device.failAt(Long.MAX_VALUE / 2, () -> new IllegalStateException("never"));
            device.endStream(stream);

            assertEquals(0, pool.statistics().liveBlocks());
            assertEquals(block, pool.allocate(4 * MIB));
            assertTrue(device.hasFinished(stream, 1));
            pool.free(block);
            assertEquals(0, pool.trimTo(0));
            assertEquals(0, device.marksOut());
        }
    }

    @Test
    void shouldAskAgainAfterTheDeviceFailed() {
        final Pool pool = builder(ReusePolicy.STRICT).build();
        pool.free(pool.allocate(4 * 256));
        device.failAt(1, () -> new IllegalStateException("broken"));
        assertThrows(IllegalStateException.class, () -> pool.trimTo(0));

        assertEquals(0, pool.trimTo(0));
        assertEquals(0, device.marksOut());
    }

    /** The driver gives a handle out again: what was freed on the old stream is nothing to the new one. */
    @Test
    void shouldKeepAStreamThatEndedApartFromTheNextWithItsHandle() {
        final Pool pool = builder(ReusePolicy.STREAM_ORDERED).build();
        final long block = pool.allocateAsync(MIB, STREAM);
        device.submit(STREAM);
        pool.freeAsync(block, STREAM);
        device.endStream(STREAM);
        device.beginStream(STREAM);

        assertNotEquals(block, pool.allocateAsync(MIB, STREAM));

        device.finishAll();
        assertEquals(2 * MIB, pool.sizeOf(pool.allocate(2 * MIB)));
    }

    /** Events are made ahead, so there may be none left: then it does with those that it has. */
    @ParameterizedTest
    @EnumSource(value = ReusePolicy.class, names = "IMMEDIATE", mode = EnumSource.Mode.EXCLUDE)
    void shouldDoWithFewMarks(final ReusePolicy policy) {
        device.mostMarks(1);
        final Pool pool = builder(policy).build();

        for (int i = 0; i < 2560; i++) {
            final long stream = i % 5;
            final long block = pool.allocateAsync(64 << 10, stream);
            device.submit(stream);
            pool.freeAsync(block, stream);
        }
        device.finishAll();

        assertEquals(0, pool.trimTo(0));
        assertEquals(0, device.marksOut());
    }
}
