package io.outboard.tlsf;

import io.outboard.core.BlockTable;
import io.outboard.core.BlockTableFullException;
import io.outboard.core.BlockVisitor;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;

/**
 * Two-level segregated fit with all metadata in host memory, found through a hash table.
 *
 * <p>Bell, Kumar and Gill (2024), section V-B, on Masmano, Ripoll, Crespo and Real (2004). Free blocks are in lists by
 * size; two bitmaps find the first list in which every block fits:
 *
 * <ol>
 *   <li><b>allocate</b> takes the first block of that list, cuts it to size, and puts the rest into the list of its size.
 *   <li><b>free</b> finds the block's record by address, merges it with free neighbours on both sides, and puts it first
 *       in the list of its size.
 * </ol>
 *
 * <p>Where we deviate. From Bell et al.: records name each other by position, not by address (see {@link BlockTable}).
 * From Masmano et al.: when no list guarantees a fit, the request's own list, in which only some blocks fit, is searched
 * for up to 64 steps before the answer is {@link #NO_SPACE}; a block can then be left unused though it fits, but only
 * behind 64 that don't.
 *
 * <p>Thread-safety: confined to one thread. Cost: O(1), with no loop over blocks but that bounded one, for what is done
 * to a block; O(1) expected for finding it by address, as hash tables are. Some 40 bytes of host memory for each block
 * that the tables can hold, free or in use. Internal fragmentation is what rounding up to a granule costs. When nothing
 * fits, {@link #NO_SPACE}.
 */
public final class TlsfStrategy implements Strategy {

    private final Region region;
    private final long regionAddress;
    private final long regionBytes;
    private final long granuleMask;
    private final int granuleLog2;
    private final BlockTable table;
    private final FreeLists lists;
    private long freeGranules;

    /**
     * Makes one over a region, all of it free.
     *
     * @param region what to divide: at least one granule, fewer than 2^32, starting at a multiple of the granule
     * @param options granule and table size
     * @throws IllegalArgumentException if the region is outside of these bounds
     */
    public TlsfStrategy(final Region region, final StrategyOptions options) {
        granuleMask = options.granuleBytes() - 1;
        granuleLog2 = Long.numberOfTrailingZeros(options.granuleBytes());
        final long granules = region.sizeBytes() >>> granuleLog2;
        checkRegion(region, granules, options.granuleBytes());
        this.region = region;
        regionAddress = region.address();
        regionBytes = granules << granuleLog2;
        table = new BlockTable(options.maxBlocks(), FreeLists.LISTS);
        lists = new FreeLists();
        freeGranules = granules;
        final int whole = table.create(0, (int) granules);
        table.insertAfter(whole, BlockTable.NONE);
        lists.insert(table, whole);
    }

    @Override
    public long allocate(final long sizeBytes) {
        if (sizeBytes <= 0 || sizeBytes > regionBytes) {
            checkSize(sizeBytes);
            return NO_SPACE;
        }
        final long size = (sizeBytes + granuleMask) >>> granuleLog2;
        final int fitting = FreeLists.listFitting(size);
        final int list = lists.findNonEmpty(fitting);
        if (list == FreeLists.NO_LIST) {
            final int block = lists.search(table, size, 0, 0);
            return block == BlockTable.NONE ? NO_SPACE : takeFront(block, (int) size);
        }
        final int block = table.next(table.head(list));
        if (list < FreeLists.FIRST_WIDE_LIST && list == fitting) {
            // An exact fit, known before the block's record arrives from memory, which is common for small sizes.
            lists.remove(table, block);
            return enter(block, table.start(block), (int) size);
        }
        return takeFront(block, (int) size);
    }

    @Override
    public long allocate(final long sizeBytes, final long alignmentBytes) {
        checkSize(sizeBytes);
        checkAlignment(alignmentBytes);
        if (alignmentBytes - 1 <= granuleMask) {
            return allocate(sizeBytes);
        }
        if (sizeBytes > regionBytes) {
            return NO_SPACE;
        }
        final long size = (sizeBytes + granuleMask) >>> granuleLog2;
        final long alignmentMask = (alignmentBytes >>> granuleLog2) - 1;
        final int block = findAligned(size, alignmentMask);
        if (block == BlockTable.NONE) {
            return NO_SPACE;
        }
        final int padding = (int) padding(block, alignmentMask);
        if (padding == 0) {
            return takeFront(block, (int) size);
        }
        return takeInside(block, padding, (int) size);
    }

