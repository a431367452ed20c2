package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.InvalidAddressException;
import io.outboard.core.Region;
import io.outboard.core.Statistics;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.VirtualMemorySource;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * These tests go beyond the contract of every strategy: slots. {@link PooledSlabsTest} covers when slabs are taken and
 * given back. The regions of the contract test are too small for slabs, so these tests repeat for slots what the
 * contract says about single blocks.
 */
class PooledStrategyTest extends PooledFixture {

    /** The refusal changed nothing, so the blocks that follow lie where a new strategy would put them. */
    @Test
    void shouldPlaceAsANewOneAfterARefusalWithNothingInUse() {
        final Region region = new Region(1L << 20, 3000);
        final StrategyOptions options = StrategyOptions.DEFAULTS.withGranuleBytes(8);
        final Strategy refused = Strategies.named("pooled").create(region, options);
        final Strategy fresh = Strategies.named("pooled").create(region, options);

        assertEquals(Strategy.NO_SPACE, refused.allocate(4096));

        for (final long sizeBytes : new long[] {8, 16, 8, 16, 8}) {
            assertEquals(fresh.allocate(sizeBytes), refused.allocate(sizeBytes));
        }
    }

    @Test
    void shouldServe64BlocksOfOneSizeFromOneSlab() {
        for (int slot = 0; slot < 64; slot++) {
            assertEquals(BASE + slot * 768L, strategy.allocate(768));
        }

        assertEquals(BASE + WINDOW, strategy.allocate(768));
        assertEquals(65, strategy.liveBlocks());
        assertEquals(2, backing.liveBlocks());
        assertEquals(WINDOWS * WINDOW - 65 * 768, strategy.freeBytes());
    }

    @Test
    void shouldHaveAClassForEachMultipleOfTheGranuleUpToAPage() {
        final Strategy large = new PooledStrategy(new TlsfStrategy(new Region(BASE, 17 * WINDOW), OPTIONS));
        holdLastWindow(large);

        for (long sizeBytes = 1; sizeBytes <= 4096; sizeBytes++) {
            final long slotClass = (sizeBytes + 255) / 256;
            final long address = large.allocate(sizeBytes);
            assertEquals(BASE + (slotClass - 1) * WINDOW, address);
            assertEquals(slotClass * 256, large.sizeOf(address));
            large.free(address);
        }
    }

    @Test
    void shouldLeaveSizesOfMoreThanAPageToTheBacking() {
        strategy.allocate(4097);

        assertEquals(List.of("used 0 4352", "free 4352 2092800"), blocks(strategy));
        assertEquals(blocks(strategy), blocks(backing));
    }

    @ParameterizedTest
    @ValueSource(longs = {8192, 1 << 16})
    void shouldLeaveAllToTheBackingIfTheGranuleIsMoreThanAPage(final long granuleBytes) {
        final TlsfStrategy behind =
                new TlsfStrategy(new Region(BASE, 8 * WINDOW), OPTIONS.withGranuleBytes(granuleBytes));
        final Strategy pooled = new PooledStrategy(behind);

        pooled.free(pooled.allocate(1));
        pooled.allocate(1);

        assertEquals(blocks(behind), blocks(pooled));
        assertThrows(IllegalArgumentException.class, () -> pooled.allocate(0));
    }

    @Test
    void shouldServePagesFromOneClassIfTheyAreTheGranule() {
        final TlsfStrategy behind = new TlsfStrategy(new Region(BASE, 8 * WINDOW), OPTIONS.withGranuleBytes(4096));
        final Strategy pooled = new PooledStrategy(behind);

        for (int slot = 0; slot < 128; slot++) {
            assertEquals(BASE + slot * 4096L, pooled.allocate(slot + 1));
        }

        assertEquals(2, behind.liveBlocks());
    }

    @Test
    void shouldTakeTheFirstFreeSlot() {
        final long[] addresses = allocate(64, 256);
        strategy.free(addresses[40]);
        strategy.free(addresses[5]);
        strategy.free(addresses[63]);

        assertEquals(addresses[5], strategy.allocate(256));
        assertEquals(addresses[40], strategy.allocate(256));
        assertEquals(addresses[63], strategy.allocate(256));
    }

    @Test
    void shouldStartSlabsAtWindowsThoughTheRegionDoesNot() {
        final Strategy odd = new PooledStrategy(new TlsfStrategy(new Region(BASE + 768, 3 * WINDOW), OPTIONS));

        assertEquals(BASE + WINDOW, odd.allocate(256));
        assertEquals(BASE + WINDOW + 256, odd.allocate(256));
    }

