package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.PooledStrategy;
import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.VirtualMemorySource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What goes beyond the contract of every strategy: slots, and when slabs are taken and given back. Regions of the contract
 * test are too small for slabs, so what it says of single blocks is here again for slots.
 */
class PooledStrategyTest {

    private static final StrategyOptions OPTIONS = new StrategyOptions(256, 1 << 15);
    private static final long BASE = 1L << 40;
    private static final long WINDOW = 64 * 4096;
    private static final int WINDOWS = 8;

    private final Strategy backing = new TlsfStrategy(new Region(BASE, WINDOWS * WINDOW), OPTIONS);
    private final Strategy strategy = new PooledStrategy(backing);

    // Slots

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
        final Strategy behind = new TlsfStrategy(new Region(BASE, 8 * WINDOW), OPTIONS.withGranuleBytes(granuleBytes));
        final Strategy pooled = new PooledStrategy(behind);

        pooled.free(pooled.allocate(1));
        pooled.allocate(1);

        assertEquals(blocks(behind), blocks(pooled));
        assertThrows(IllegalArgumentException.class, () -> pooled.allocate(0));
    }

    @Test
    void shouldServePagesFromOneClassIfTheyAreTheGranule() {
        final Strategy behind = new TlsfStrategy(new Region(BASE, 8 * WINDOW), OPTIONS.withGranuleBytes(4096));
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

    /** Enough blocks to fill slabs and the region, and to empty them, many times. */
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

    // Alignment

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

    // Empty slabs

    @Test
    void shouldKeepTheSlabOfASingleBlock() {
        holdLastWindow(strategy);

        for (int i = 0; i < 10; i++) {
            assertEquals(BASE, strategy.allocate(256));
            strategy.free(BASE);
            assertEquals(2, backing.liveBlocks());
        }
        assertEquals((WINDOWS - 1) * WINDOW, strategy.freeBytes());
        assertEquals((WINDOWS - 1) * WINDOW, strategy.largestFreeBlockBytes());
    }

    @Test
    void shouldKeepNoSlabOnceNothingIsInUse() {
        final long small = strategy.allocate(256);
        final long other = strategy.allocate(512);
        final long large = strategy.allocate(WINDOW);
        strategy.free(small);
        strategy.free(other);
        assertEquals(3, backing.liveBlocks());

        strategy.free(large);

        assertEquals(0, backing.liveBlocks());
        assertWhole();
    }

    @Test
    void shouldKeepOneEmptySlabOfEachClass() {
        holdLastWindow(strategy);
        final long[] small = allocate(3 * 64, 256);
        final long[] others = allocate(2 * 64, 512);
        assertEquals(6, backing.liveBlocks());

        freeAll(small);
        freeAll(others);

        assertEquals(3, backing.liveBlocks());
        assertEquals((WINDOWS - 1) * WINDOW, strategy.largestFreeBlockBytes());
    }

    @Test
    void shouldTakeFromAnEmptySlabLast() {
        final long[] addresses = allocate(2 * 64, 256);
        strategy.free(addresses[64]);
        for (int slot = 0; slot < 64; slot++) {
            strategy.free(addresses[slot]);
        }

        assertEquals(addresses[64], strategy.allocate(256));
        assertEquals(addresses[0], strategy.allocate(256));
    }

    @Test
    void shouldGiveBackEmptySlabsForABlockThatDoesNotFitOtherwise() {
        keepEmptySlabs();

        assertEquals(BASE, strategy.allocate((WINDOWS - 1) * WINDOW));

        assertEquals(2, backing.liveBlocks());
        assertEquals(0, strategy.largestFreeBlockBytes());
    }

    @Test
    void shouldKeepEmptySlabsForARequestThatCannotFit() {
        keepEmptySlabs();

        assertEquals(Strategy.NO_SPACE, strategy.allocate(WINDOWS * WINDOW));

        assertEquals(3, backing.liveBlocks());
    }

    @Test
    void shouldGiveBackEmptySlabsForAnAlignedBlockThatDoesNotFitOtherwise() {
        keepEmptySlabs();

        assertEquals(BASE, strategy.allocate(256, WINDOWS * WINDOW));

        assertEquals(2, backing.liveBlocks());
    }

    @Test
    void shouldGiveBackEmptySlabsForASlabOfAnotherClass() {
        final long slot = strategy.allocate(4096);
        strategy.allocate((WINDOWS - 1) * WINDOW);
        strategy.free(slot);

        assertEquals(BASE, strategy.allocate(256));
        assertEquals(BASE + 256, strategy.allocate(256));

        assertEquals(2, backing.liveBlocks());
    }

    @Test
    void shouldGiveBackEmptySlabsToExtend() {
        final long large = strategy.allocate(WINDOW);
        strategy.free(strategy.allocate(256));
        assertEquals(2, backing.liveBlocks());

        assertTrue(strategy.extend(large, WINDOWS * WINDOW));

        assertEquals(List.of("used 0 2097152"), blocks(strategy));
    }

    @Test
    void shouldNotExtendWhereNothingIsFree() {
        final long large = strategy.allocate(WINDOW);
        strategy.allocate(256);

        assertUnchanged(() -> assertFalse(strategy.extend(large, WINDOW + 256)));
    }

    // Where no slab can be had

    @Test
    void shouldHandOutEveryGranuleAsABlockOfItsOwn() {
        int blocks = 0;
        while (strategy.allocate(256) != Strategy.NO_SPACE) {
            blocks++;
        }

        assertEquals(WINDOWS * WINDOW / 256, blocks);
        assertEquals(0, strategy.freeBytes());
        assertEquals(blocks, strategy.liveBlocks());
    }

    @Test
    void shouldMakeSlabsAgainAfter63SmallBlocksWithout() {
        final long large = strategy.allocate(WINDOWS * WINDOW - 256);
        assertEquals(large + WINDOWS * WINDOW - 256, strategy.allocate(256));
        strategy.free(large);

        allocate(63, 256);
        assertEquals(64, backing.liveBlocks());
        allocate(64, 256);

        assertEquals(65, backing.liveBlocks());
        assertEquals(128, strategy.liveBlocks());
    }

    @Test
    void shouldTakeAnExactFitWithoutASlabWhenTheTablesAreFull() {
        final Strategy full = withTablesOf(4);
        final long first = full.allocate(5120);
        full.allocate(5120);
        full.trim(first, 4864);
        final List<String> before = blocks(full);

        assertThrows(BlockTableFullException.class, () -> full.allocate(512));
        assertEquals(before, blocks(full));
        assertEquals(first + 4864, full.allocate(256));
    }

    @Test
    void shouldGiveBackEmptySlabsWhenTheTablesHaveNoRoomForABlock() {
        final Strategy full = withTablesOf(4);
        full.allocate(5120);
        full.free(full.allocate(256));

        assertEquals(BASE + 5120, full.allocate(5120));
    }

    @Test
    void shouldGiveBackEmptySlabsWhenTheTablesHaveNoRoomForATail() {
        final Strategy full = withTablesOf(5);
        final long first = full.allocate(5120);
        full.allocate(5120);
        full.free(full.allocate(256));

        full.trim(first, 4864);

        assertEquals(4864, full.sizeOf(first));
        assertEquals(List.of("used 0 4864", "free 4864 256"), blocks(full).subList(0, 2));
    }

    private static Strategy withTablesOf(final int maxBlocks) {
        final Region region = new Region(BASE, WINDOWS * WINDOW);
        return new PooledStrategy(new TlsfStrategy(region, OPTIONS.withMaxBlocks(maxBlocks)));
    }

    // Wrong addresses

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

        assertRefused(BASE + 256, "it lies in the free block [0x10000000100, 16128 bytes], so it was freed already");
        assertRefused(
                BASE + 63 * 256, "it lies in the free block [0x10000000100, 16128 bytes], so it was freed already");
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

        assertRefused(addresses[0], "it lies in the free block [0x10000000000, 2097152 bytes]");
        assertRefused(addresses[127], "it lies in the free block");
    }

    @Test
    void shouldRefuseTheRestBehindASlab() {
        allocate(64, 256);

        assertRefused(BASE + 64 * 256, "it lies in the free block [0x10000004000, 2080768 bytes]");
    }

    // trim and extend

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

    // Walk and statistics

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
        assertEquals(59, strategy.statistics().liveBlocks());
    }

    @Test
    void shouldNotCountFreeSlotsAsTheLargestFreeBlock() {
        strategy.allocate(4096);
        strategy.allocate((WINDOWS - 1) * WINDOW - 512);

        assertEquals(512, strategy.largestFreeBlockBytes());
        assertEquals(63 * 4096 + 512, strategy.freeBytes());
    }

    /** A backing that rounds up leaves a rest behind the slots; it is free, since giving the slab back frees it. */
    @Test
    void shouldCountTheRestOfASlabAsFree() {
        final Strategy behind = new PowersOfTwo(new Region(BASE, 4 * WINDOW));
        final Strategy pooled = new PooledStrategy(behind);

        final long address = pooled.allocate(768);

        assertEquals(64 * 1024, behind.sizeOf(address));
        assertEquals(List.of("used 0 768", "free 768 64768", "free 65536 983040"), blocks(pooled));
        assertEquals(4 * WINDOW - 768, pooled.freeBytes());
        pooled.free(address);
        assertEquals(4 * WINDOW, pooled.freeBytes());
        assertEquals(4 * WINDOW, pooled.largestFreeBlockBytes());
    }

    // The provider

    @Test
    void shouldBeProvidedOverTlsf() {
        final Region region = VirtualMemorySource.region(1 << 20);

        final Strategy provided = Strategies.named("pooled").create(region, OPTIONS.withGranuleBytes(512));

        assertInstanceOf(PooledStrategy.class, provided);
        assertEquals(region, provided.region());
        assertEquals(512, provided.granuleBytes());
        assertNotEquals(Strategy.NO_SPACE, provided.allocate(1 << 20));
    }

    private long[] allocate(final int count, final long sizeBytes) {
        return LongStream.generate(() -> strategy.allocate(sizeBytes))
                .limit(count)
                .toArray();
    }

    private void freeAll(final long[] addresses) {
        Arrays.stream(addresses).forEach(strategy::free);
    }

    /** Something in use behind all else: without it, empty slabs go back when nothing else is in use. */
    private static void holdLastWindow(final Strategy strategy) {
        final long front = strategy.allocate(strategy.region().sizeBytes() - WINDOW);
        assertEquals(BASE + strategy.region().sizeBytes() - WINDOW, strategy.allocate(WINDOW));
        strategy.free(front);
    }

    private void keepEmptySlabs() {
        holdLastWindow(strategy);
        final long first = strategy.allocate(256);
        final long second = strategy.allocate(1024);
        strategy.free(first);
        strategy.free(second);
        assertEquals(3, backing.liveBlocks());
    }

    private void assertWhole() {
        assertEquals(List.of("free 0 2097152"), blocks(strategy));
        assertEquals(WINDOWS * WINDOW, strategy.freeBytes());
        assertEquals(WINDOWS * WINDOW, strategy.largestFreeBlockBytes());
        assertEquals(0, strategy.liveBlocks());
    }

    private void assertRefused(final long address, final String message) {
        final List<Executable> calls = List.of(
                () -> strategy.free(address),
                () -> strategy.trim(address, 1),
                () -> strategy.extend(address, Long.MAX_VALUE),
                () -> strategy.sizeOf(address));
        for (final Executable call : calls) {
            assertUnchanged(() -> {
                final String thrown = String.valueOf(
                        assertThrows(InvalidAddressException.class, call).getMessage());
                assertTrue(thrown.contains(message), thrown);
            });
        }
    }

    private void assertRefused(final Executable call, final String message) {
        assertUnchanged(() -> assertEquals(
                message, assertThrows(IllegalArgumentException.class, call).getMessage()));
    }

    private void assertUnchanged(final Executable call) {
        final List<String> before = blocks(strategy);
        final long freeBytes = strategy.freeBytes();

        assertDoesNotThrow(call);

        assertEquals(before, blocks(strategy));
        assertEquals(freeBytes, strategy.freeBytes());
    }

    /** What a walk shows, with offsets in place of addresses. */
    private static List<String> blocks(final Strategy strategy) {
        final List<String> blocks = new ArrayList<>();
        strategy.forEachBlock((address, sizeBytes, free) ->
                blocks.add((free ? "free " : "used ") + (address - BASE) + " " + sizeBytes));
        return blocks;
    }

    private static int granule(final long address) {
        return (int) ((address - BASE) / 256);
    }

    private static final class PowersOfTwo extends SegregatedStrategy {

        PowersOfTwo(final Region region) {
            super(region, OPTIONS, new TwoLevelLists());
        }

        @Override
        protected long blockSize(final long size) {
            return size == 1 ? 1 : Long.highestOneBit(size - 1) << 1;
        }
    }
}
