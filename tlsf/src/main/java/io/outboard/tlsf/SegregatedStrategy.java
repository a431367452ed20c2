package io.outboard.tlsf;

import io.outboard.core.FreeBlockVisitor;
import io.outboard.core.PartRetiringStrategy;
import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;
import io.outboard.core.spi.Arguments;

/**
 * This class does what segregated fit and its two-level kin share: Bell, Kumar and Gill (2024), algorithms 4 and 5,
 * over free lists that the subclass supplies.
 */
abstract class SegregatedStrategy extends TableStrategy implements PartRetiringStrategy {

    private final FreeLists table;
    private final long firstGranule;
    private final int granuleLog2;

    /**
     * Nobody reads this number, but C2 drops the loads for one that isn't kept: then {@link #releaseAll} takes 1.2 to
     * 1.5 times as long with 250,000 blocks (JDK 25, 2026-11-28).
     */
    @SuppressWarnings("unused")
    private int lookedAt;

    SegregatedStrategy(final Region region, final StrategyOptions options, final FreeLists table) {
        super(region, options);
        this.table = table;
        firstGranule = region.address() / options.granuleBytes();
        granuleLog2 = Long.numberOfTrailingZeros(options.granuleBytes());
        final int whole = table.create(0, (int) granules());
        table.insertAfter(whole, BlockTable.NONE);
        table.insertFree(whole);
    }

    @Override
    final BlockTable table() {
        return table;
    }

    /** Tells the table of the blocks with its lists. */
    final FreeLists lists() {
        return table;
    }

    /** {@link PlannedStrategy} alone overrides this. */
    @Override
    protected long place(final long size) {
        final int block = table.findFor(size);
        return block == BlockTable.NONE ? NO_SPACE : take(block, 0, (int) size);
    }

    @Override
    public long allocateByHandle(final long sizeBytes) {
        if (sizeBytes <= 0 || sizeBytes > bytes(granules())) {
            Arguments.checkSize(sizeBytes);
            return NO_SPACE;
        }
        final long size = ((sizeBytes - 1) >>> granuleLog2) + 1;
        final int block = table.findFor(size);
        if (block == BlockTable.NONE) {
            return NO_SPACE;
        }
        final long handle = table.hold(cut(block, 0, (int) size));
        addFree(-size);
        return handle;
    }

    @Override
    protected long placeAligned(final long size, final long alignmentMask) {
        final int block = findAligned(size, alignmentMask);
        if (block == BlockTable.NONE) {
            return NO_SPACE;
        }
        return take(block, (int) padding(start(block), alignmentMask), (int) size);
    }

    @Override
    protected final long end(final int start) {
        final int block = table.remove(start);
        return block == BlockTable.NONE ? 0 : makeFree(block);
    }

    /** Frees the block that was allocated last, as if it had never been: what it was cut from is in its place again. */
    final void freeLast(final long address) {
        final int block = table.find(startOf(address));
        final int before = table.before(block);
        final int list = table.list(block);
        final int previous = table.previous(block);
        final long half = table.half;
        free(address);
        table.half = half;
        final int whole = table.isFree(block) ? block : before;
        table.removeFree(whole);
        table.insertFree(whole, list, previous);
    }

    /**
     * Looks at what each release will touch, records and the neighbours' records, before the first release: these
     * loads don't depend on each other, so the processor waits for memory once, not for each block. That takes half the
     * time and less with 100,000 blocks in use, a nanosecond more with 1,000 (2026-11-24).
     */
    @Override
    public final void releaseAll(final long[] retired, final int from, final int to) {
        int sizes = 0;
        for (int i = from; i < to; i++) {
            final int block = (int) retired[i];
            sizes += table.size(table.before(block)) + table.size(table.after(block));
        }
        lookedAt = sizes;
        super.releaseAll(retired, from, to);
    }

    @Override
    protected final void shrink(final int start, final long size, final long newSize) {
        final int block = table.find(start);
        final int tailStart = start + (int) newSize;
        final int tailSize = (int) (size - newSize);
        final int after = table.after(block);
        if (table.isFree(after)) {
            table.removeFree(after);
            table.setRange(after, tailStart, tailSize + table.size(after));
            table.insertFree(after);
        } else {
            checkRoomFor(1);
            final int tail = table.create(tailStart, tailSize);
            table.insertAfter(tail, block);
            table.insertFree(tail);
        }
        table.setRange(block, start, (int) newSize);
    }

    // Retiring parts

    @Override
    public final long retireTail(final long address, final long newSizeBytes) {
        final long sizeBytes = sizeOf(address);
        Arguments.checkTrim(newSizeBytes, sizeBytes);
        final long newSize = blockSize(((newSizeBytes - 1) >>> granuleLog2) + 1);
        if (bytes(newSize) >= sizeBytes) {
            return NO_TAIL;
        }
        checkRoomFor(1);
        return retireEnd(table.find(startOf(address)), (int) newSize);
    }

    @Override
    public final void forEachFree(final long leastBytes, final FreeBlockVisitor visitor) {
        if (leastBytes < granuleBytes()) {
            throw new IllegalArgumentException("leastBytes=" + leastBytes + " must be >= " + granuleBytes());
        }
        final long least = (leastBytes - 1) / granuleBytes() + 1;
        if (least > granules()) {
            return; // No list holds such a size, and what would be read in its place is something else.
        }
        table.forEachFrom(least, block -> visitor.visit(block, address(start(block)), bytes(size(block))));
    }