    @Test
    void shouldServeALargeBlockBehindASlabInItsWindow() {
        strategy.allocate(256);
        final long large = strategy.allocate(100_000);
        assertEquals(BASE + 64 * 256, large);

        strategy.free(large);

        assertThrows(InvalidAddressException.class, () -> strategy.free(large));
        assertEquals(1, strategy.liveBlocks());
    }

    /** There are enough blocks to fill slabs and the region, and to empty them, many times. */
    @Test
    void shouldNeverHandOutAGranuleTwice() {
        final BitSet used = new BitSet();
        final List<Long> live = new ArrayList<>();
        final Random random = new Random(1);
        int refused = 0;

        for (int operation = 0; operation < 200_000; operation++) {
            final boolean growing = operation / 10_000 % 2 == 0;
            if (live.isEmpty() || random.nextInt(5) < (growing ? 3 : 2)) {
                final long address = strategy.allocate(random.nextInt(20) == 0 ? 5000 : 1 + random.nextInt(4) * 700L);
                if (address == Strategy.NO_SPACE) {
                    refused++;
                } else {
                    final int end = granule(address + strategy.sizeOf(address));
                    final int next = used.nextSetBit(granule(address));
                    assertTrue(next < 0 || next >= end);
                    used.set(granule(address), end);
                    live.add(address);
                }
            } else {
                Collections.swap(live, random.nextInt(live.size()), live.size() - 1);
                final long address = live.remove(live.size() - 1);
                used.clear(granule(address), granule(address + strategy.sizeOf(address)));
                strategy.free(address);
            }
            assertEquals(WINDOWS * WINDOW - used.cardinality() * 256L, strategy.freeBytes());
            assertEquals(live.size(), strategy.liveBlocks());
        }

        assertTrue(refused > 0, "the region was never full");
        live.forEach(strategy::free);
        assertWhole();
    }

    @ParameterizedTest
    @ValueSource(longs = {512, 1024, 4096})
    void shouldAlignBySlotsOfAMultipleOfTheAlignment(final long alignmentBytes) {
        strategy.allocate(alignmentBytes);

        assertEquals(BASE + alignmentBytes, strategy.allocate(alignmentBytes - 1, alignmentBytes));
        assertEquals(1, backing.liveBlocks());
    }

    @Test
    void shouldLeaveOtherAlignmentsToTheBacking() {
        strategy.allocate(768);

        final long address = strategy.allocate(768, 512);

        assertEquals(0, address % 512);
        assertEquals(2, backing.liveBlocks());
        assertEquals(768, backing.sizeOf(address));
    }

    @Test
    void shouldRefuseAnAddressInsideASlot() {
        strategy.allocate(768);
        final long address = strategy.allocate(768);

        assertRefused(address + 1, "it lies 1 bytes inside the block [0x10000000300, 768 bytes] in use");
        assertRefused(address + 256, "it lies 256 bytes inside the block [0x10000000300, 768 bytes] in use");
        assertRefused(address + 767, "it lies 767 bytes inside the block [0x10000000300, 768 bytes] in use");
    }

    @Test
    void shouldRefuseAFreeSlot() {
        strategy.allocate(256);

        assertRefused(BASE + 256, "it lies in the free block [0x10000000100, 15.75KiB], so it was freed already");
        assertRefused(BASE + 63 * 256, "it lies in the free block [0x10000000100, 15.75KiB], so it was freed already");
    }

    @Test
    void shouldRefuseASecondFreeOfASlot() {
        final long[] addresses = allocate(3, 256);
        strategy.free(addresses[1]);

        assertRefused(addresses[1], "it lies in the free block [0x10000000100, 256 bytes], so it was freed already");
    }

    @Test
    void shouldRefuseASlotOfASlabThatIsEmptyOrGone() {
        final long[] addresses = allocate(128, 256);
        freeAll(addresses);

        assertRefused(addresses[0], "it lies in the free block [0x10000000000, 2MiB]");
        assertRefused(addresses[127], "it lies in the free block");
    }

