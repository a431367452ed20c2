package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;

/**
 * This class does what buddy systems share: Bell, Kumar and Gill (2024), section II-C. The systems differ in their
 * classes of sizes.
 *
 * <p>A region is a row of <em>roots</em>: the largest class that fits into it, then the largest that fits into what is
 * left, and so on. Each root is a tree of nodes, here with Fibonacci sizes; a block is a node:
 *
 * <pre>
 *   |               8               |     5     | 1 |      roots of a region of 14 granules
 *   |         5         |     3     |                      a block splits into a left buddy and a right one
 *   |     3     |   2   |                                  and merges with its own buddy only
 * </pre>
 *
 * <p>A block's record doesn't tell which node it is: a <em>path</em> to it is found by going down from its root,
 * towards its offset, to its class.
 *
 * <ol>
 *   <li><b>allocate</b> takes the block freed last of the smallest class that suffices and isn't empty. While it is of
 *       another class than the request's, it is split, and the smaller part that suffices goes on, the left of two
 *       equals. Where there are two systems and the request's own has no such block, the request is one of the next
 *       class, which is of the other system.
 *   <li><b>free</b> merges the block with its buddy, and what that makes with its buddy, up to the root, as long as the
 *       buddy is free and whole.
 *   <li><b>trim</b> splits, and keeps the left part: every smaller class of the system is reached in this way.
 *   <li><b>extend</b> goes up the path and joins right buddies, all free and whole, or does nothing.
 * </ol>
 *
 * <p>Confined to one thread. O(log(region / granule)) splits, merges and steps along a path.
 */
abstract class BuddyStrategy extends TableStrategy {

    /**
     * The bound of the search for an aligned block: the most free blocks and aligned offsets in them that are looked
     * at.
     */
    private static final int SEARCH_STEPS = 64;

    /** The bytes of an array's header, with its length. */
    private static final long ARRAY_HEADER_BYTES = 16;

    private final BlockTable table;
    private final BuddyClasses classes;

    /** The roots' classes, in order of address. */
    private final int[] roots;

    /**
     * The last path found, from the top: the class of a block that is split, times 2, plus 1 if the path goes right.
     */
    private final int[] path;

    /** Bit c is set if list c, of the free blocks of class c, isn't empty. */
    private long nonEmpty;

    BuddyStrategy(final Region region, final StrategyOptions options, final BuddyClasses classes) {
        super(region, options);
        table = new BlockTable(options.firstBlocks(), options.maxBlocks(), classes.count(), 0);
        this.classes = classes;
        path = new int[classes.count()];
        roots = classes.roots(granules());
        if (roots.length > options.maxBlocks()) {
            throw new IllegalArgumentException("maxBlocks=" + options.maxBlocks() + " must be at least " + roots.length
                    + ", for the blocks that region=" + region + " starts as");
        }
        checkRoomFor(roots.length);
        int start = 0;
        for (final int root : roots) {
            final int block = table.create(start, (int) classes.size(root));
            table.insertAfter(block, table.before(BlockTable.NONE));
            insert(block, root);
            start += (int) classes.size(root);
        }
    }

    @Override
    final BlockTable table() {
        return table;
    }

    @Override
    protected final long blockSize(final long size) {
        return classes.size(classes.holding(size));
    }

    @Override
    protected final long place(final long size) {
        int wanted = classes.holding(size);
        long lists = nonEmpty & classes.sources(wanted);
        if (lists == 0) {
            wanted = classes.substitute(wanted);
            lists = nonEmpty & classes.sources(wanted);
            if (lists == 0) {
                return NO_SPACE;
            }
        }
        final int list = Long.numberOfTrailingZeros(lists);
        return take(table.next(table.head(list)), findSmallest(list, wanted), size);
    }

    @Override
    protected final long placeAligned(final long size, final long alignmentMask) {
        final int own = classes.holding(size);
        final int other = classes.substitute(own);
        final long start = placeAligned(own, size, alignmentMask);
        return start != NO_SPACE || other == own ? start : placeAligned(other, size, alignmentMask);
    }

    private long placeAligned(final int wanted, final long size, final long alignmentMask) {
        int steps = 0;
        for (long lists = nonEmpty & classes.sources(wanted); lists != 0; lists &= lists - 1) {
            final int list = Long.numberOfTrailingZeros(lists);
            final int head = table.head(list);
            for (int block = table.next(head); block != head; block = table.next(block)) {
                long offset = padding(start(block), alignmentMask);
                while (offset + classes.size(wanted) <= classes.size(list) && steps < SEARCH_STEPS) {
                    final int length = findPath(list, wanted, offset);
                    if (length >= 0) {
                        return take(block, length, size);
                    }
                    offset += alignmentMask + 1;
                    steps++;
                }
                if (++steps >= SEARCH_STEPS) {
                    return NO_SPACE;
                }
            }
        }
        return NO_SPACE;
    }

    @Override
    protected final long end(final int start) {
        final int block = table.remove(start);
        return block == BlockTable.NONE ? 0 : makeFree(block);
    }

