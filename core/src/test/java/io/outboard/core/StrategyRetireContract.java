package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * These tests say what {@link Strategy#retire}, {@link Strategy#release} and {@link Strategy#restore} promise: a free
 * in two halves.
 */
abstract class StrategyRetireContract extends StrategyResizeContract {

    /** Makes a strategy that can retire parts of blocks, or skips the test. */
    private PartRetiringStrategy retiringParts(final long granules) {
        final Strategy strategy = ofGranules(granules);
        assumeTrue(strategy instanceof PartRetiringStrategy, "retires whole blocks alone");
        return (PartRetiringStrategy) strategy;
    }

    @Test
    void shouldKeepTheMemoryOfARetiredBlockTaken() {
        final Strategy strategy = ofGranules(8);
        final long address = strategy.allocate(8 * GRANULE);

        strategy.retire(address);

        assertEquals(List.of(Block.used(address, 8 * GRANULE)), Block.of(strategy));
        assertEquals(0, strategy.freeBytes());
        assertEquals(0, largestFreeBytes(strategy));
        assertEquals(1, strategy.liveBlocks());
        assertEquals(Strategy.NO_SPACE, strategy.allocate(1));
    }

    @Test
    void shouldRefuseEveryCallOnARetiredBlock() {
        final Strategy strategy = ofGranules(3);
        final long[] addresses = fill(strategy);
        strategy.retire(addresses[1]);

        final Throwable thrown = assertRefused(strategy, addresses[1]);

        assertMessage(
                thrown,
                "it was freed already, and the memory of its block [0x" + Long.toHexString(addresses[1])
                        + ", 256 bytes] isn't released yet");
    }

    @Test
    void shouldKeepTheTailTakenUntilItIsReleased() {
        final PartRetiringStrategy strategy = retiringParts(16);
        final long address = strategy.allocate(8 * GRANULE);
        final long before = strategy.sizeOf(address);
        final long freeBytes = strategy.freeBytes();

        final long tail = strategy.retireTail(address, 2 * GRANULE);

        assertEquals(freeBytes, strategy.freeBytes());
        if (tail == PartRetiringStrategy.NO_TAIL) {
            assertEquals(before, strategy.sizeOf(address), "it keeps all of it");
        } else {
            final long kept = strategy.sizeOf(address);
            assertEquals(before - kept, strategy.retiredBytes(tail));
            assertEquals(address + kept, strategy.retiredAddress(tail));
            assertRefused(strategy, address + kept);
            assertEquals(before - kept, strategy.release(tail));
            assertEquals(freeBytes + before - kept, strategy.freeBytes());
        }
        assertThrows(IllegalArgumentException.class, () -> strategy.retireTail(address, 0));
        assertThrows(IllegalArgumentException.class, () -> strategy.retireTail(address, before + GRANULE));
        assertThrows(InvalidAddressException.class, () -> strategy.retireTail(address + GRANULE, 1));
        strategy.free(address);
        assertEquals(0, strategy.liveBlocks());
        assertEquals(address, strategy.allocate(8 * GRANULE));
    }

    @Test
    void shouldRefuseAnAddressInsideARetiredBlock() {
        final Strategy strategy = ofGranules(16);
        final long address = strategy.allocate(8 * GRANULE);
        strategy.retire(address);

        final Throwable thrown = assertRefused(strategy, address + 2 * GRANULE);

        assertMessage(
                thrown,
                "it lies 512 bytes inside the block [0x" + Long.toHexString(address)
                        + ", 2KiB], which was freed already and isn't released yet");
    }

    @Test
    void shouldRefuseToRetireWhatWasFreed() {
        final Strategy strategy = ofGranules(3);
        final long[] addresses = fill(strategy);
        strategy.free(addresses[1]);

        final Throwable thrown = assertRefused(strategy, addresses[1]);

        assertMessage(thrown, "it lies in the free block");
    }

    @Test
    void shouldTellTheSizeAndTheAddressOfARetiredBlock() {
        final Strategy strategy = ofGranules(16);
        final long one = strategy.allocate(8 * GRANULE);
        final long other = strategy.allocate(2 * GRANULE);

        final long retiredOne = strategy.retire(one);
        final long retiredOther = strategy.retire(other);

        assertNotEquals(retiredOne, retiredOther);
        assertEquals(8 * GRANULE, strategy.retiredBytes(retiredOne));
        assertEquals(one, strategy.retiredAddress(retiredOne));
        assertEquals(2 * GRANULE, strategy.retiredBytes(retiredOther));
        assertEquals(other, strategy.retiredAddress(retiredOther));
    }

    @Test
    void shouldMergeOnReleaseAndNotBefore() {
        assumeCoalesces();
        final Strategy strategy = ofGranules(5);
        final long[] addresses = fill(strategy);
        final long retired = strategy.retire(addresses[2]);
        strategy.free(addresses[1]);
        strategy.free(addresses[3]);
        assertEquals(GRANULE, largestFreeBytes(strategy));

        assertEquals(GRANULE, strategy.release(retired));

        assertEquals(
                List.of(
                        Block.used(addresses[0], GRANULE),
                        Block.free(addresses[1], 3 * GRANULE),
                        Block.used(addresses[4], GRANULE)),
                Block.of(strategy));
        assertEquals(3 * GRANULE, strategy.freeBytes());
        assertEquals(2, strategy.liveBlocks());
    }

    @Test
    void shouldServeTheMemoryOfAReleasedBlockAgain() {
        final Strategy strategy = ofGranules(64);
        final long[] addresses = fill(strategy);
        final long retired = strategy.retire(addresses[17]);
        assertEquals(Strategy.NO_SPACE, strategy.allocate(GRANULE));

        strategy.release(retired);

        assertEquals(addresses[17], strategy.allocate(GRANULE));
        strategy.free(addresses[17]);
    }

    @Test
    void shouldRefuseASecondFreeAfterRelease() {
        final Strategy strategy = ofGranules(3);
        final long[] addresses = fill(strategy);
        strategy.release(strategy.retire(addresses[1]));

        final Throwable thrown = assertRefused(strategy, addresses[1]);

        assertMessage(thrown, "it lies in the free block");
    }

    @Test
    void shouldPutARestoredBlockInUseUnderItsAddress() {
        final Strategy strategy = ofGranules(16);
        final long address = strategy.allocate(8 * GRANULE);
        final long freeBytes = strategy.freeBytes();
        final List<Block> blocks = Block.of(strategy);

        assertEquals(address, strategy.restore(strategy.retire(address)));

        assertEquals(8 * GRANULE, strategy.sizeOf(address));
        assertEquals(blocks, Block.of(strategy));
        assertEquals(freeBytes, strategy.freeBytes());
        assertEquals(1, strategy.liveBlocks());
        strategy.trim(address, 2 * GRANULE);
        strategy.free(address);
        assertWhole(strategy);
    }

    @Test
    void shouldRetireARestoredBlockAgain() {
        final Strategy strategy = ofGranules(3);
        final long[] addresses = fill(strategy);
        strategy.restore(strategy.retire(addresses[1]));

        final long retired = strategy.retire(addresses[1]);

        assertRefused(strategy, addresses[1]);
        assertEquals(addresses[1], strategy.retiredAddress(retired));
        strategy.release(retired);
        assertEquals(GRANULE, strategy.freeBytes());
    }

    @Test
    void shouldNotExtendIntoARetiredBlock() {
        final Strategy strategy = ofGranules(3);
        final long[] addresses = fill(strategy);
        strategy.retire(addresses[1]);

        assertFalse(strategy.extend(addresses[0], 2 * GRANULE));
    }

    @Test
    void shouldExtendIntoAReleasedBlock() {
        final Strategy strategy = ofGranules(4);
        final long[] addresses = fill(strategy);
        strategy.release(strategy.retire(addresses[1]));

        assertTrue(strategy.extend(addresses[0], 2 * GRANULE));
    }

    /** When a block is released, each of its neighbours may be in use, free or retired. */
    @Test
    void shouldBeWholeAgainInWhateverOrderBlocksAreRetiredAndReleased() {
        for (int seed = 0; seed < 20; seed++) {
            final Strategy strategy = ofGranules(300);
            final List<Long> addresses = Arrays.stream(fill(strategy)).boxed().collect(Collectors.toList());
            Collections.shuffle(addresses, new Random(seed));
            final List<Long> retired =
                    addresses.subList(0, 200).stream().map(strategy::retire).collect(Collectors.toList());
            Collections.shuffle(retired, new Random(seed));

            for (int i = 0; i < 200; i++) {
                strategy.release(retired.get(i));
                if (i % 2 == 0) {
                    strategy.free(addresses.get(200 + i / 2));
                }
            }

            assertWhole(strategy);
        }
    }

    /** No list holds blocks of such a size, so the search must look into no list, and nowhere else. */
    @Test
    void shouldShowNoFreeBlockAsLargeAsNone() {
        final PartRetiringStrategy strategy = retiringParts(4000);
        assertNotEquals(Strategy.NO_SPACE, strategy.allocate(GRANULE));

        for (int log2 = 21; log2 < Long.SIZE; log2++) {
            final long leastBytes = log2 == Long.SIZE - 1 ? Long.MAX_VALUE : 1L << log2;
            assertTimeoutPreemptively(
                    Duration.ofSeconds(10),
                    () -> strategy.forEachFree(leastBytes, (block, address, sizeBytes) -> fail(leastBytes + " bytes")));
        }
    }

    @Test
    void shouldReleaseAllAsOneByOne() {
        final Strategy oneByOne = ofGranules(4000);
        final Strategy together = ofGranules(4000);
        final Random random = new Random(7);
        final long[] addresses = new long[300];
        for (int i = 0; i < addresses.length; i++) {
            final long sizeBytes = GRANULE * (1 + random.nextInt(12));
            addresses[i] = oneByOne.allocate(sizeBytes);
            assertEquals(addresses[i], together.allocate(sizeBytes));
        }
        final long[] retired = new long[102];
        for (int i = 0; i < 100; i++) {
            final long address = addresses[3 * i + random.nextInt(3)];
            retired[1 + i] = together.retire(address);
            oneByOne.release(oneByOne.retire(address));
        }

        together.releaseAll(retired, 1, 101);

        assertEquals(Block.of(oneByOne), Block.of(together));
        assertEquals(oneByOne.freeBytes(), together.freeBytes());
        assertEquals(oneByOne.liveBlocks(), together.liveBlocks());
        for (long sizeBytes = GRANULE; sizeBytes < 12 * GRANULE; sizeBytes += GRANULE) {
            assertEquals(oneByOne.allocate(sizeBytes), together.allocate(sizeBytes));
        }
    }

    /**
     * The name of a retired block stays valid whatever happens to other blocks, and no two retired blocks share a name.
     */
    @Test
    void shouldNameRetiredBlocksWhateverElseHappens() {
        final Strategy strategy = make(new Region(BASE, OperationMix.REGION_BYTES));
        final long[] addresses = new long[40];
        final long[] retired = new long[40];
        for (int i = 0; i < 40; i++) {
            addresses[i] = strategy.allocate((i % 8 + 1) * GRANULE);
            strategy.allocate(GRANULE);
        }
        for (int i = 0; i < 40; i++) {
            retired[i] = strategy.retire(addresses[i]);
        }

        final OperationMix operations = new OperationMix(5);
        operations.run(strategy, new long[20_000]);

        final Set<Long> names = new HashSet<>();
        for (int i = 0; i < 40; i++) {
            assertEquals(addresses[i], strategy.retiredAddress(retired[i]));
            assertEquals(blockBytes((i % 8 + 1) * GRANULE, granuleBytes()), strategy.retiredBytes(retired[i]));
            assertTrue(retired[i] >= 0 && retired[i] < 1L << 48);
            assertTrue(names.add(retired[i]));
            assertEquals(addresses[i], strategy.restore(retired[i]));
        }
        operations.freeAll(strategy);
        for (final Block block : Block.of(strategy)) {
            if (!block.free()) {
                strategy.release(strategy.retire(block.address()));
            }
        }
        assertWhole(strategy);
    }

    @Test
    void shouldRetireAndReleaseWhenTheTablesAreFull() {
        final Strategy strategy = withFullTables();
        final int liveBlocks = strategy.liveBlocks();
        final long[] retired =
                Arrays.stream(liveAddresses(strategy)).map(strategy::retire).toArray();
        assertEquals(liveBlocks, strategy.liveBlocks());

        for (final long block : retired) {
            strategy.release(block);
        }

        assertWhole(strategy);
    }

    @Test
    void shouldPlaceBlocksAsANewOneOnceEverythingIsReleased() {
        final Strategy strategy = ofGranules(64);
        final long first = strategy.allocate(8 * GRANULE);
        final long second = strategy.allocate(2 * GRANULE);
        strategy.release(strategy.retire(first));

        strategy.release(strategy.retire(second));

        assertWhole(strategy);
        assertEquals(first, strategy.allocate(8 * GRANULE));
        assertEquals(second, strategy.allocate(2 * GRANULE));
    }
}
