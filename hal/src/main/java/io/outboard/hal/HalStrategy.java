package io.outboard.hal;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.BlockVisitor;
import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;
import io.outboard.core.spi.AbstractStrategy;

/**
 * This class does what the sequential fits share: Bell, Kumar and Gill (2024), algorithms 1 and 2, over two hybrid
 * array lists, one of the free blocks and one of those in use. Subclasses choose a free block. An entry's key is where
 * its block starts, its value the block's size. Retired blocks are in a third list, and named by where they start.
 */
abstract class HalStrategy extends AbstractStrategy {

    static final int NONE = HybridArrayList.NONE;

    private static final int LISTS = 3;

    final HybridArrayList free;
    private final HybridArrayList used;
    private final HybridArrayList retired;
    private final ChunkPool chunks;
    private final int maxBlocks;

    /** The number of blocks that there are chunks for. */
    private int room;

    HalStrategy(final Region region, final StrategyOptions options) {
        super(region, options);
        maxBlocks = options.maxBlocks();
        room = options.firstBlocks();
        chunks = new ChunkPool(entriesFor(room), LISTS, ChunkPool.PAGE);
        free = new HybridArrayList(chunks);
        used = new HybridArrayList(chunks);
        retired = new HybridArrayList(chunks);
        free.insertAfter(NONE, 0, (int) granules());
    }

    /**
     * Chooses the free block to allocate from.
     *
     * @param size granules
     * @param alignmentMask as for {@link #placeAligned}, or 0
     * @return a cursor of {@link #free} for which {@link #holds} is true, or none
     */
    abstract int choose(int size, long alignmentMask);

    /** Tells whether an aligned range fits into a free block. */
    final boolean holds(final int block, final int size, final long alignmentMask) {
        return padding(start(free, block), alignmentMask) + Integer.toUnsignedLong(size) <= size(free, block);
    }

    /** Finds the free block at the lowest address, from a block on, that holds an aligned range, or none. */
    final int firstThatHolds(final int from, final int size, final long alignmentMask) {
        int block = free.firstAtLeast(from, size);
        while (block != NONE && !holds(block, size, alignmentMask)) {
            block = free.next(block);
            block = block == NONE ? NONE : free.firstAtLeast(block, size);
        }
        return block;
    }

    @Override
    protected long place(final long size) {
        return placeAligned(size, 0);
    }

    @Override
    protected long placeAligned(final long size, final long alignmentMask) {
        final int block = choose((int) size, alignmentMask);
        if (block == NONE) {
            return NO_SPACE;
        }
        final int padding = (int) padding(start(free, block), alignmentMask);
        final int start = free.key(block) + padding;
        takeOut(block, padding, (int) size);
        used.insertAfter(used.search(start), start, (int) size);
        return Integer.toUnsignedLong(start);
    }

    /** Takes granules out of a free block; what is in front of them and after them stays free. */
    private void takeOut(final int block, final int padding, final int size) {
        final int start = free.key(block);
        final int rest = free.value(block) - padding - size;
        if (padding == 0) {
            if (rest == 0) {
                free.remove(block);
            } else {
                checkRoomFor(1);
                free.set(block, start + size, rest);
            }
        } else {
            checkRoomFor(rest == 0 ? 1 : 2);
            free.set(block, start, padding);
            if (rest != 0) {
                free.insertAfter(block, start + padding + size, rest);
            }
        }
    }

    @Override
    protected final long end(final int start) {
        final int block = find(used, start);
        return block == NONE ? 0 : end(used, block);
    }

    /** Removes a block from the list that it is in, and makes it free. */
    private long end(final HybridArrayList list, final int block) {
        final int start = list.key(block);
        final int size = list.value(block);
        list.remove(block);
        makeFree(start, size);
        return Integer.toUnsignedLong(size);
    }

    @Override
    protected final long withdraw(final int start) {
        final int block = find(used, start);
        if (block == NONE) {
            return NO_BLOCK;
        }
        move(block, used, retired);
        return Integer.toUnsignedLong(start);
    }

    @Override
    protected final long endRetired(final long handle) {
        return end(retired, find(retired, (int) handle));
    }

    @Override
    protected final void readmit(final long handle) {
        move(find(retired, (int) handle), retired, used);
    }

    @Override
    protected final long retiredStart(final long handle) {
        assert find(retired, (int) handle) != NONE : "retired=" + handle + " must name a retired block";
        return handle;
    }

