package io.outboard.hal;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.BlockVisitor;
import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;
import io.outboard.core.spi.AbstractStrategy;
import org.jspecify.annotations.Nullable;

/**
 * This strategy keeps one bit for each granule and nothing for a block, and searches by next fit: Bell, Kumar and Gill
 * (2024), section III-B, with summaries of the bits after Springer (DynaSOAR, 2019), section 3.
 *
 * <p>The bits belong to the <em>boundaries</em> between granules, of which n granules have n + 1 ({@code
 * docs/errata.md} says why not to the granules, as in the paper): a bit is 0 if a block in use lies on both sides of
 * the boundary, else 1.
 *
 * <pre>
 *   boundary   0   1   2   3   4   5   6   7   8   9  10
 *   bit        1   0   0   1   0   1   1   1   1   0   1
 *   blocks     |  in use   |in use |   free    |in use |
 * </pre>
 *
 * <p>A block in use of k granules is k - 1 zeros between two ones; k free granules are k + 1 ones. From any block's
 * start on, a 0 comes next if the block is in use, and its end is the next 1; else the block is free, and ends at the
 * last 1 of the run. That is exact as long as no block in use has a single granule, which would look like a free one:
 * <strong>so the smallest block has two granules</strong>. By counting, this is the best there is: the ways to divide
 * n granules into free ones and blocks of two and more grow as 2^n, so one bit a granule is the least that tells them
 * apart; with blocks of one granule, the ways grow as 2.618^n. A free granule between two blocks in use serves nobody
 * until one of them is freed.
 *
 * <ol>
 *   <li><b>allocate</b> of k granules finds k + 1 ones in a row from where the block taken last ended: in the run
 *       around that place first, all of it, then in those behind, then in those from the region's start on. It takes
 *       the run's first k granules and clears the k - 1 bits inside.
 *   <li><b>free</b> checks that a one and a zero are there, finds the next one and sets the bits between. Free
 *       neighbours merge by that alone.
 *   <li><b>retire</b> sets a bit in a bitmap of its own, in which two boundaries share one: blocks have two granules
 *       and more, so at most one of the two is a block's start. <b>release</b> clears it and frees the block.
 *   <li><b>trim</b> sets the bits of the tail, its new end first; <b>extend</b> clears those from the old end on, if
 *       they are ones up to the new.
 * </ol>
 *
 * <p>Thread-safety: confined to one thread. Cost: free, trim and extend write at most two cache lines and three bits
 * for 512 granules of the block, and nothing depends on the number of blocks. Allocate takes the same, and the search,
 * which has no bound but the region: stretches in use cost a word for 64 nodes of 512 granules and more, however small
 * the blocks; where free blocks that are too small lie everywhere, every word is read once, or one for 64 nodes if the
 * request is large. Host memory: 1.57 % of the region with granules of 8 bytes, 0.05 % with 256, whatever lives in it,
 * and half of that again from the first block on that is retired. In a region of 2^30 granules and more, that is the
 * most: the strategy starts with 3 MiB or less, and takes 64 KiB when a block first begins or ends among 2^19 granules.
 * If the JVM has no more, the call throws {@link OutOfMemoryError}, and nothing changes. {@link
 * StrategyOptions#maxBlocks} means nothing here, and no {@link BlockTableFullException} is thrown. When nothing fits,
 * the strategy returns {@link #NO_SPACE}, and only then: whatever fits between blocks in use is granted.
 */
public final class BitmaskStrategy extends AbstractStrategy {

    /** The size of the smallest block, in granules. */
    static final int SMALLEST_BLOCK = 2;

    /** From so many granules on, bits are made by the page: all of them at once have 128 MiB. */
    private static final long PAGED_FROM = 1L << 30;

    private final BoundaryBitmap boundaries;

    /** Bit i is set if the block in use that starts at boundary 2 i or 2 i + 1 is retired; null until one is. */
    private @Nullable BoundaryBitmap retiredStarts;

    /** The boundary where the block taken last ended. */
    private long rover;

    private int liveBlocks;

    /**
     * Makes a strategy over a region, all of it free.
     *
     * @param region what to divide: at least two granules, fewer than 2^32, starting at a multiple of the granule
     * @param options the granule
     * @throws IllegalArgumentException if the region is outside of these bounds
     */
    public BitmaskStrategy(final Region region, final StrategyOptions options) {
        super(region, options);
        if (granules() < SMALLEST_BLOCK) {
            throw new IllegalArgumentException("region=" + region + " must have at least 2 granules of "
                    + options.granuleBytes() + " bytes: choose a smaller granule");
        }
        boundaries = bitmap(granules() + 1);
        boundaries.setRange(0, granules() + 1);
    }

    private BoundaryBitmap bitmap(final long length) {
        return granules() < PAGED_FROM ? new BoundaryBitmap(length) : new PagedBitmap(length, PagedBitmap.PAGE_WORDS);
    }

    @Override
    protected long blockSize(final long size) {
        return Math.max(size, SMALLEST_BLOCK);
    }

