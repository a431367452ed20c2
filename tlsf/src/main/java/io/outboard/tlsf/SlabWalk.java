package io.outboard.tlsf;

import io.outboard.core.BlockVisitor;
import io.outboard.core.Strategy;

/**
 * This visitor turns a walk over the blocks of what is behind slabs into one over slots and blocks. Free blocks and
 * empty slabs that follow each other are one free block. The visitor is made once, since a walk makes no garbage.
 *
 * <p>Confined to one thread. O(blocks).
 */
final class SlabWalk implements BlockVisitor {

    private static final BlockVisitor NOBODY = (address, sizeBytes, free) -> {};

    private final Slabs slabs;
    private BlockVisitor visitor = NOBODY;
    private boolean divides;

    /** The start of free blocks and empty slabs that follow each other, and are shown as one free block. */
    private long freeAddress;

    private long freeBytes;

    SlabWalk(final Slabs slabs) {
        this.slabs = slabs;
    }

    /**
     * Shows every block of {@code backing}; slabs in which slots are taken either divided into these, or as one block.
     */
    void show(final Strategy backing, final boolean newDivides, final BlockVisitor newVisitor) {
        visitor = newVisitor;
        divides = newDivides;
        freeBytes = 0;
        backing.forEachBlock(this);
        showFree();
        visitor = NOBODY;
    }

    @Override
    public void visit(final long address, final long sizeBytes, final boolean free) {
        final int slab = free ? Slabs.NONE : slabs.holding(address);
        if (free || (slab != Slabs.NONE && slabs.isEmpty(slab))) {
            freeAddress = freeBytes == 0 ? address : freeAddress;
            freeBytes += sizeBytes;
            return;
        }
        showFree();
        if (divides && slab != Slabs.NONE) {
            slabs.show(slab, sizeBytes, visitor);
        } else {
            visitor.visit(address, sizeBytes, false);
        }
    }

    private void showFree() {
        if (freeBytes != 0) {
            visitor.visit(freeAddress, freeBytes, true);
            freeBytes = 0;
        }
    }
}
