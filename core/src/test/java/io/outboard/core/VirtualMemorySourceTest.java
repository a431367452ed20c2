package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

    @Test
    void shouldCountWhatIsCommitted() {
        final VirtualMemorySource source = new VirtualMemorySource(10 * MIB);
        final GrowableRegion growable = reserve(source, 10 * MIB);
        final long address = growable.region().address();
        source.take(3 * MIB);

        growable.commit(address, 4 * MIB, 8 * MIB);

        assertEquals(4 * MIB, growable.committedBytes());
        assertEquals(4 * MIB, growable.endBytes());
        assertEquals(3 * MIB, source.availableBytes());
        final DeviceOutOfMemoryException thrown = assertThrows(
                DeviceOutOfMemoryException.class, () -> growable.commit(address + 4 * MIB, 4 * MIB, 2 * MIB));
        assertEquals(4 * MIB, thrown.requestedBytes());
        assertEquals(3 * MIB, thrown.freeBytes());
        assertEquals(4 * MIB, growable.committedBytes());
    }

    @Test
    void shouldMakePiecesAsLargeAsTold() {
        final GrowableRegion growable = reserve(new VirtualMemorySource(20 * MIB), 40 * MIB);
        final long address = growable.region().address();

        growable.commit(address, 10 * MIB, 4 * MIB);

        assertEquals(4 * MIB, growable.pieceBytes(address));
        assertEquals(0, growable.pieceBytes(address + 2 * MIB));
        assertEquals(address + 4 * MIB, growable.pieceFrom(address + 1));
        assertEquals(2 * MIB, growable.pieceBytes(address + 8 * MIB));
        assertEquals(growable.region().endAddress(), growable.pieceFrom(address + 8 * MIB + 1));
    }

    @Test
    void shouldGiveAllBackWhenAGrowableRegionIsClosed() {
        final VirtualMemorySource source = new VirtualMemorySource(10 * MIB);
        final GrowableRegion growable = reserve(source, 10 * MIB);
        final long address = growable.region().address();
        growable.commit(address, 10 * MIB, 10 * MIB);

        growable.close();
        growable.close();

        assertEquals(10 * MIB, source.availableBytes());
        assertEquals(0, growable.committedBytes());
        assertThrows(IllegalStateException.class, () -> growable.commit(address, 2 * MIB, 2 * MIB));
        assertThrows(IllegalStateException.class, () -> growable.giveBack(new long[0], 0));
        assertThrows(IllegalStateException.class, () -> growable.move(new long[0], 0));
    }

    @Test
    void shouldCloseGrowableRegionsWithTheSource() {
        final VirtualMemorySource source = new VirtualMemorySource(10 * MIB);
        final GrowableRegion growable = reserve(source, 10 * MIB);
        final long address = growable.region().address();
        growable.commit(address, 10 * MIB, 2 * MIB);

        source.close();
        growable.close();

        assertEquals(0, source.availableBytes());
        assertThrows(IllegalStateException.class, () -> growable.commit(address, 2 * MIB, 2 * MIB));
        assertThrows(IllegalStateException.class, () -> source.reserve(10 * MIB, 10 * MIB));
    }

    @Test
    void shouldMovePiecesBehindTheLast() {
        final VirtualMemorySource source = new VirtualMemorySource(10 * MIB);
        final GrowableRegion growable = reserve(source, 40 * MIB);
        final long address = growable.region().address();
        growable.commit(address, 6 * MIB, 2 * MIB);
        growable.commit(address + 6 * MIB, 4 * MIB, 4 * MIB);

        growable.move(new long[] {address + 6 * MIB, address + 2 * MIB, 0}, 2);

        assertEquals(10 * MIB, growable.committedBytes());
        assertEquals(16 * MIB, growable.endBytes());
        assertEquals(4 * MIB, growable.pieceBytes(address + 10 * MIB));
        assertEquals(2 * MIB, growable.pieceBytes(address + 14 * MIB));
        assertEquals(address + 4 * MIB, growable.pieceFrom(address + 2 * MIB));
        assertEquals(address + 10 * MIB, growable.pieceFrom(address + 6 * MIB));
        assertEquals(0, source.availableBytes());
    }

    @Test
    void shouldGiveBackPiecesFromAnywhere() {
        final VirtualMemorySource source = new VirtualMemorySource(10 * MIB);
        final GrowableRegion growable = reserve(source, 40 * MIB);
        final long address = growable.region().address();
        growable.commit(address, 10 * MIB, 2 * MIB);

        growable.giveBack(new long[] {address, address + 8 * MIB, address + 4 * MIB, 0}, 3);

        assertEquals(8 * MIB, growable.endBytes());
        assertEquals(4 * MIB, growable.committedBytes());
        assertEquals(6 * MIB, source.availableBytes());
        final long[] twice = {address + 2 * MIB, address + 2 * MIB};
        assertThrows(IllegalArgumentException.class, () -> growable.giveBack(twice, 2));
        assertThrows(IllegalArgumentException.class, () -> growable.giveBack(new long[] {address}, 1));
        assertEquals(4 * MIB, growable.committedBytes());
        growable.commit(address + 4 * MIB, 2 * MIB, 2 * MIB);
        growable.commit(address + 8 * MIB, 2 * MIB, 2 * MIB);
        assertEquals(8 * MIB, growable.committedBytes());
    }

    @Test
    void shouldRefuseToMoveWhatIsntThereOrToWhereNoAddressesAre() {
        final GrowableRegion growable = reserve(new VirtualMemorySource(10 * MIB), 12 * MIB);
        final long address = growable.region().address();
        growable.commit(address, 8 * MIB, 2 * MIB);

        assertMoveRefused(growable, "pieces[0]=" + (address + MIB), address + MIB);
        assertMoveRefused(growable, "pieces[0]=" + (address + 8 * MIB), address + 8 * MIB);
        assertMoveRefused(growable, "pieces[1]=" + address, address, address);
        assertMoveRefused(growable, "count=3", address, address + 2 * MIB, address + 4 * MIB);
    }

    private static void assertMoveRefused(final GrowableRegion growable, final String named, final long... pieces) {
        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> growable.move(pieces, pieces.length));
        assertTrue(String.valueOf(thrown.getMessage()).startsWith(named), thrown::toString);
        assertEquals(8 * MIB, growable.endBytes());
    }

    @Test
    void shouldHaveUpToSixteenTimesAsManyAddressesAsMemory() {
        final VirtualMemorySource source = new VirtualMemorySource(11 * MIB);

        assertEquals(176 * MIB, reserve(source, 1L << 62).region().sizeBytes());
        assertEquals(10 * MIB, reserve(source, 11 * MIB).region().sizeBytes());
        assertEquals(
                32 * MIB,
                source.reserve(2 * MIB, 1L << 62).orElseThrow().region().sizeBytes());
        assertTrue(source.reserve(2 * MIB - 1, 1L << 62).isEmpty());
        assertTrue(source.reserve(1L << 62, 2 * MIB - 1).isEmpty());
        assertThrows(IllegalArgumentException.class, () -> source.reserve(0, 1));
        assertThrows(IllegalArgumentException.class, () -> source.reserve(1, 0));
    }

    private static GrowableRegion reserve(final VirtualMemorySource source, final long addressBytes) {
        return source.reserve(1L << 62, addressBytes).orElseThrow();
    }

    @Test
    void shouldCloseAHugeRegion() {
        final VirtualMemorySource huge = new VirtualMemorySource();
        final GrowableRegion region = reserve(huge, 1L << 52);
        region.commit(region.region().address(), 1L << 51, 1L << 51);
        region.close();
        assertEquals(1L << 62, huge.availableBytes());
    }

    @Test
    void shouldRefuseToGrowWhereItCannot() {
        final GrowableRegion growable = reserve(new VirtualMemorySource(), 10 * MIB);
        final long address = growable.region().address();
        growable.commit(address, 4 * MIB, 4 * MIB);

        assertCommitRefused(growable, "bytes=0", address + 4 * MIB, 0, 2 * MIB);
        assertCommitRefused(growable, "bytes=" + MIB, address + 4 * MIB, MIB, 2 * MIB);
        assertCommitRefused(growable, "bytes=" + 12 * MIB, address, 12 * MIB, 2 * MIB);
        assertCommitRefused(growable, "pieceBytes=0", address + 4 * MIB, 2 * MIB, 0);
        assertCommitRefused(growable, "pieceBytes=" + MIB, address + 4 * MIB, 2 * MIB, MIB);
        assertCommitRefused(growable, "address=" + (address - 2 * MIB), address - 2 * MIB, 2 * MIB, 2 * MIB);
        assertCommitRefused(growable, "address=" + (address + 5 * MIB), address + 5 * MIB, 2 * MIB, 2 * MIB);
        assertCommitRefused(growable, "address=" + address, address, 2 * MIB, 2 * MIB);
        assertCommitRefused(growable, "address=" + (address + 2 * MIB), address + 2 * MIB, 2 * MIB, 2 * MIB);
        assertCommitRefused(growable, "address=" + (address + 6 * MIB), address + 6 * MIB, 2 * MIB, 2 * MIB);
        assertCommitRefused(growable, "address=" + (address + 4 * MIB), address + 4 * MIB, 8 * MIB, 2 * MIB);
        assertEquals(4 * MIB, growable.committedBytes());
    }

    private static void assertCommitRefused(
            final GrowableRegion growable,
            final String named,
            final long address,
            final long bytes,
            final long pieceBytes) {
        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> growable.commit(address, bytes, pieceBytes));
        assertTrue(String.valueOf(thrown.getMessage()).startsWith(named), thrown::toString);
    }
}
