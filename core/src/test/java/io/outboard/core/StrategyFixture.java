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
 * power of two. Where a test is free to choose a size, it takes 1, 2 or 8 granules: all strategies have blocks of these
 * sizes, including binary and Fibonacci buddies.
 */
abstract class StrategyFixture {

    /** The size of the smallest block, in bytes; for most strategies, the granule. */
    static final long GRANULE = 256;

    /** A size of more than a page: each block of this size takes a record, even with pools. */
    static final long LARGE = 32 * GRANULE;

    static final long BASE = (1L << 40) + 3 * GRANULE;

    /** The options have enough blocks for every test that isn't about full tables, and make strategies quickly. */
    static final StrategyOptions OPTIONS =
            StrategyOptions.DEFAULTS.withGranuleBytes(GRANULE).withMaxBlocks(4096);

    /**
     * Makes the strategy under test.
     *
     * @param region the region to divide
     * @param options granule and table sizes
     * @return a new strategy, whose region is all free
     */
    protected abstract Strategy create(Region region, StrategyOptions options);

    /**
     * Tells whether {@link StrategyOptions#maxBlocks} is the exact limit of this strategy's blocks.
     *
     * @return false for a strategy without a table of blocks; tests of full tables are then skipped
     */
    protected boolean hasBlockLimit() {
        return true;
    }

    /**
     * Returns the size of this strategy's smallest block.
     *
     * @return granules; more than 1 for a strategy that can't make blocks of a single granule
     */
    protected int smallestBlockGranules() {
        return 1;
    }

    /**
     * Returns the size of the block that serves a request, where only rounding decides.
     *
     * @param sizeBytes the requested size
     * @param granuleBytes the strategy's granule
     * @return the block's size in bytes
     */
    protected long blockBytes(final long sizeBytes, final long granuleBytes) {
        return Math.max(smallestBlockGranules(), -Math.floorDiv(-sizeBytes, granuleBytes)) * granuleBytes;
    }

    /**
     * Tells whether any two free neighbours merge, so that any size that fits into free memory is granted.
     * @return false for strategies that keep some free neighbours apart, such as buddies, or slots of a pool
     */
    protected boolean coalesces() {
        return true;
    }

    /**
     * Tells whether a request is granted wherever it fits. Other strategies are sure only of a free block that has the
     * size rounded up to a power of two, and what an alignment may cost besides.
     * @return false for strategies that search no list
     */
    protected boolean searches() {
        return true;
    }

    /** Skips a test of a request that fits but isn't sure to be granted. */
    final void assumeSearches() {
        assumeTrue(searches(), "not all that fits is granted");
    }

    /** Returns the size of the largest request that a free block of this size is sure to serve. */
    final long servedBytes(final long freeBytes) {
        return searches() ? freeBytes : Long.highestOneBit(freeBytes / granuleBytes()) * granuleBytes();
    }

    /**
     * Tells whether a request may be served by a block of the next size, where no block of its own is free.
     * @return true for buddies of two systems
     */
    protected boolean mayTakeLarger() {
        return false;
    }

    /** Skips a test that needs all free neighbours to merge, where they don't. */
    final void assumeCoalesces() {
        assumeTrue(coalesces(), "not all free neighbours merge");
    }

    /** Skips a test of a block of this size where the strategy has no such block. */
    final void assumeBlockOf(final long granules) {
        assumeTrue(blockBytes(granules * GRANULE, granuleBytes()) == granules * GRANULE, "rounds up to another size");
    }

    /** Returns the granule with which the smallest block has {@link #GRANULE} bytes. */
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

    /** Cuts all of a fresh strategy into blocks of one granule, and returns their addresses, ascending. */
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
     * Asserts that a strategy is as it started: it has one free block, or the free blocks of a fresh strategy if free
     * neighbours need not merge.
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

    /** Asserts that each call that takes an address refuses this one, names it, and changes nothing. */
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

    /** A state is all that a strategy shows of itself. */
    record State(List<Block> blocks, long freeBytes, int liveBlocks, Statistics statistics) {

        static State of(final Strategy strategy) {
            return new State(Block.of(strategy), strategy.freeBytes(), strategy.liveBlocks(), Statistics.of(strategy));
        }
    }
}
