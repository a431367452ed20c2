package io.outboard.tlsf;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.BlockVisitor;
import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;
import io.outboard.core.spi.AbstractStrategy;

/**
 * A strategy whose blocks are in a block table, in order of address; those in use are found by their offset. A retired
 * block is one that isn't in the hash table, and is named by its record.
 */
abstract class TableStrategy extends AbstractStrategy {

    private int retiredBlocks;

    TableStrategy(final Region region, final StrategyOptions options) {
        super(region, options);
    }

    /** The blocks. Not a field of this class: the subclass's has a type of its own, and what is hot reads one. */
    abstract BlockTable table();

    @Override
    protected final long sizeAt(final int start) {
        final int block = table().find(start);
        return block == BlockTable.NONE ? 0 : size(block);
    }

    @Override
    protected final long withdraw(final int start) {
        final int block = table().remove(start);
        if (block == BlockTable.NONE) {
            return NO_BLOCK;
        }
        retiredBlocks++;
        return block;
    }

    @Override
    protected final long endRetired(final long retired) {
        final int block = unretired(retired);
        final long size = size(block);
        makeFree(block);
        return size;
    }

    @Override
    protected final void readmit(final long retired) {
        table().enter(unretired(retired));
    }

    @Override
    protected final long retiredStart(final long retired) {
        return start(checkedRetired(retired));
    }

    @Override
    protected final long retiredSize(final long retired) {
        return size(checkedRetired(retired));
    }

    /** A block that is in no list nor in the hash table is a retired one. */
    final long retired(final int block) {
        retiredBlocks++;
        return block;
    }

    /** Makes the end of a block in use a retired block. There is room for one more. */
    final long retireEnd(final int block, final int newSize) {
        final int start = table().start(block);
        final int tail = table().create(start + newSize, table().size(block) - newSize);
        table().insertAfter(tail, block);
        table().setRange(block, start, newSize);
        return retired(tail);
    }

    /** It is a retired block no more. */
    final int unretired(final long retired) {
        final int block = checkedRetired(retired);
        retiredBlocks--;
        return block;
    }

    final int checkedRetired(final long retired) {
        final int block = (int) retired;
        assert block == retired
                        && retiredBlocks > 0
                        && !table().isFree(block)
                        && table().find(table().start(block)) != block
                : "retired=" + retired + " must name a retired block";
        return block;
    }

    /** Makes a block free that is in no list nor in the hash table(). */
    abstract void makeFree(int block);

    @Override
    public final int liveBlocks() {
        return table().entered() + retiredBlocks;
    }

    @Override
    public final void forEachBlock(final BlockVisitor visitor) {
        for (int block = table().after(BlockTable.NONE); block != BlockTable.NONE; block = table().after(block)) {
            show(visitor, start(block), size(block), table().isFree(block));
        }
    }

    final long start(final int block) {
        return Integer.toUnsignedLong(table().start(block));
    }

    final long size(final int block) {
        return Integer.toUnsignedLong(table().size(block));
    }

    /** Makes room in the table, before an operation changes anything. */
    final void checkRoomFor(final int newBlocks) {
        if (!table().makeRoomFor(newBlocks)) {
            throw new BlockTableFullException(table().maxBlocks());
        }
    }
}
