package io.outboard.tlsf;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.BlockVisitor;
import io.outboard.core.ByteSize;
import io.outboard.core.HandleStrategy;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.Region;
import io.outboard.core.StrategyOptions;
import io.outboard.core.spi.AbstractStrategy;

/**
 * The blocks of this strategy are in a block table, in order of address; those in use are found by their offset, or by
 * a handle. A retired block is taken and found in neither way; its record names it.
 */
abstract class TableStrategy extends AbstractStrategy implements HandleStrategy {

    private int retiredBlocks;

    TableStrategy(final Region region, final StrategyOptions options) {
        super(region, options);
    }

    /**
     * Tells the table of the blocks. It isn't a field of this class, since the field of the subclass has a type of its
     * own, and hot code reads that one.
     */
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

    // Blocks by handle

    @Override
    public long allocateByHandle(final long sizeBytes) {
        final long address = allocate(sizeBytes);
        return address == NO_SPACE ? NO_SPACE : nameByHandle(address);
    }

    @Override
    public final void freeByHandle(final long handle) {
        final int block = held(handle);
        table().letGo(block);
        addFree(makeFree(block));
    }

    @Override
    public final long retireByHandle(final long handle) {
        final int block = held(handle);
        table().letGo(block);
        return retired(block);
    }

    @Override
    public final long addressOf(final long handle) {
        return address(start(held(handle)));
    }

    @Override
    public final long sizeByHandle(final long handle) {
        return bytes(size(held(handle)));
    }

    @Override
    public final long nameByHandle(final long address) {
        final int block = table().remove(startOf(address));
        if (block == BlockTable.NONE) {
            throw invalid(address);
        }
        return table().hold(block);
    }

    @Override
    public final long nameByAddress(final long handle) {
        final int block = held(handle);
        table().letGo(block);
        table().enter(block);
        return address(start(block));
    }

    private int held(final long handle) {
        final int block = table().heldAs(handle);
        if (block == BlockTable.NONE) {
            throw invalidHandle(handle);
        }
        return block;
    }

    private InvalidAddressException invalidHandle(final long handle) {
        final long address = address(handle & 0xFFFF_FFFFL);
        return new InvalidAddressException(
                address,
                "handle=0x" + Long.toHexString(handle) + " must name a block in use: record " + (handle >>> 32)
                        + " has none by handle at 0x" + Long.toHexString(address)
                        + ", so it was freed already, is named by its address, or was never allocated");
    }

    /**
     * {@inheritDoc} A held block isn't in the hash table, but its memory is taken, as that of a retired one: so it is
     * looked for here.
     */
    @Override
    protected final InvalidAddressException invalid(final long address) {
        final long offset = address - address(0);
        for (int block = table().after(BlockTable.NONE); block != BlockTable.NONE; block = table().after(block)) {
            if (table().isHeld(block)
                    && offset >= bytes(start(block))
                    && offset - bytes(start(block)) < bytes(size(block))) {
                return new InvalidAddressException(
                        address,
                        "address=0x" + Long.toHexString(address)
                                + " must be the start of a block in use: it lies in the block [0x"
                                + Long.toHexString(address(start(block))) + ", " + ByteSize.exact(bytes(size(block)))
                                + "], which is named by a handle");
            }
        }
        return super.invalid(address);
    }

    // Retired blocks

    @Override
    protected final long endRetired(final long retired) {
        return makeFree(unretired(retired));
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

    /** Notes that a block is retired, since it is in no list nor in the hash table. */
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

    /** Notes that a block is retired no more. */
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
                        && !table().isHeld(block)
                        && table().find(table().start(block)) != block
                : "retired=" + retired + " must name a retired block";
        return block;
    }

    /**
     * Makes a block free that is in no list nor in the hash table. Returns its size in granules, which the caller
     * counts as free afterwards.
     */
    abstract long makeFree(int block);

    @Override
    public final int liveBlocks() {
        return table().entered() + table().held() + retiredBlocks;
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