    @Override
    protected final long retiredSize(final long handle) {
        return size(retired, find(retired, (int) handle));
    }

    private static void move(final int block, final HybridArrayList from, final HybridArrayList to) {
        final int start = from.key(block);
        to.insertAfter(to.search(start), start, from.value(block));
        from.remove(block);
    }

    private static int find(final HybridArrayList list, final int start) {
        final int block = list.search(start);
        return block == NONE || list.key(block) != start ? NONE : block;
    }

    /** Puts a range into the free list, merged with the free blocks that it touches. */
    private void makeFree(final int start, final int size) {
        final int left = free.search(start);
        final int right = free.next(left);
        final boolean touchesLeft = left != NONE && free.key(left) + free.value(left) == start;
        final boolean touchesRight = right != NONE && free.key(right) == start + size;
        if (touchesLeft) {
            final int rightSize = touchesRight ? free.value(right) : 0;
            free.set(left, free.key(left), free.value(left) + size + rightSize);
            if (touchesRight) {
                free.remove(right);
            }
        } else if (touchesRight) {
            free.set(right, start, size + free.value(right));
        } else {
            checkRoomFor(1);
            free.insertAfter(left, start, size);
        }
    }

    @Override
    protected final long sizeAt(final int start) {
        final int block = find(used, start);
        return block == NONE ? 0 : size(used, block);
    }

    @Override
    protected final void shrink(final int start, final long size, final long newSize) {
        makeFree(start + (int) newSize, (int) (size - newSize));
        used.set(used.search(start), start, (int) newSize);
    }

    @Override
    protected final boolean grow(final int start, final long size, final long newSize) {
        final int end = start + (int) size;
        final int after = free.search(end);
        if (after == NONE || free.key(after) != end || size(free, after) < newSize - size) {
            return false;
        }
        final int more = (int) (newSize - size);
        final int rest = free.value(after) - more;
        if (rest == 0) {
            free.remove(after);
        } else {
            free.set(after, end + more, rest);
        }
        used.set(used.search(start), start, (int) newSize);
        return true;
    }

    /** Makes room in the tables, before an operation changes anything. */
    private void checkRoomFor(final int newBlocks) {
        final int blocks = free.size() + used.size() + retired.size() + newBlocks;
        if (blocks > room) {
            growFor(blocks);
        }
    }

    private void growFor(final int blocks) {
        if (blocks > maxBlocks) {
            throw new BlockTableFullException(maxBlocks);
        }
        final int newRoom = Math.min(maxBlocks, Math.max(blocks, 2 * room));
        chunks.growFor(entriesFor(newRoom));
        free.followPool();
        used.followPool();
        retired.followPool();
        room = newRoom;
    }

    /** Counts one more than blocks: a block that is retired or restored is in two lists for a moment. */
    private static int entriesFor(final int blocks) {
        return blocks + 1;
    }

    static long start(final HybridArrayList list, final int block) {
        return Integer.toUnsignedLong(list.key(block));
    }

    static long size(final HybridArrayList list, final int block) {
        return Integer.toUnsignedLong(list.value(block));
    }

    @Override
    public final int liveBlocks() {
        return used.size() + retired.size();
    }

    @Override
    public final long hostBytes() {
        return chunks.hostBytes();
    }

    @Override
    public final void forEachBlock(final BlockVisitor visitor) {
        int nextFree = free.first();
        int nextUsed = used.first();
        int nextRetired = retired.first();
        long start = 0;
        while (start < granules()) {
            if (startsAt(start, free, nextFree)) {
                start = show(visitor, free, nextFree, true);
                nextFree = free.next(nextFree);
            } else if (startsAt(start, used, nextUsed)) {
                start = show(visitor, used, nextUsed, false);
                nextUsed = used.next(nextUsed);
            } else {
                start = show(visitor, retired, nextRetired, false);
                nextRetired = retired.next(nextRetired);
            }
        }
    }

    private static boolean startsAt(final long start, final HybridArrayList list, final int block) {
        return block != NONE && start(list, block) == start;
    }

    /** Shows a block, and answers where it ends. */
    private long show(final BlockVisitor visitor, final HybridArrayList list, final int block, final boolean isFree) {
        final long start = start(list, block);
        final long size = size(list, block);
        show(visitor, start, size, isFree);
        return start + size;
    }
}
