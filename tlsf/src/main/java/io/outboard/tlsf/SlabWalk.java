package io.outboard.tlsf;

import io.outboard.core.BlockVisitor;
import io.outboard.core.Strategy;

/**
 * Turns a walk over the blocks of what is behind slabs into one over slots and blocks. Free blocks and empty slabs that follow
 * each other are one free block. Made once, since a walk makes no garbage.
 *
 * <p>Confined to one thread. O(blocks).
 */
final class SlabWalk implements BlockVisitor {

    private static final BlockVisitor NOBODY = (address, sizeBytes, free) -> {};

    private final Slabs slabs;
    private BlockVisitor visitor = NOBODY;

    /** Free blocks and empty slabs that follow each other: one free block to be. */
    private long freeAddress;

    private long freeBytes;
    private long largestFreeBytes;

    SlabWalk(final Slabs slabs) {
        this.slabs = slabs;
    }

    /** Shows every block of {@code backing}, slabs divided into their slots. */
    void show(final Strategy backing, final BlockVisitor newVisitor) {
        visitor = newVisitor;
        freeBytes = 0;
        largestFreeBytes = 0;
        backing.forEachBlock(this);
        showFree();
        visitor = NOBODY;
    }

    /** The largest free block that there would be without empty slabs, 0 if there is none. */
    long largestFreeBytes(final Strategy backing) {
        show(backing, NOBODY);
        return largestFreeBytes;
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
        if (slab == Slabs.NONE) {
            visitor.visit(address, sizeBytes, false);
        } else {
            slabs.show(slab, sizeBytes, visitor);
        }
    }

    private void showFree() {
        if (freeBytes != 0) {
            visitor.visit(freeAddress, freeBytes, true);
            largestFreeBytes = Math.max(largestFreeBytes, freeBytes);
            freeBytes = 0;
        }
    }
}
