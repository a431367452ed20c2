package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.function.Executable;

/**
 * This class has what the contract tests share: the factory, and a region that starts at a granule but at no larger
 * power of two. Where a size is free to choose, it is one that every strategy has, binary and Fibonacci buddies too: 1,
 * 2 or 8 granules.
 */
abstract class StrategyFixture {

    /** The smallest block, in bytes; for most strategies that is the granule. */
    static final long GRANULE = 256;

    /** More than a page: each block of this size takes a record, with pools, too. */
    static final long LARGE = 32 * GRANULE;

    static final long BASE = (1L << 40) + 3 * GRANULE;

    /** Enough for every test that isn't about full tables, and quick to make. */
    static final StrategyOptions OPTIONS =
            StrategyOptions.DEFAULTS.withGranuleBytes(GRANULE).withMaxBlocks(4096);

    /**
     * Makes the strategy under test.
     *
     * @param region what to divide
     * @param options granule and table sizes
     * @return a new strategy, all of its region free
     */
    protected abstract Strategy create(Region region, StrategyOptions options);

    /**
     * Tells whether {@link StrategyOptions#maxBlocks} limits the blocks of this strategy, exactly.
     *
     * @return false for a strategy without a table of blocks; tests of full tables are then skipped
     */
    protected boolean hasBlockLimit() {
        return true;
    }

    /**
     * The smallest block of this strategy.
     *
     * @return granules; more than 1 for a strategy that can't make blocks of a single one
     */
    protected int smallestBlockGranules() {
        return 1;
    }

    /**
     * The block that serves a request, where it is a matter of rounding alone.
     *
     * @param sizeBytes what is asked for
     * @param granuleBytes the strategy's granule
     * @return the block's size in bytes
     */
    protected long blockBytes(final long sizeBytes, final long granuleBytes) {
        return Math.max(smallestBlockGranules(), -Math.floorDiv(-sizeBytes, granuleBytes)) * granuleBytes;
    }

    /**
     * Tells whether any two free neighbours merge, so that whatever fits into free memory is granted.
     *
     * @return false for strategies that keep free neighbours apart, as buddies do and slots of a pool
     */
    protected boolean coalesces() {
        return true;
    }

    /** Skips a test of what needs any two free neighbours to merge, where they don't. */
    final void assumeCoalesces() {
        assumeTrue(coalesces(), "not all free neighbours merge");
    }

    /** Skips a test of a block of this size where the strategy has no such block. */
    final void assumeBlockOf(final long granules) {
        assumeTrue(blockBytes(granules * GRANULE, granuleBytes()) == granules * GRANULE, "rounds up to another size");
    }

    /** The granule whose smallest block has {@link #GRANULE} bytes. */
    final long granuleBytes() {
        return GRANULE / smallestBlockGranules();
    }

    final Strategy make(final Region region) {
        return make(region, OPTIONS);
    }

    final Strategy make(final Region region, final StrategyOptions options) {
        return create(region, options.withGranuleBytes(granuleBytes()));
    }

    final Strategy ofGranules(final long granules) {
        return make(new Region(BASE, granules * GRANULE));
    }

    /** Cuts all of a fresh strategy into blocks of one granule. Their addresses, ascending. */
    final long[] fill(final Strategy strategy) {
        final long[] addresses = new long[(int) (strategy.region().sizeBytes() / GRANULE)];
        for (int i = 0; i < addresses.length; i++) {
            addresses[i] = strategy.allocate(GRANULE);
        }
        Arrays.sort(addresses);
        assertEquals(strategy.region().address(), addresses[0]);
        assertEquals(0, strategy.freeBytes());
        return addresses;
    }

    static long largestFreeBytes(final Strategy strategy) {
        return Statistics.of(strategy).largestFreeBlockBytes();
    }

    /**
     * Asserts that a strategy is as it started: one free block, or the free blocks of a fresh strategy if those need
     * not merge.
     */
    final void assertWhole(final Strategy strategy) {
        final Region region = strategy.region();
        final List<Block> whole = List.of(Block.free(region.address(), region.sizeBytes() & -strategy.granuleBytes()));
        final Strategy fresh = create(region, OPTIONS.withGranuleBytes(strategy.granuleBytes()));
        final List<Block> blocks = Block.of(strategy);
        assertEquals(whole, Block.merged(blocks));
        assertEquals(coalesces() ? whole : Block.of(fresh), blocks);
        assertEquals(whole.get(0).sizeBytes(), strategy.freeBytes());
        assertEquals(largestFreeBytes(fresh), largestFreeBytes(strategy));
        assertEquals(0, strategy.liveBlocks());
    }

    static <T extends Throwable> T assertThrowsUnchanged(
            final Class<T> type, final Strategy strategy, final Executable call) {
        final State before = State.of(strategy);

        final T thrown = assertThrows(type, call);

        assertEquals(before, State.of(strategy));
        return thrown;
    }

    static void assertNoSpaceUnchanged(final Strategy strategy, final long sizeBytes, final long alignmentBytes) {
        final State before = State.of(strategy);

        assertEquals(Strategy.NO_SPACE, strategy.allocate(sizeBytes, alignmentBytes));

        assertEquals(before, State.of(strategy));
    }

    /** Each call that takes an address must refuse this one, name it, and change nothing. */
    static InvalidAddressException assertRefused(final Strategy strategy, final long address) {
        assertInvalid(strategy, address, () -> strategy.trim(address, 1));
        assertInvalid(strategy, address, () -> strategy.extend(address, GRANULE));
        assertInvalid(strategy, address, () -> strategy.sizeOf(address));
        assertInvalid(strategy, address, () -> strategy.retire(address));
        return assertInvalid(strategy, address, () -> strategy.free(address));
    }

    private static InvalidAddressException assertInvalid(
            final Strategy strategy, final long address, final Executable call) {
        final InvalidAddressException thrown = assertThrowsUnchanged(InvalidAddressException.class, strategy, call);
        assertEquals(address, thrown.address());
        assertMessage(thrown, "address=0x" + Long.toHexString(address) + " must be the start of a block in use: ");
        return thrown;
    }

    static void assertMessage(final Throwable thrown, final String part) {
        final String message = String.valueOf(thrown.getMessage());
        assertTrue(message.contains(part), () -> "\"" + part + "\" isn't in \"" + message + "\"");
    }

    /** All that a strategy shows of itself. */
    record State(List<Block> blocks, long freeBytes, int liveBlocks, Statistics statistics) {

        static State of(final Strategy strategy) {
            return new State(Block.of(strategy), strategy.freeBytes(), strategy.liveBlocks(), Statistics.of(strategy));
        }
    }
}
