package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class VirtualMemorySourceTest {

    private static final long MIB = 1L << 20;

    @ParameterizedTest
    @ValueSource(longs = {1, 255, 256, 2 * MIB, 2 * MIB + 1, 1L << 40, 1L << 62})
    void shouldTakeARegionOfExactlyTheSize(final long sizeBytes) {
        try (VirtualMemorySource source = new VirtualMemorySource()) {
            final Region region = source.take(sizeBytes);

            assertEquals(sizeBytes, region.sizeBytes());
            assertEquals(0, region.address() % (2 * MIB));
        }
    }

    @Test
    void shouldTakeDisjointRegions() {
        try (VirtualMemorySource source = new VirtualMemorySource()) {
            Region before = source.take(1);
            for (int i = 0; i < 100; i++) {
                final Region region = source.take(i * 100_003L + 1);
                assertTrue(region.address() >= before.endAddress());
                before = region;
            }
        }
    }

    @Test
    void shouldNeverHandOutARangeTwice() {
        try (VirtualMemorySource source = new VirtualMemorySource()) {
            final Region first = source.take(MIB);
            source.giveBack(first);

            final Region second = source.take(MIB);

            assertNotEquals(first, second);
            assertTrue(second.address() >= first.endAddress());
        }
    }

    @Test
    void shouldRunOutAtItsLimit() {
        try (VirtualMemorySource source = new VirtualMemorySource(10 * MIB)) {
            source.take(7 * MIB);

            final DeviceOutOfMemoryException thrown =
                    assertThrows(DeviceOutOfMemoryException.class, () -> source.take(3 * MIB + 1));

            assertEquals(3 * MIB + 1, thrown.requestedBytes());
            assertEquals(3 * MIB, thrown.freeBytes());
            assertEquals("virtual limit", thrown.reason());
            assertEquals(3 * MIB, source.availableBytes());
            source.take(3 * MIB);
            assertEquals(0, source.availableBytes());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {(1L << 62) + 1, Long.MAX_VALUE - 1, Long.MAX_VALUE})
    void shouldRunOutOnSizesNearTheLargestLong(final long sizeBytes) {
        try (VirtualMemorySource source = new VirtualMemorySource()) {
            assertThrows(DeviceOutOfMemoryException.class, () -> source.take(sizeBytes));
        }
    }

    @Test
    void shouldRunOutOfAddressesInTheEnd() {
        try (VirtualMemorySource source = new VirtualMemorySource()) {
            source.giveBack(source.take(1L << 62));

            assertThrows(DeviceOutOfMemoryException.class, () -> source.take(1L << 62));

            assertEquals(1, source.take(1).sizeBytes());
        }
    }

    @Test
    void shouldHaveAgainWhatWasGivenBack() {
        try (VirtualMemorySource source = new VirtualMemorySource(10 * MIB)) {
            final Region region = source.take(10 * MIB);

            source.giveBack(region);

            assertEquals(10 * MIB, source.availableBytes());
            assertEquals(10 * MIB, source.take(10 * MIB).sizeBytes());
        }
    }

    @Test
    void shouldRefuseARegionThatWasGivenBackAlready() {
        try (VirtualMemorySource source = new VirtualMemorySource(10 * MIB)) {
            final Region region = source.take(MIB);
            source.giveBack(region);

            final IllegalArgumentException thrown =
                    assertThrows(IllegalArgumentException.class, () -> source.giveBack(region));

            assertEquals("region=" + region + " must be one that this source has out", thrown.getMessage());
            assertEquals(10 * MIB, source.availableBytes());
        }
    }

    @Test
    void shouldRefuseARegionOfAnotherSource() {
        try (VirtualMemorySource source = new VirtualMemorySource()) {
            final Region foreign = VirtualMemorySource.region(MIB);

            assertThrows(IllegalArgumentException.class, () -> source.giveBack(foreign));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void shouldRefuseToTakeNothingOrLess(final long sizeBytes) {
        try (VirtualMemorySource source = new VirtualMemorySource()) {
            final IllegalArgumentException thrown =
                    assertThrows(IllegalArgumentException.class, () -> source.take(sizeBytes));

            assertEquals("sizeBytes=" + sizeBytes + " must be > 0", thrown.getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE, (1L << 62) + 1, Long.MAX_VALUE})
    void shouldRefuseALimitOutsideOfItsRange(final long limitBytes) {
        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> new VirtualMemorySource(limitBytes));

        assertEquals("limitBytes=" + limitBytes + " must be > 0 and <= 2^62", thrown.getMessage());
    }

    @Test
    void shouldMakeASingleRegion() {
        assertEquals(new Region(1L << 40, 3), VirtualMemorySource.region(3));
        assertEquals(1L << 62, VirtualMemorySource.region(1L << 62).sizeBytes());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE, (1L << 62) + 1})
    void shouldRefuseASingleRegionOutsideOfItsRange(final long sizeBytes) {
        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> VirtualMemorySource.region(sizeBytes));

        assertEquals("sizeBytes=" + sizeBytes + " must be > 0 and <= 2^62", thrown.getMessage());
    }

    @Test
    void shouldTakeNothingOnceClosed() {
        final VirtualMemorySource source = new VirtualMemorySource();
        source.close();

        final IllegalStateException thrown = assertThrows(IllegalStateException.class, () -> source.take(1));

        assertEquals("the memory source is closed", thrown.getMessage());
        assertEquals(0, source.availableBytes());
    }

    @Test
    void shouldCloseTwice() {
        final VirtualMemorySource source = new VirtualMemorySource();
        source.take(1);

        source.close();
        source.close();

        assertEquals(0, source.availableBytes());
    }

    // Growing in place

    private static GrowableRegion reserve(final VirtualMemorySource source, final long bytes) {
        return source.reserve(bytes).orElseThrow();
    }

    @Test
    void shouldReserveNoMoreThanTheLimitInWholeUnits() {
        final VirtualMemorySource source = new VirtualMemorySource(11 * MIB);

        final GrowableRegion all = reserve(source, 1L << 62);
        final GrowableRegion some = reserve(source, 5 * MIB);

        assertEquals(10 * MIB, all.region().sizeBytes());
        assertEquals(4 * MIB, some.region().sizeBytes());
        assertTrue(some.region().address() >= all.region().endAddress());
        assertTrue(source.take(1).address() >= some.region().endAddress());
        assertTrue(source.reserve(2 * MIB - 1).isEmpty());
        assertEquals(0, all.committedBytes());
    }

    @Test
    void shouldCountWhatIsCommitted() {
        final VirtualMemorySource source = new VirtualMemorySource(10 * MIB);
        final GrowableRegion growable = reserve(source, 10 * MIB);
        source.take(5 * MIB);

        growable.commit(3 * MIB);
        growable.commit(1);

        assertEquals(4 * MIB, growable.committedBytes());
        assertEquals(MIB, source.availableBytes());
        final DeviceOutOfMemoryException thrown =
                assertThrows(DeviceOutOfMemoryException.class, () -> growable.commit(5 * MIB));
        assertEquals(2 * MIB, thrown.requestedBytes());
        assertEquals(MIB, thrown.freeBytes());
        assertEquals(4 * MIB, growable.committedBytes());
    }

    @Test
    void shouldShrinkToWholeUnits() {
        final VirtualMemorySource source = new VirtualMemorySource(10 * MIB);
        final GrowableRegion growable = reserve(source, 10 * MIB);
        growable.commit(10 * MIB);

        growable.decommit(5 * MIB);
        assertEquals(6 * MIB, growable.committedBytes());
        growable.decommit(7 * MIB);
        assertEquals(6 * MIB, growable.committedBytes());
        growable.decommit(0);

        assertEquals(0, growable.committedBytes());
        assertEquals(10 * MIB, source.availableBytes());
    }

    @Test
    void shouldGiveAllBackWhenAGrowableRegionIsClosed() {
        final VirtualMemorySource source = new VirtualMemorySource(10 * MIB);
        final GrowableRegion growable = reserve(source, 10 * MIB);
        growable.commit(10 * MIB);

        growable.close();
        growable.close();

        assertEquals(10 * MIB, source.availableBytes());
        assertEquals(0, growable.committedBytes());
        assertThrows(IllegalStateException.class, () -> growable.commit(1));
        assertThrows(IllegalStateException.class, () -> growable.decommit(1));
    }

    @Test
    void shouldCloseGrowableRegionsWithTheSource() {
        final VirtualMemorySource source = new VirtualMemorySource(10 * MIB);
        final GrowableRegion growable = reserve(source, 10 * MIB);
        growable.commit(10 * MIB);

        source.close();
        growable.close();

        assertEquals(0, source.availableBytes());
        assertThrows(IllegalStateException.class, () -> growable.commit(1));
        assertThrows(IllegalStateException.class, () -> source.reserve(10 * MIB));
    }

    @Test
    void shouldMoveMemoryIntoHolesAndBehindTheLast() {
        final VirtualMemorySource source = VirtualMemorySource.moving(10 * MIB);
        final GrowableRegion growable = reserveToMove(source, 40 * MIB);
        final long address = growable.region().address();
        growable.commit(10 * MIB);

        move(growable, address + 2 * MIB, address + 10 * MIB, 2);
        assertEquals(14 * MIB, growable.endBytes());
        move(growable, address + 12 * MIB, address + 4 * MIB, 1);
        assertTrue(growable.hasMemory(address + 5 * MIB));
        assertFalse(growable.hasMemory(address + 2 * MIB));
        assertFalse(growable.hasMemory(address - 1));

        assertEquals(12 * MIB, growable.endBytes());
        assertEquals(10 * MIB, growable.committedBytes());
        assertEquals(0, source.availableBytes());
        assertThrows(DeviceOutOfMemoryException.class, () -> growable.commit(13 * MIB));
        growable.decommit(4 * MIB);
        assertEquals(2 * MIB, growable.endBytes(), "then comes a hole");
        assertEquals(2 * MIB, growable.committedBytes());
        assertEquals(8 * MIB, source.availableBytes());
    }

    @Test
    void shouldGiveBackUnitsFromAnywhere() {
        final VirtualMemorySource source = VirtualMemorySource.moving(10 * MIB);
        final GrowableRegion growable = reserveToMove(source, 40 * MIB);
        final long address = growable.region().address();
        growable.commit(10 * MIB);

        growable.giveBack(new long[] {address, address + 8 * MIB, address + 4 * MIB, 0}, 3);

        assertEquals(8 * MIB, growable.endBytes());
        assertEquals(4 * MIB, growable.committedBytes());
        assertEquals(6 * MIB, source.availableBytes());
        final long[] twice = {address + 2 * MIB, address + 2 * MIB};
        assertThrows(IllegalArgumentException.class, () -> growable.giveBack(twice, 2));
        assertThrows(IllegalArgumentException.class, () -> growable.giveBack(new long[] {address}, 1));
        assertEquals(4 * MIB, growable.committedBytes());
        growable.fill(address + 4 * MIB, 2 * MIB);
        growable.commit(10 * MIB);
        assertEquals(8 * MIB, growable.committedBytes());
    }

    @Test
    void shouldRefuseToMoveWhatIsntThereOrToWhereSomethingIs() {
        final GrowableRegion growable = reserveToMove(VirtualMemorySource.moving(10 * MIB), 40 * MIB);
        final long address = growable.region().address();
        growable.commit(10 * MIB);
        move(growable, address, address + 10 * MIB, 1);

        assertMoveRefused(growable, "from=" + address, address, address + 12 * MIB, 1);
        assertMoveRefused(growable, "from=" + (address + MIB), address + MIB, address + 12 * MIB, 1);
        assertMoveRefused(growable, "from=" + (address + 12 * MIB), address + 10 * MIB, address, 2);
        assertMoveRefused(growable, "to=" + (address + 2 * MIB), address + 2 * MIB, address, 2);
        assertMoveRefused(growable, "to=" + (address + 14 * MIB), address + 2 * MIB, address + 14 * MIB, 1);
        assertMoveRefused(growable, "to=" + (address - 2 * MIB), address + 2 * MIB, address - 2 * MIB, 1);
        growable.commit(12 * MIB);
        growable.close();
        assertThrows(IllegalStateException.class, () -> move(growable, address + 2 * MIB, address, 1));
    }

    @Test
    void shouldHaveSixteenTimesAsManyAddressesIfMemoryMoves() {
        final VirtualMemorySource moving = VirtualMemorySource.moving(11 * MIB);
        final GrowableRegion fixed = reserve(new VirtualMemorySource(10 * MIB), 10 * MIB);
        fixed.commit(2 * MIB);

        assertEquals(176 * MIB, reserveToMove(moving, 1L << 62).region().sizeBytes());
        assertEquals(
                22 * MIB,
                moving.reserveToMove(2 * MIB + 1, 1L << 62)
                                .orElseThrow()
                                .region()
                                .sizeBytes()
                        * 11
                        / 16);
        assertEquals(10 * MIB, reserve(moving, 1L << 62).region().sizeBytes());
        assertTrue(new VirtualMemorySource().reserveToMove(MIB, MIB).isEmpty());
        assertTrue(moving.canMove());
        assertFalse(new VirtualMemorySource().canMove());
        final long address = fixed.region().address();
        assertThrows(UnsupportedOperationException.class, () -> move(fixed, address, address + 2 * MIB, 1));
        assertThrows(UnsupportedOperationException.class, () -> fixed.fill(address + 2 * MIB, 2 * MIB));
    }

    private static GrowableRegion reserveToMove(final VirtualMemorySource source, final long addressBytes) {
        return source.reserveToMove(1L << 62, addressBytes).orElseThrow();
    }

    /** So many units side by side to others side by side. */
    private static void move(final GrowableRegion growable, final long from, final long to, final int count) {
        growable.move(units(from, count), units(to, count), count);
    }

    private static long[] units(final long first, final int count) {
        return LongStream.range(0, count).map(i -> first + i * 2 * MIB).toArray();
    }

    private static void assertMoveRefused(
            final GrowableRegion growable, final String named, final long from, final long to, final int count) {
        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> move(growable, from, to, count));
        assertTrue(String.valueOf(thrown.getMessage()).startsWith(named), thrown::toString);
        assertEquals(10 * MIB, growable.committedBytes());
        assertEquals(12 * MIB, growable.endBytes());
    }

    @Test
    void shouldCloseAHugeRegion() {
        final VirtualMemorySource huge = new VirtualMemorySource();
        final GrowableRegion region = huge.reserve(1L << 52).orElseThrow();
        region.commit(1L << 51);
        region.commit((1L << 51) + 2 * MIB);
        region.close();
        assertEquals(1L << 62, huge.availableBytes());
    }

    @Test
    void shouldRefuseToGrowOutsideOfARegion() {
        final VirtualMemorySource source = new VirtualMemorySource();
        final GrowableRegion growable = reserve(source, 10 * MIB);

        assertThrows(IllegalArgumentException.class, () -> growable.commit(-1));
        assertThrows(IllegalArgumentException.class, () -> growable.commit(10 * MIB + 1));
        assertThrows(IllegalArgumentException.class, () -> growable.decommit(-1));
        assertThrows(IllegalArgumentException.class, () -> source.reserve(0));
        assertThrows(IllegalArgumentException.class, () -> source.reserve(-1));
    }
}