    @Override
    protected long place(final long size) {
        final long from = roverRun();
        long start = boundaries.findRun(from, boundaries.length(), size + 1);
        if (start == BoundaryBitmap.NONE) {
            start = boundaries.findRun(0, from, size + 1);
        }
        return take(start, size);
    }

    @Override
    protected long placeAligned(final long size, final long alignmentMask) {
        final long from = roverRun();
        long start = findAligned(from, boundaries.length(), size, alignmentMask);
        if (start == BoundaryBitmap.NONE) {
            start = findAligned(0, from, size, alignmentMask);
        }
        return take(start, size);
    }

    /** Finds the start of the run that the rover is in: blocks in front of the rover may have been freed since. */
    private long roverRun() {
        if (liveBlocks == 0) {
            // A new strategy begins here, too.
            rover = 0;
        }
        return boundaries.previousZero(rover) + 1;
    }

    private long findAligned(final long from, final long limit, final long size, final long alignmentMask) {
        long run = boundaries.findRun(from, limit, size + 1);
        while (run != BoundaryBitmap.NONE) {
            final long start = run + padding(run, alignmentMask);
            final long end = boundaries.nextZero(run);
            if (start + size < end) {
                return start;
            }
            run = boundaries.findRun(end, limit, size + 1);
        }
        return BoundaryBitmap.NONE;
    }

    private long take(final long start, final long size) {
        if (start == BoundaryBitmap.NONE) {
            return NO_SPACE;
        }
        boundaries.clearRange(start + 1, start + size);
        rover = start + size;
        liveBlocks++;
        return start;
    }

    @Override
    protected long end(final int start) {
        final long from = Integer.toUnsignedLong(start);
        final long end = endOfBlockAt(from);
        return end == BoundaryBitmap.NONE ? 0 : makeFree(from, end);
    }

    private long makeFree(final long start, final long end) {
        boundaries.setRange(start + 1, end);
        liveBlocks--;
        return end - start;
    }

    @Override
    protected long withdraw(final int start) {
        final long from = Integer.toUnsignedLong(start);
        if (endOfBlockAt(from) == BoundaryBitmap.NONE) {
            return NO_BLOCK;
        }
        final long pair = from >>> 1;
        retiredStarts().setRange(pair, pair + 1);
        return from;
    }

    @Override
    protected long endRetired(final long retired) {
        readmit(retired);
        return makeFree(retired, boundaries.nextOne(retired + 1));
    }

    @Override
    protected void readmit(final long retired) {
        assert isRetired(retired) : "retired=" + retired + " must name a retired block";
        final long pair = retired >>> 1;
        retiredStarts().clearRange(pair, pair + 1);
    }

    @Override
    protected long retiredStart(final long retired) {
        assert isRetired(retired) : "retired=" + retired + " must name a retired block";
        return retired;
    }

    @Override
    protected long retiredSize(final long retired) {
        return boundaries.nextOne(retired + 1) - retiredStart(retired);
    }

    private BoundaryBitmap retiredStarts() {
        BoundaryBitmap starts = retiredStarts;
        if (starts == null) {
            // A block has two granules at least, so none starts at the last one.
            starts = bitmap(granules() >>> 1);
            retiredStarts = starts;
        }
        return starts;
    }

    /**
     * Computes the bit of a boundary at which a block starts. The boundary's neighbour, which has the same bit, is
     * inside of this block or before it.
     */
    private boolean isRetired(final long start) {
        return retiredStarts != null && retiredStarts.get(start >>> 1);
    }

    @Override
    protected long sizeAt(final int start) {
        final long from = Integer.toUnsignedLong(start);
        final long end = endOfBlockAt(from);
        return end == BoundaryBitmap.NONE ? 0 : end - from;
    }

    /** Finds where the block in use ends that starts at a boundary; none if none starts there. */
    private long endOfBlockAt(final long start) {
        if (start >= granules() || !boundaries.get(start) || boundaries.get(start + 1) || isRetired(start)) {
            return BoundaryBitmap.NONE;
        }
        return boundaries.nextOne(start + 1);
    }

    @Override
    protected void shrink(final int start, final long size, final long newSize) {
        final long from = Integer.toUnsignedLong(start);
        boundaries.setRange(from + newSize, from + size);
    }

    @Override
    protected boolean grow(final int start, final long size, final long newSize) {
        final long end = Integer.toUnsignedLong(start) + size;
        final long newEnd = end - size + newSize;
        if (boundaries.nextZero(end) <= newEnd) {
            return false;
        }
        boundaries.clearRange(end, newEnd);
        return true;
    }

    @Override
    public int liveBlocks() {
        return liveBlocks;
    }

    @Override
    public long hostBytes() {
        return boundaries.hostBytes() + (retiredStarts == null ? 0 : retiredStarts.hostBytes());
    }

    @Override
    public void forEachBlock(final BlockVisitor visitor) {
        long start = 0;
        while (start < granules()) {
            final boolean free = boundaries.get(start + 1);
            final long end = free ? boundaries.nextZero(start) - 1 : boundaries.nextOne(start + 1);
            show(visitor, start, end - start, free);
            start = end;
        }
    }
}