    @Override
    public void free(final long address) {
        final int block = table.remove(startOf(address));
        if (block == BlockTable.NONE) {
            throw InvalidAddressException.of(this, address);
        }
        final int size = table.size(block);
        freeGranules += Integer.toUnsignedLong(size);
        release(block, table.start(block), size);
    }

    @Override
    public void trim(final long address, final long newSizeBytes) {
        final int block = find(address);
        final long size = Integer.toUnsignedLong(table.size(block));
        if (newSizeBytes <= 0 || newSizeBytes > size << granuleLog2) {
            throw new IllegalArgumentException(
                    "newSizeBytes=" + newSizeBytes + " must be > 0 and <= the block's size, " + (size << granuleLog2));
        }
        final long kept = (newSizeBytes + granuleMask) >>> granuleLog2;
        if (kept < size) {
            moveEnd(block, (int) kept, (int) (size - kept));
        }
    }

    @Override
    public boolean extend(final long address, final long newSizeBytes) {
        final int block = find(address);
        final long size = Integer.toUnsignedLong(table.size(block));
        if (newSizeBytes <= (size - 1) << granuleLog2) {
            throw new IllegalArgumentException("newSizeBytes=" + newSizeBytes + " must be > "
                    + ((size - 1) << granuleLog2) + ", since the block has " + (size << granuleLog2) + " bytes");
        }
        if (newSizeBytes > regionBytes) {
            return false;
        }
        final long more = ((newSizeBytes + granuleMask) >>> granuleLog2) - size;
        final int after = table.after(block);
        if (more > 0 && (!table.isFree(after) || Integer.toUnsignedLong(table.size(after)) < more)) {
            return false;
        }
        if (more > 0) {
            lists.remove(table, after);
            final int rest = table.size(after) - (int) more;
            if (rest == 0) {
                table.join(block, table.after(after));
                table.discard(after);
            } else {
                table.setRange(after, table.start(after) + (int) more, rest);
                lists.insert(table, after);
            }
            table.setRange(block, table.start(block), (int) (size + more));
            freeGranules -= more;
        }
        return true;
    }

    @Override
    public long sizeOf(final long address) {
        return Integer.toUnsignedLong(table.size(find(address))) << granuleLog2;
    }

    @Override
    public Region region() {
        return region;
    }

    @Override
    public long granuleBytes() {
        return granuleMask + 1;
    }

    @Override
    public long freeBytes() {
        return freeGranules << granuleLog2;
    }

    @Override
    public long largestFreeBlockBytes() {
        return lists.largest(table) << granuleLog2;
    }

    @Override
    public int liveBlocks() {
        return table.entered();
    }

    @Override
    public long hostBytes() {
        return table.hostBytes() + FreeLists.HOST_BYTES;
    }

    @Override
    public void forEachBlock(final BlockVisitor visitor) {
        for (int block = table.after(BlockTable.NONE); block != BlockTable.NONE; block = table.after(block)) {
            visitor.visit(
                    addressOf(table.start(block)),
                    Integer.toUnsignedLong(table.size(block)) << granuleLog2,
                    table.isFree(block));
        }
    }

    /** Takes the first granules of a free block that has enough; what is left over stays free. */
    private long takeFront(final int block, final int size) {
        final int start = table.start(block);
        final int rest = table.size(block) - size;
        if (rest == 0) {
            lists.remove(table, block);
        } else {
            checkRoomFor(1);
            lists.remove(table, block);
            final int tail = table.create(start + size, rest);
            table.insertAfter(tail, block);
            table.setRange(block, start, size);
            lists.insert(table, tail);
        }
        return enter(block, start, size);
    }

    /** Takes granules out of a free block, from {@code padding} on; what is in front, and left over, stays free. */
    private long takeInside(final int block, final int padding, final int size) {
        final int start = table.start(block);
        final int rest = table.size(block) - padding - size;
        checkRoomFor(rest == 0 ? 1 : 2);
        lists.remove(table, block);
        table.setRange(block, start, padding);
        lists.insert(table, block);
        final int taken = table.create(start + padding, size);
        table.insertAfter(taken, block);
        if (rest != 0) {
            final int tail = table.create(start + padding + size, rest);
            table.insertAfter(tail, taken);
            lists.insert(table, tail);
        }
        return enter(taken, start + padding, size);
    }