    @Override
    final long makeFree(final int block) {
        final long freed = size(block);
        int sizeClass = classes.holding(freed);
        // Without a free neighbour there is nothing to merge, so no path to find: a third faster (large, 2026-11-20).
        final boolean mayMerge = table.isFree(table.before(block)) || table.isFree(table.after(block));
        int length = mayMerge ? findPathFromRoot(table.start(block), sizeClass) : 0;
        while (length > 0) {
            final int parent = path[--length] >>> 1;
            final boolean isRight = (path[length] & 1) != 0;
            final int buddy = isRight ? table.before(block) : table.after(block);
            if (!isFree(buddy, isRight ? classes.left(parent) : classes.right(parent))) {
                break;
            }
            remove(buddy);
            if (isRight) {
                table.setRange(block, table.start(buddy), 0);
                table.join(table.before(buddy), block);
            } else {
                table.join(block, table.after(buddy));
            }
            table.discard(buddy);
            sizeClass = parent;
        }
        table.setRange(block, table.start(block), (int) classes.size(sizeClass));
        insert(block, sizeClass);
        return freed;
    }

    @Override
    protected final void shrink(final int start, final long size, final long newSize) {
        final int from = classes.holding(size);
        final int kept = classes.holdingWithin(from, newSize);
        final int length = findPath(from, kept, 0);
        checkRoomFor(length);
        split(table.find(start), length);
        addFree(newSize - classes.size(kept));
    }

    @Override
    protected final boolean grow(final int start, final long size, final long newSize) {
        final int block = table.find(start);
        int sizeClass = classes.holding(size);
        int length = findPathFromRoot(start, sizeClass);
        int end = table.after(block);
        while (classes.size(sizeClass) < newSize) {
            if (length == 0 || (path[--length] & 1) != 0) {
                return false;
            }
            sizeClass = path[length] >>> 1;
            if (!isFree(end, classes.right(sizeClass))) {
                return false;
            }
            end = table.after(end);
        }
        for (int buddy = table.after(block); buddy != end; buddy = table.after(block)) {
            remove(buddy);
            table.join(block, table.after(buddy));
            table.discard(buddy);
        }
        table.setRange(block, start, (int) classes.size(sizeClass));
        addFree(newSize - classes.size(sizeClass));
        return true;
    }

    @Override
    public final long hostBytes() {
        return table.hostBytes() + 2 * ARRAY_HEADER_BYTES + (long) Integer.BYTES * (roots.length + path.length);
    }

    /** Takes the part of a free block at the end of a path, for a request whose size the caller counts as taken. */
    private long take(final int block, final int length, final long size) {
        checkRoomFor(length);
        remove(block);
        final int part = split(block, length);
        table.enter(part);
        addFree(size - size(part));
        return start(part);
    }

    /** Splits a block, in no list, along a path, and answers the part at the end of it; all others become free. */
    private int split(final int block, final int length) {
        int part = block;
        for (int i = 0; i < length; i++) {
            final int parent = path[i] >>> 1;
            final int left = classes.left(parent);
            final int right = classes.right(parent);
            final int start = table.start(part);
            final int leftSize = (int) classes.size(left);
            final int buddy = table.create(start + leftSize, (int) classes.size(right));
            table.insertAfter(buddy, part);
            table.setRange(part, start, leftSize);
            if ((path[i] & 1) != 0) {
                insert(part, left);
                part = buddy;
            } else {
                insert(buddy, right);
            }
        }
        return part;
    }

    /**
     * Finds the path to the part that is left when the smaller part that suffices is split again and again, and answers
     * its length.
     */
    private int findSmallest(final int from, final int wanted) {
        int length = 0;
        int sizeClass = from;
        while (sizeClass > wanted) {
            final int left = classes.left(sizeClass);
            final int right = classes.right(sizeClass);
            final boolean isRight = right >= wanted && right < left;
            path[length++] = isRight ? 2 * sizeClass + 1 : 2 * sizeClass;
            sizeClass = isRight ? right : left;
        }
        return length;
    }

    private int findPathFromRoot(final int start, final int wanted) {
        long offset = Integer.toUnsignedLong(start);
        int root = 0;
        while (offset >= classes.size(roots[root])) {
            offset -= classes.size(roots[root]);
            root++;
        }
        return findPath(roots[root], wanted, offset);
    }

    /**
     * Finds the path from a node to the one of a class at an offset in it, and answers its length, or -1 if there is
     * none.
     */
    private int findPath(final int from, final int wanted, final long wantedOffset) {
        int length = 0;
        int sizeClass = from;
        long offset = wantedOffset;
        while (sizeClass > wanted) {
            final int left = classes.left(sizeClass);
            if (offset < classes.size(left)) {
                path[length++] = 2 * sizeClass;
                sizeClass = left;
            } else {
                path[length++] = 2 * sizeClass + 1;
                offset -= classes.size(left);
                sizeClass = classes.right(sizeClass);
            }
        }
        return sizeClass == wanted && offset == 0 ? length : -1;
    }

    private boolean isFree(final int block, final int sizeClass) {
        return table.isFree(block) && table.list(block) == sizeClass;
    }

    private void insert(final int block, final int sizeClass) {
        table.push(block, sizeClass);
        nonEmpty |= 1L << sizeClass;
    }

    private void remove(final int block) {
        final int sizeClass = table.list(block);
        nonEmpty &= ~((long) table.unlink(block) << sizeClass);
    }
}
