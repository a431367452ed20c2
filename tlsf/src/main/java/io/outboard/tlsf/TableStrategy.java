package io.outboard.tlsf;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.BlockVisitor;
import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;
import io.outboard.core.spi.AbstractStrategy;
import io.outboard.core.spi.BlockTable;

/** A strategy whose blocks are in a block table, in order of address; those in use are found by their offset. */
abstract class TableStrategy extends AbstractStrategy {

    final BlockTable table;

    /** A region with a table, but without blocks: the subclass makes the first. */
    TableStrategy(final Region region, final StrategyOptions options, final int lists) {
        super(region, options);
        table = new BlockTable(options.maxBlocks(), lists);
    }

    @Override
    protected final long sizeAt(final int start) {
        final int block = table.find(start);
        return block == BlockTable.NONE ? 0 : size(block);
    }

    @Override
    public final int liveBlocks() {
        return table.entered();
    }

    @Override
    public final void forEachBlock(final BlockVisitor visitor) {
        for (int block = table.after(BlockTable.NONE); block != BlockTable.NONE; block = table.after(block)) {
            show(visitor, start(block), size(block), table.isFree(block));
        }
    }

    final long start(final int block) {
        return Integer.toUnsignedLong(table.start(block));
    }

    final long size(final int block) {
        return Integer.toUnsignedLong(table.size(block));
    }

    final void checkRoomFor(final int newBlocks) {
        if (!table.hasRoomFor(newBlocks)) {
            throw new BlockTableFullException(table.maxBlocks());
        }
    }
}