    @Override
    public final long retireFree(final long block, final long address, final long sizeBytes) {
        final long size = wholeGranules(sizeBytes);
        final int free = (int) block;
        final long padding = Integer.toUnsignedLong(startOf(address)) - start(free);
        assert table.isFree(free) && padding >= 0 && padding + size <= size(free)
                : "block=" + block + " must be a free block with room for " + sizeBytes + " bytes at " + address;
        if (!hasRoomFor(2)) {
            return NO_SPACE;
        }
        addFree(-size);
        return retired(cut(free, (int) padding, (int) size));
    }

    @Override
    public final long splitRetired(final long retired, final long sizeBytes) {
        final long size = wholeGranules(sizeBytes);
        final int block = checkedRetired(retired);
        assert size < size(block) : "sizeBytes=" + sizeBytes + " must be less than " + bytes(size(block));
        return hasRoomFor(1) ? retireEnd(block, (int) size) : NO_SPACE;
    }

    @Override
    public final void joinRetired(final long retired, final long next) {
        final int block = checkedRetired(retired);
        final int second = unretired(next);
        assert table.after(block) == second : "next=" + next + " must be the block behind retired=" + retired;
        table.setRange(block, table.start(block), table.size(block) + table.size(second));
        table.join(block, table.after(second));
        table.discard(second);
    }

    private long wholeGranules(final long sizeBytes) {
        if (sizeBytes <= 0 || sizeBytes % granuleBytes() != 0) {
            throw new IllegalArgumentException(
                    "sizeBytes=" + sizeBytes + " must be > 0 and a multiple of " + granuleBytes());
        }
        return sizeBytes / granuleBytes();
    }

    /**
     * Makes room as {@link #checkRoomFor} does, but answers false rather than throw, so that the caller can tell what
     * it has retired by then.
     */
    private boolean hasRoomFor(final int blocks) {
        try {
            return table.makeRoomFor(blocks);
        } catch (final OutOfMemoryError e) {
            return false;
        }
    }

    @Override
    protected final boolean grow(final int start, final long size, final long newSize) {
        final int block = table.find(start);
        final int after = table.after(block);
        final long more = newSize - size;
        if (!table.isFree(after) || size(after) < more) {
            return false;
        }
        table.removeFree(after);
        final int rest = table.size(after) - (int) more;
        if (rest == 0) {
            table.join(block, table.after(after));
            table.discard(after);
        } else {
            table.setRange(after, table.start(after) + (int) more, rest);
            table.insertFree(after);
        }
        table.setRange(block, start, (int) newSize);
        return true;
    }

    @Override
    public long hostBytes() {
        return table.hostBytes();
    }

    /** Tells whether there is room in the table for what is left of a free block on both sides. */
    final boolean canCut(final long padding, final long rest) {
        return hasRoomFor((padding == 0 ? 0 : 1) + (rest == 0 ? 0 : 1));
    }

    /** Takes granules, from {@code padding} on, out of a free block that has them, for a block found by address. */
    final long take(final int block, final int padding, final int size) {
        final int start = table.start(block) + padding;
        table.enter(cut(block, padding, size));
        return Integer.toUnsignedLong(start);
    }

    /**
     * Cuts such granules out; what is in front, and left over, stays free. The block that they become is in no list nor
     * in the hash table, but its record says where in which list the free block was.
     */
    private int cut(final int block, final int padding, final int size) {
        final int start = table.start(block) + padding;
        final int rest = table.size(block) - padding - size;
        if (padding != 0 || table.isFull()) {
            checkRoomFor((padding == 0 ? 0 : 1) + (rest == 0 ? 0 : 1));
        }
        table.removeFree(block);
        int taken = block;
        if (padding != 0) {
            taken = table.create(start, size);
            table.copyPlace(block, taken);
            table.insertAfter(taken, block);
            table.setRange(block, table.start(block), padding);
            table.insertFree(block);
        }
        if (rest != 0) {
            final int tail = table.create(start + size, rest);
            table.insertAfter(tail, taken);
            table.setRange(taken, start, size);
            table.insertFree(tail);
        }
        return taken;
    }

    /** Finds a block in which {@code size} granules fit, the first of them aligned, or none. */
    private int findAligned(final long size, final long alignmentMask) {
        int block = table.findFitting(size);
        if (block == BlockTable.NONE || padding(start(block), alignmentMask) + size > size(block)) {
            // Any block that has room for the worst padding will do; if none has, one that happens to fit.
            final long worst = size + alignmentMask;
            block = worst <= granules() ? table.findFitting(worst) : BlockTable.NONE;
            if (block == BlockTable.NONE) {
                block = table.search(size, firstGranule, alignmentMask);
            }
        }
        return block;
    }

    /**
     * Makes a block free that is in no list nor in the hash table. A free block before it takes it in, and keeps its
     * place where its list holds the new size, too: blocks that grow little by little would otherwise always be the
     * first to be divided.
     */
    @Override
    final long makeFree(final int block) {
        final int before = table.before(block);
        int after = table.after(block);
        int start = table.start(block);
        int size = table.size(block);
        final long freed = Integer.toUnsignedLong(size);
        // This block doesn't count: once nothing is in use, all is as in a new strategy.
        table.noteUsed(granules() - (freeBytes() >>> granuleLog2) - freed);
        if (table.isFree(after)) {
            table.removeFree(after);
            size += table.size(after);
            table.discard(after);
            after = table.after(after);
        }
        int kept = block;
        int list = FreeLists.NO_LIST;
        int previous = BlockTable.NONE;
        if (table.isFree(before)) {
            list = table.list(before);
            previous = table.previous(before);
            table.removeFree(before);
            start = table.start(before);
            size += table.size(before);
            table.discard(block);
            kept = before;
        }
        table.join(kept, after);
        table.setRange(kept, start, size);
        table.insertFree(kept, list, previous);
        return freed;
    }
}
