package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.Strategies;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.core.VirtualMemorySource;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Regions are taken, given back, and closed. */
class PoolGrowthTest {

    private static final long MIB = 1L << 20;

    private final FailingMemorySource source = new FailingMemorySource(1L << 40);

    private PoolBuilder builder() {
        return Pool.over(source)
                .strategy("tlsf", new StrategyOptions(256, 1024))
                .firstRegionBytes(4 * MIB);
    }

    @Test
    void shouldTakeNothingBeforeItIsAsked() {
        final Pool pool = builder().build();

        assertEquals(0, source.takes());
        assertEquals(
                new PoolStatistics(0, 0, PoolStatistics.NO_LIMIT, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), pool.statistics());
        assertEquals(0, pool.largestFreeBlockBytes());
    }

    @Test
    void shouldDoubleWhatItHolds() {
        final Pool pool = builder().build();

        final List<Long> held = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            pool.allocate(3 * MIB);
            held.add(pool.statistics().heldBytes() / MIB);
        }

        assertEquals(List.of(4L, 8L, 16L, 16L, 32L, 32L, 32L, 32L, 32L), held);
        assertEquals(4, pool.statistics().regions());
    }

    @ParameterizedTest
    @CsvSource({"1, 4", "4194304, 4", "4194305, 6", "104857600, 100", "104857601, 102"})
    void shouldTakeAFirstRegionThatServesTheRequest(final long sizeBytes, final long heldMiB) {
        final Pool pool = builder().build();

        pool.allocate(sizeBytes);

        assertEquals(heldMiB * MIB, pool.statistics().heldBytes());
    }

    @Test
    void shouldGrowUpToTheLimitAndNoFurther() {
        final Pool pool = builder().limitBytes(7 * MIB + 100).build();
        pool.allocate(4 * MIB);

        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(3 * MIB + 1));
        assertEquals(4 * MIB, pool.statistics().heldBytes());
        pool.allocate(3 * MIB);

        assertEquals(7 * MIB + 100, pool.statistics().heldBytes());
        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(1));
        assertEquals(2, source.takes());
    }

    @Test
    void shouldHalveUntilTheDeviceHasSoMuch() {
        final FailingMemorySource small = new FailingMemorySource(21 * MIB);
        final Pool pool = Pool.over(small)
                .strategy("tlsf", new StrategyOptions(256, 1024))
                .firstRegionBytes(64 * MIB)
                .build();

        pool.allocate(16 * MIB);
        assertEquals(16 * MIB, pool.statistics().heldBytes());
        assertEquals(3, small.takes(), "64, 32, 16 MiB");
        pool.allocate(4 * MIB);
        assertEquals(20 * MIB, pool.statistics().heldBytes());
        assertEquals(6, small.takes(), "16, 8, 4 MiB");
        pool.allocate(MIB);
        assertEquals(21 * MIB, pool.statistics().heldBytes());
        assertEquals(11, small.takes(), "20, 10, 4, 2, 1 MiB: whole units, in the end what the request needs");
        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(MIB));
    }

    @Test
    void shouldServeWhatIsLargerThanAllItHolds() {
        final Pool pool = builder().build();
        final long small = pool.allocate(1);

        final long large = pool.allocate(1000 * MIB);

        assertEquals(1000 * MIB, pool.sizeOf(large));
        assertEquals(256, pool.sizeOf(small));
        assertEquals(1004 * MIB, pool.statistics().heldBytes());
        assertEquals(2, pool.statistics().regions());
    }

    /** Some strategies make blocks that are larger than the request, so a region must be larger, too. */
    @ParameterizedTest
    @MethodSource("strategies")
    void shouldTakeOneRegionThatServesTheRequestWhateverTheStrategy(final String strategy) {
        final Pool pool =
                builder().strategy(strategy, new StrategyOptions(256, 1024)).build();

        for (final long sizeBytes : new long[] {100 * MIB, 200 * MIB + 1, (1L << 30) - 1}) {
            final int regions = pool.statistics().regions();
            final long address = pool.allocate(sizeBytes);
            assertEquals(regions + 1, pool.statistics().regions());
            assertTrue(pool.sizeOf(address) >= sizeBytes);
        }
        assertEquals(3, source.takes());
    }

    static Stream<String> strategies() {
        return Strategies.all().stream().map(StrategyProvider::name);
    }

    @Test
    void shouldTakeNoRegionThatIsLessThanABlock() {
        final Pool pool = builder()
                .strategy("bitmask", new StrategyOptions(256, 1024))
                .limitBytes(300)
                .build();

        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(1));

        assertEquals(0, source.takes());
    }

    /** No pair of buddies begins at an aligned address if the region begins between two such addresses. */
    @Test
    void shouldGiveARegionBackThatDoesNotServeTheRequest() {
        final FailingMemorySource shifted = new FailingMemorySource(1L << 40, 256);
        final Pool pool = Pool.over(shifted)
                .strategy("buddy-binary", new StrategyOptions(256, 1024))
                .build();

        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(512, 4096));

        assertEquals(0, shifted.regionsOut());
        assertEquals(0, pool.statistics().heldBytes());
        assertEquals(0, pool.statistics().peakUsedBytes());
        pool.allocate(512);
    }

    /** The region begins just after an aligned address, so nearly a whole alignment is lost at its beginning. */
    @ParameterizedTest
    @ValueSource(longs = {1, 256, 512, 4096, 1 << 20, 1 << 24})
    void shouldAlignOverASourceThatDoesNot(final long alignmentBytes) {
        final FailingMemorySource shifted = new FailingMemorySource(1L << 40, 256);
        for (final long granuleBytes : new long[] {16, 256, 1 << 16}) {
            final Pool pool = Pool.over(shifted)
                    .strategy("tlsf", new StrategyOptions(granuleBytes, 1024))
                    .firstRegionBytes(1)
                    .build();

            final long address = pool.allocate(5 * MIB, alignmentBytes);

            assertEquals(0, address % Math.max(alignmentBytes, granuleBytes));
            assertEquals(1, pool.statistics().regions());
            pool.free(address);
            pool.close();
        }
        assertEquals(0, shifted.regionsOut());
    }

    @Test
    void shouldRefuseWhatNoRegionCouldHoldWithoutTakingOne() {
        final Pool pool = builder().build();

        for (final long sizeBytes : new long[] {Long.MAX_VALUE, (1L << 62) + 1, 1L << 62}) {
            assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(sizeBytes));
            assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(sizeBytes, 1L << 62));
            assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocateAsync(sizeBytes, 0));
        }
        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(1, 1L << 62));

        assertEquals(0, source.takes());
    }

    /** Sizes and alignments have a sum of 2^63. Granules are so large that one region could have either. */
    @Test
    void shouldNotOverflowAtTheBorders() {
        final FailingMemorySource endless = new FailingMemorySource(1L << 62);
        final Pool pool = Pool.over(endless)
                .strategy("tlsf", new StrategyOptions(1 << 30, 1024))
                .build();

        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate((1L << 62) - (1L << 31), 1L << 61));
        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate((1L << 62) - (1L << 31), 1L << 62));

        assertEquals(0, endless.takes());
    }

    /** A strategy counts granules in 32 bits, so no region may have more. */
    @Test
    void shouldGrowBeyondWhatOneRegionCanHave() {
        final Pool pool = Pool.over(new VirtualMemorySource())
                .strategy("tlsf", new StrategyOptions(16, 1024))
                .firstRegionBytes(1L << 40)
                .build();

        pool.allocate(60L << 30);
        pool.allocate(60L << 30);

        assertEquals(2, pool.statistics().regions());
        assertTrue(pool.statistics().heldBytes() < 128L << 30);
        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(64L << 30));
    }

    @Test
    void shouldRefuseWrongArgumentsAndTakeNothing() {
        final Pool pool = builder().build();

        assertThrows(IllegalArgumentException.class, () -> pool.allocate(0));
        assertThrows(IllegalArgumentException.class, () -> pool.allocate(-1));
        assertThrows(IllegalArgumentException.class, () -> pool.allocateAsync(0, 1));
        assertThrows(IllegalArgumentException.class, () -> pool.allocate(1, 0));
        assertThrows(IllegalArgumentException.class, () -> pool.allocate(1, 3));
        assertThrows(IllegalArgumentException.class, () -> pool.allocate(1, Long.MIN_VALUE));
        assertThrows(IllegalArgumentException.class, () -> pool.trimTo(-1));
        assertThrows(IllegalArgumentException.class, () -> builder().limitBytes(0));
        assertThrows(IllegalArgumentException.class, () -> builder().firstRegionBytes((1L << 62) + 1));
        assertThrows(IllegalArgumentException.class, () -> builder().limboLimitBytes(-1));
        assertThrows(
                IllegalArgumentException.class,
                () -> builder().strategy("nonesuch", StrategyOptions.DEFAULTS).build());

        assertEquals(0, source.takes());
    }

    /** The tables of this region don't fit into the tests' Java heap. */
    @Test
    void shouldGiveTheRegionBackIfTheHostHasNoMemoryForItsTables() {
        final Pool pool = builder()
                .strategy("tlsf", new StrategyOptions(256, 1 << 26))
                .firstRegionBytes(MIB)
                .build();

        assertThrows(OutOfMemoryError.class, () -> pool.allocate(1));

        assertEquals(1, source.takes());
        assertEquals(0, source.regionsOut());
        assertEquals(0, pool.statistics().heldBytes());
    }

    @Test
    void shouldUseEveryRegionAndKnowItsOwnAddresses() {
        final Pool pool = builder().limitBytes(16 * MIB).build();
        final List<Long> addresses = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            addresses.add(pool.allocate(MIB));
        }
        assertEquals(3, pool.statistics().regions());
        assertEquals(16, pool.statistics().liveBlocks());
        assertThrows(DeviceOutOfMemoryException.class, () -> pool.allocate(1));

        for (int i = 0; i < 16; i++) {
            final long address = addresses.get(i);
            assertTrue(pool.contains(address + MIB - 1));
            pool.free(address);
            assertEquals(address, pool.allocate(MIB), "the only free block, wherever it is");
        }
    }

    @Test
    void shouldNameAWrongAddressAndChangeNothing() {
        final Pool pool = builder().build();
        final long address = pool.allocate(MIB);
        final long freed = pool.allocate(MIB);
        pool.free(freed);
        final PoolStatistics before = pool.statistics();

        for (final long wrong :
                new long[] {0, -1, 1, freed, address + 1, address + 256, address - 256, Long.MIN_VALUE}) {
            final InvalidAddressException thrown =
                    assertThrows(InvalidAddressException.class, () -> pool.free(wrong), Long.toHexString(wrong));
            assertEquals(wrong, thrown.address());
            assertThrows(InvalidAddressException.class, () -> pool.freeAsync(wrong, 5));
            assertThrows(InvalidAddressException.class, () -> pool.sizeOf(wrong));
            assertThrows(InvalidAddressException.class, () -> pool.trim(wrong, 1));
            assertThrows(InvalidAddressException.class, () -> pool.extend(wrong, 1 << 30));
        }

        assertFalse(pool.contains(0));
        assertEquals(before, pool.statistics());
    }

    @Test
    void shouldCountWhatTrimAndExtendChange() {
        final Pool pool = builder().build();
        final long address = pool.allocate(2 * MIB);

        pool.trim(address, 1000);
        assertEquals(1024, pool.statistics().usedBytes());
        assertTrue(pool.extend(address, 3 * MIB));
        assertFalse(pool.extend(address, 5 * MIB));

        assertEquals(3 * MIB, pool.sizeOf(address));
        assertEquals(3 * MIB, pool.statistics().usedBytes());
        assertEquals(3 * MIB, pool.statistics().peakUsedBytes());
        assertEquals(MIB, pool.statistics().freeBytes());
        assertThrows(IllegalArgumentException.class, () -> pool.trim(address, 4 * MIB));
    }

    @Test
    void shouldGiveEmptyRegionsBackUntilItHoldsNoMore() {
        final Pool pool = builder().build();
        final long first = pool.allocate(4 * MIB);
        final long second = pool.allocate(4 * MIB);
        final long third = pool.allocate(8 * MIB);

        assertEquals(16 * MIB, pool.trimTo(0), "all in use");
        pool.free(second);
        assertEquals(16 * MIB, pool.trimTo(16 * MIB), "no need");
        assertEquals(12 * MIB, pool.trimTo(0), "one in the middle is empty");
        assertFalse(pool.contains(second));
        assertThrows(InvalidAddressException.class, () -> pool.free(second));
        assertEquals(8 * MIB, pool.sizeOf(third));
        pool.free(third);
        pool.free(first);
        assertEquals(4 * MIB, pool.trimTo(5 * MIB), "the one taken last goes first");
        assertEquals(0, pool.trimTo(0));

        assertEquals(0, source.regionsOut());
        pool.allocate(MIB);
        assertEquals(4 * MIB, pool.statistics().heldBytes());
    }

    @Test
    void shouldCloseOnceAndAnswerNoMoreCalls() {
        final Pool pool = builder().build();
        final long address = pool.allocate(MIB);
        pool.free(address);

        pool.close();
        final long calls = source.calls();
        pool.close();

        assertEquals(calls, source.calls());
        assertEquals(0, source.regionsOut());
        assertThrows(IllegalStateException.class, () -> pool.allocate(1));
        assertThrows(IllegalStateException.class, () -> pool.allocate(1, 512));
        assertThrows(IllegalStateException.class, () -> pool.allocateAsync(1, 0));
        assertThrows(IllegalStateException.class, () -> pool.free(address));
        assertThrows(IllegalStateException.class, () -> pool.freeAsync(address, 0));
        assertThrows(IllegalStateException.class, () -> pool.trim(address, 1));
        assertThrows(IllegalStateException.class, () -> pool.extend(address, 1));
        assertThrows(IllegalStateException.class, () -> pool.sizeOf(address));
        assertEquals(0, pool.trimTo(0));
        assertFalse(pool.contains(address));
        assertEquals(List.of(), pool.largestHolders());
    }

    @Test
    void shouldReportWhatIsInUseWhenItIsClosed() {
        final Pool pool = builder().build();
        pool.allocate(MIB);
        final long large = pool.allocate(2 * MIB);

        final List<String> messages = messagesOf(pool::close);

        assertEquals(1, messages.size());
        assertTrue(
                messages.get(0)
                        .startsWith("unnamed pool is closed with 2 blocks in use, 3MiB; the largest: [[0x"
                                + Long.toHexString(large) + ", 2MiB], [0x"),
                messages::toString);
        assertEquals(0, source.regionsOut());
        assertEquals(0, pool.statistics().freeBytes());
        assertEquals(0, pool.statistics().usedBytes());
        assertEquals(0, pool.statistics().liveBlocks());
        assertEquals(3 * MIB, pool.statistics().peakUsedBytes());
    }

    @Test
    void shouldReportNothingWhenNothingIsInUse() {
        final Pool pool = builder().build();
        pool.free(pool.allocate(MIB));

        assertEquals(List.of(), messagesOf(pool::close));
    }

    private static List<String> messagesOf(final Runnable action) {
        final List<String> messages = new ArrayList<>();
        final Logger logger = Logger.getLogger("io.outboard.pool");
        final Handler handler = new Handler() {
            @Override
            public void publish(final LogRecord record) {
                assertEquals(Level.WARNING, record.getLevel());
                messages.add(record.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        logger.setUseParentHandlers(false);
        logger.addHandler(handler);
        try {
            action.run();
        } finally {
            logger.removeHandler(handler);
            logger.setUseParentHandlers(true);
        }
        return messages;
    }
}