    @Test
    void shouldRefuseTheRestBehindASlab() {
        allocate(64, 256);

        assertRefused(BASE + 64 * 256, "it lies in the free block [0x10000004000, 1.98MiB (2080768 bytes)]");
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 256, 512, 767, 768})
    void shouldKeepTheSizeOfASlotOnTrim(final long newSizeBytes) {
        final long address = strategy.allocate(768);

        assertUnchanged(() -> strategy.trim(address, newSizeBytes));
        assertEquals(768, strategy.sizeOf(address));
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE, 769, Long.MAX_VALUE})
    void shouldRefuseToTrimASlotToAWrongSize(final long newSizeBytes) {
        final long address = strategy.allocate(768);

        assertRefused(
                () -> strategy.trim(address, newSizeBytes),
                "newSizeBytes=" + newSizeBytes + " must be > 0 and <= the block's size, 768");
    }

    @Test
    void shouldExtendASlotToItsOwnSizeOnly() {
        final long address = strategy.allocate(600);

        assertUnchanged(() -> assertTrue(strategy.extend(address, 513)));
        assertUnchanged(() -> assertTrue(strategy.extend(address, 768)));
        assertUnchanged(() -> assertFalse(strategy.extend(address, 769)));
        assertUnchanged(() -> assertFalse(strategy.extend(address, Long.MAX_VALUE)));
    }

    @ParameterizedTest
    @ValueSource(longs = {512, 1, 0, -1, Long.MIN_VALUE})
    void shouldRefuseToExtendASlotToLess(final long newSizeBytes) {
        final long address = strategy.allocate(768);

        assertRefused(
                () -> strategy.extend(address, newSizeBytes),
                "newSizeBytes=" + newSizeBytes + ", rounded up, must be >= the block's size, 768");
    }

    @Test
    void shouldShowSlotsInUseAndRunsOfFreeOnes() {
        final long[] addresses = allocate(64, 256);
        for (final int freed : new int[] {0, 1, 5, 62, 63}) {
            strategy.free(addresses[freed]);
        }

        final List<String> blocks = blocks(strategy);

        assertEquals(List.of("free 0 512", "used 512 256", "used 768 256"), blocks.subList(0, 3));
        assertEquals(List.of("used 1024 256", "free 1280 256", "used 1536 256"), blocks.subList(3, 6));
        assertEquals(
                List.of("used 15616 256", "free 15872 512", "free 16384 2080768"),
                blocks.subList(blocks.size() - 3, blocks.size()));
        assertEquals(59, Statistics.of(strategy).liveBlocks());
    }

    @Test
    void shouldNotCountFreeSlotsAsTheLargestFreeBlock() {
        strategy.allocate(4096);
        strategy.allocate((WINDOWS - 1) * WINDOW - 512);

        assertEquals(512, Statistics.of(strategy).largestFreeBlockBytes());
        assertEquals(63 * 4096 + 512, strategy.freeBytes());
    }

    /** A backing that rounds up leaves a rest behind the slots; it is free, since giving the slab back frees it. */
    @Test
    void shouldCountTheRestOfASlabAsFree() {
        final PowersOfTwo behind = new PowersOfTwo(new Region(BASE, 4 * WINDOW));
        final Strategy pooled = new PooledStrategy(behind);

        final long address = pooled.allocate(768);

        assertEquals(64 * 1024, behind.sizeOf(address));
        assertEquals(List.of("used 0 768", "free 768 64768", "free 65536 983040"), blocks(pooled));
        assertEquals(4 * WINDOW - 768, pooled.freeBytes());
        pooled.free(address);
        assertEquals(4 * WINDOW, pooled.freeBytes());
        assertEquals(4 * WINDOW, Statistics.of(pooled).largestFreeBlockBytes());
    }

    @Test
    void shouldBeProvidedOverTlsf() {
        final Region region = VirtualMemorySource.region(1 << 20);

        final Strategy provided = Strategies.named("pooled").create(region, OPTIONS.withGranuleBytes(512));

        assertInstanceOf(PooledStrategy.class, provided);
        assertEquals(region, provided.region());
        assertEquals(512, provided.granuleBytes());
        assertNotEquals(Strategy.NO_SPACE, provided.allocate(1 << 20));
    }

    private static final class PowersOfTwo extends SegregatedStrategy {

        PowersOfTwo(final Region region) {
            super(region, OPTIONS, new TwoLevelLists(OPTIONS));
        }

        @Override
        protected long blockSize(final long size) {
            return size == 1 ? 1 : Long.highestOneBit(size - 1) << 1;
        }
    }
}
