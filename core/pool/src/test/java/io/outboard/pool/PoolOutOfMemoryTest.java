package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.StrategyOptions;
import io.outboard.pool.simulated.SimulatedDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** These tests say what happens when memory, or room in the tables, runs out. */
class PoolOutOfMemoryTest {

    private static final long MIB = 1L << 20;

    private final FailingMemorySource source = new FailingMemorySource(1L << 40);
    private final SimulatedDevice device = new SimulatedDevice();

    private Pool ofMiB(final long limitMiB, final ReusePolicy policy) {
        return Pool.over(source)
                .strategy("tlsf", new StrategyOptions(256, 1024))
                .firstRegionBytes(limitMiB * MIB)
                .limitBytes(limitMiB * MIB)
                .reuse(policy, device)
                .build();
    }

    @Test
    void shouldAskHandlersInOrderUntilOneHelps() {
        final Pool pool = ofMiB(4, ReusePolicy.IMMEDIATE);
        final long block = pool.allocate(4 * MIB);
        final List<String> asked = new ArrayList<>();
        pool.addOutOfMemoryHandler((bytes, statistics) -> {
            asked.add("first " + bytes + " " + statistics.usedBytes());
            return false;
        });
        pool.addOutOfMemoryHandler((bytes, statistics) -> {
            asked.add("second");
            pool.free(block);
            return true;
        });
        pool.addOutOfMemoryHandler((bytes, statistics) -> {
            asked.add("third");
            return false;
        });

        assertEquals(block, pool.allocate(MIB));

        assertEquals(List.of("first 1048576 4194304", "second"), asked);
    }

    /** The handler used to be asked without end, since it says each time that there is more. */
    @ParameterizedTest
    @EnumSource(names = "TRACKED", mode = EnumSource.Mode.EXCLUDE)
    @Timeout(20)
    void shouldEndWhereAHandlerClosesThePool(final ReusePolicy policy) {
        final Pool pool = ofMiB(4, policy);
        pool.allocate(4 * MIB);
        pool.addOutOfMemoryHandler((bytes, statistics) -> {
            pool.close();
            return true;
        });

        assertThrows(IllegalStateException.class, () -> pool.allocate(MIB));
    }

    @Test
    void shouldAskAHandlerAgainAsLongAsItSaysThatThereIsMore() {
        final Pool pool = ofMiB(4, ReusePolicy.IMMEDIATE);
        final List<Long> cache = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            cache.add(pool.allocate(MIB));
        }
        pool.addOutOfMemoryHandler((bytes, statistics) -> {
            if (cache.isEmpty()) {
                return false;
            }
            pool.free(cache.remove(0));
            return true;
        });

        pool.allocate(2 * MIB);