    private long enter(final int block, final int start, final int size) {
        table.enter(block);
        freeGranules -= Integer.toUnsignedLong(size);
        return addressOf(start);
    }

    /** A block in which {@code size} granules fit, the first of them aligned, or none. */
    private int findAligned(final long size, final long alignmentMask) {
        int block = lists.findFitting(table, size);
        if (block == BlockTable.NONE
                || padding(block, alignmentMask) + size > Integer.toUnsignedLong(table.size(block))) {
            // Any block that has room for the worst padding will do; if none has, one that happens to fit.
            final long worst = size + alignmentMask;
            block = worst <= regionBytes >>> granuleLog2 ? lists.findFitting(table, worst) : BlockTable.NONE;
            if (block == BlockTable.NONE) {
                block = lists.search(table, size, regionAddress >>> granuleLog2, alignmentMask);
            }
        }
        return block;
    }

    /** Granules from a block's start to its first aligned one. */
    private long padding(final int block, final long alignmentMask) {
        return -((regionAddress >>> granuleLog2) + Integer.toUnsignedLong(table.start(block))) & alignmentMask;
    }

    /** Makes a range free that lies in {@code block}, which is in no list nor in the hash table. */
    private void release(final int block, final int blockStart, final int blockSize) {
        int start = blockStart;
        int size = blockSize;
        int before = table.before(block);
        int after = table.after(block);
        if (table.isFree(before)) {
            lists.remove(table, before);
            start = table.start(before);
            size += table.size(before);
            table.join(table.before(before), block);
            table.discard(before);
        }
        if (table.isFree(after)) {
            lists.remove(table, after);
            size += table.size(after);
            table.join(block, table.after(after));
            table.discard(after);
        }
        table.setRange(block, start, size);
        lists.insert(table, block);
    }

    /** Shortens a block in use by {@code tailSize} granules, which become free. */
    private void moveEnd(final int block, final int size, final int tailSize) {
        final int tailStart = table.start(block) + size;
        final int after = table.after(block);
        if (table.isFree(after)) {
            lists.remove(table, after);
            table.setRange(after, tailStart, tailSize + table.size(after));
            lists.insert(table, after);
        } else {
            checkRoomFor(1);
            final int tail = table.create(tailStart, tailSize);
            table.insertAfter(tail, block);
            lists.insert(table, tail);
        }
        table.setRange(block, table.start(block), size);
        freeGranules += Integer.toUnsignedLong(tailSize);
    }

    private int find(final long address) {
        final int block = table.find(startOf(address));
        if (block == BlockTable.NONE) {
            throw InvalidAddressException.of(this, address);
        }
        return block;
    }

    /** The offset of an address in granules; throws unless it is a multiple of the granule less than 2^32. */
    private int startOf(final long address) {
        // Rotating puts the bits below a granule on top: one test for both ends and for the granule.
        final long start = Long.rotateRight(address - regionAddress, granuleLog2);
        if (start >>> 32 != 0) {
            throw InvalidAddressException.of(this, address);
        }
        return (int) start;
    }

    private long addressOf(final int start) {
        return regionAddress + (Integer.toUnsignedLong(start) << granuleLog2);
    }

    private void checkRoomFor(final int newBlocks) {
        if (!table.hasRoomFor(newBlocks)) {
            throw new BlockTableFullException(table.maxBlocks());
        }
    }

    private static void checkSize(final long sizeBytes) {
        if (sizeBytes <= 0) {
            throw new IllegalArgumentException("sizeBytes=" + sizeBytes + " must be > 0");
        }
    }

    private static void checkAlignment(final long alignmentBytes) {
        if (alignmentBytes <= 0 || (alignmentBytes & (alignmentBytes - 1)) != 0) {
            throw new IllegalArgumentException("alignmentBytes=" + alignmentBytes + " must be a power of two");
        }
    }

    private static void checkRegion(final Region region, final long granules, final long granuleBytes) {
        if (granules == 0 || granules >= 1L << 32) {
            throw new IllegalArgumentException("region=" + region + " must have from 1 to 2^32 - 1 granules of "
                    + granuleBytes + " bytes: choose another granule");
        }
        if ((region.address() & (granuleBytes - 1)) != 0) {
            throw new IllegalArgumentException(
                    "region=" + region + " must start at a multiple of the granule, " + granuleBytes + " bytes");
        }
    }
}