        assertEquals(2, cache.size());
    }

    @Test
    void shouldFailInTheEndThoughAHandlerLied() {
        final Pool pool = ofMiB(4, ReusePolicy.IMMEDIATE);
        pool.allocate(4 * MIB);
        final AtomicInteger lies = new AtomicInteger(5);
        pool.addOutOfMemoryHandler((bytes, statistics) -> lies.getAndDecrement() > 0);

        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(1));

        assertEquals(-1, lies.get());
    }

    @Test
    void shouldPassOnWhatAHandlerThrows() {
        final Pool pool = ofMiB(4, ReusePolicy.IMMEDIATE);
        pool.allocate(4 * MIB);
        final RuntimeException failure = new UnsupportedOperationException("handler");
        pool.addOutOfMemoryHandler((bytes, statistics) -> {
            throw failure;
        });

        assertSame(failure, assertThrows(UnsupportedOperationException.class, () -> pool.allocate(1)));

        assertEquals(1, pool.statistics().liveBlocks());
    }

    /** A handler may free memory of the device that another pool held. */
    @Test
    void shouldGrowIntoWhatAHandlerGaveBackToTheDevice() {
        final FailingMemorySource shared = new FailingMemorySource(4 * MIB);
        final Pool other = Pool.over(shared)
                .strategy("tlsf", new StrategyOptions(256, 1024))
                .firstRegionBytes(4 * MIB)
                .build();
        other.free(other.allocate(1));
        final Pool pool = Pool.over(shared)
                .strategy("tlsf", new StrategyOptions(256, 1024))
                .firstRegionBytes(4 * MIB)
                .build();
        pool.addOutOfMemoryHandler((bytes, statistics) -> other.trimTo(0) == 0 && statistics.heldBytes() == 0);

        pool.allocate(3 * MIB);

        assertEquals(4 * MIB, pool.statistics().heldBytes());
    }

    @Test
    void shouldUseWhatAHandlerFreedIntoLimbo() {
        final Pool pool = ofMiB(4, ReusePolicy.TRACKED);
        final long block = pool.allocate(4 * MIB);
        device.submit(1);
        final AtomicInteger asked = new AtomicInteger();
        pool.addOutOfMemoryHandler((bytes, statistics) -> {
            if (asked.incrementAndGet() == 1) {
                pool.free(block);
                return true;
            }
            return false;
        });

        assertEquals(block, pool.allocate(MIB));

        assertEquals(1, asked.get(), "what it freed was waited for");
        assertEquals(1, device.awaits());
    }

    @Test
    void shouldSayFullAndWhoHoldsIt() {
        final Pool pool = ofMiB(4, ReusePolicy.IMMEDIATE);
        final List<Holder> expected = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            final long sizeBytes = 256L * (i + 1);
            expected.add(0, new Holder(pool.allocate(sizeBytes), sizeBytes));
        }

        assertEquals(expected.subList(0, 8), pool.largestHolders());
        final DeviceOutOfMemoryException thrown =
                assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(4 * MIB));

        final long freeBytes = 4 * MIB - 78 * 256;
        assertEquals("full", thrown.reason());
        assertEquals(4 * MIB, thrown.requestedBytes());
        assertEquals(freeBytes, thrown.freeBytes());
        assertEquals(freeBytes, thrown.largestFreeBlockBytes());
        assertEquals(
                "unnamed pool full: requested 4MiB; 1 region, 4MiB of at most 4MiB: in use 19.5KiB in 12 blocks (at most"
                        + " 19.5KiB so far), limbo 0 bytes, free 3.98MiB (4174336 bytes), largest free block 3.98MiB"
                        + " (4174336 bytes), external fragmentation 0.0; largest holders " + expected.subList(0, 8),
                thrown.getMessage());
    }

    @Test
    void shouldSayFragmented() {
        final Pool pool = ofMiB(4, ReusePolicy.IMMEDIATE);
        final long[] blocks = new long[4];
        for (int i = 0; i < 4; i++) {
            blocks[i] = pool.allocate(MIB);
        }
        pool.free(blocks[0]);
        pool.free(blocks[2]);

        final DeviceOutOfMemoryException thrown =
                assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(2 * MIB));

        assertEquals("fragmented", thrown.reason());
        assertEquals(2 * MIB, thrown.freeBytes());
        assertEquals(MIB, thrown.largestFreeBlockBytes());
        assertTrue(String.valueOf(thrown.getMessage()).contains("external fragmentation 0.5;"), thrown::getMessage);
    }

    @Test
    void shouldNameLimboWhileItCannotComeBack() {
        final Pool pool = ofMiB(4, ReusePolicy.STRICT);
        final long block = pool.allocate(3 * MIB);
        device.capturing(true);
        pool.free(block);

        final DeviceOutOfMemoryException thrown =
                assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(2 * MIB));

        assertTrue(String.valueOf(thrown.getMessage()).contains("limbo 3MiB, free 1MiB"), thrown::getMessage);
        assertTrue(String.valueOf(thrown.getMessage()).endsWith("largest holders []"), thrown::getMessage);
        device.capturing(false);
        assertEquals(block, pool.allocate(4 * MIB));
    }

    private Pool unlimited(final boolean inPlace) {
        return Pool.over(inPlace ? source.growingInPlace() : source)
                .strategy("tlsf", new StrategyOptions(256, 1024))
                .firstRegionBytes(4 * MIB)
                .growInPlace(inPlace)
                .name("gpu0")
                .build();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldHaveWhatTheDeviceSaidAsItsCause(final boolean inPlace) {
        try (Pool pool = unlimited(inPlace)) {
            pool.free(pool.allocate(4 * MIB));
            final DeviceOutOfMemoryException refusal = DeviceOutOfMemoryException.ofDevice(
                    8 * MIB, MIB, 16 * MIB, "cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (2)");
            source.refuse(() -> refusal);

            final DeviceOutOfMemoryException thrown =
                    assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(8 * MIB));

            assertSame(refusal, thrown.getCause());
            assertTrue(
                    String.valueOf(thrown.getMessage())
                            .startsWith("pool gpu0 full: requested 8MiB, refused (cuMemCreate:"
                                    + " CUDA_ERROR_OUT_OF_MEMORY (2)); 1 region, 4MiB, no limit: "),
                    thrown::getMessage);
            assertFalse(String.valueOf(thrown.getMessage()).contains("4611686018427387904"), thrown::getMessage);
        }
    }

    /** More is missing than a piece has. The device is asked how much it has before any piece is made. */
    @Test
    void shouldHaveWhatTheDeviceReportsAsItsCause() {
        final FailingMemorySource small = new FailingMemorySource(1L << 30).growingInPlace();
        try (Pool pool = Pool.over(small)
                .strategy("tlsf", new StrategyOptions(256, 1024))
                .firstRegionBytes(4 * MIB)
                .build()) {
            pool.free(pool.allocate(512 * MIB));

            final DeviceOutOfMemoryException thrown =
                    assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(2L << 30));

            final Throwable cause = thrown.getCause();
            assertTrue(cause instanceof DeviceOutOfMemoryException, () -> "cause " + cause);
        }
    }

    /** The device has refused an earlier request, but this one fails because of the pool's own limit. */
    @Test
    void shouldHaveNoCauseIfTheDeviceWasNotAsked() {
        final Pool pool = ofMiB(4, ReusePolicy.IMMEDIATE);
        source.refuse(() -> DeviceOutOfMemoryException.ofDevice(1, 0, 1, "simulated"));
        assertNotNull(assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(MIB))
                .getCause());
        source.refuse(null);
        pool.allocate(4 * MIB);

        assertNull(assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(MIB))
                .getCause());
        assertNull(assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(5 * MIB))
                .getCause());
        assertEquals(3, pool.statistics().failures());
    }

    @Test
    void shouldReadAsWhatItIsAndHowFullItIs() {
        final Pool pool = unlimited(false);
        final long block = pool.allocate(MIB);

        assertEquals(
                "pool gpu0 [immediate, tlsf, 1 region, 4MiB, no limit: in use 1MiB in 1 block (at most 1MiB so far),"
                        + " limbo 0 bytes, free 3MiB]",
                pool.toString());
        pool.free(block);
        pool.close();
        assertEquals("pool gpu0 [immediate, tlsf, closed]", pool.toString());
        assertEquals(
                "unnamed pool [stream-ordered, tlsf, 0 regions, 0 bytes of at most 4MiB: in use 0 bytes in 0 blocks (at"
                        + " most 0 bytes so far), limbo 0 bytes, free 0 bytes]",
                ofMiB(4, ReusePolicy.STREAM_ORDERED).toString());
    }

    @Test
    void shouldGrowIfTheTablesOfARegionAreFull() {
        final Pool pool = Pool.over(source)
                .strategy("tlsf", new StrategyOptions(256, 4))
                .firstRegionBytes(2 * MIB)
                .build();

        final List<Long> blocks = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            blocks.add(pool.allocate(256));
        }

        assertEquals(4, pool.statistics().regions(), "three blocks and a free one in each");
        assertEquals(12, pool.statistics().liveBlocks());
        blocks.forEach(pool::free);
        assertEquals(0, pool.trimTo(0));
    }

    @Test
    void shouldSayThatTablesAreFullIfItCannotGrow() {
        final Pool pool = Pool.over(source)
                .strategy("tlsf", new StrategyOptions(256, 4))
                .firstRegionBytes(2 * MIB)
                .limitBytes(2 * MIB)
                .build();
        final long block = pool.allocate(256);
        pool.allocate(256);
        pool.allocate(256);

        assertThrows(BlockTableFullException.class, () -> pool.allocate(256));
        assertThrows(BlockTableFullException.class, () -> pool.allocateAsync(256, 0));
        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(3 * MIB));
        assertEquals(3, pool.statistics().failures());
        assertEquals(3, pool.statistics().liveBlocks());
        pool.free(block);

        assertEquals(block, pool.allocate(256));
    }

    /** Blocks in limbo fill tables, too, so they are recycled before the pool refuses. */
    @Test
    void shouldRecycleLimboIfTheTablesAreFull() {
        final Pool pool = Pool.over(source)
                .strategy("tlsf", new StrategyOptions(256, 4))
                .firstRegionBytes(2 * MIB)
                .limitBytes(2 * MIB)
                .reuse(ReusePolicy.TRACKED, device)
                .build();
        pool.allocate(256);
        pool.allocate(256);
        device.submit(1);
        pool.free(pool.allocate(256));

        pool.allocate(256);

        assertEquals(1, device.awaits());
    }
}
