package io.outboard.pool;

import io.outboard.core.BlockVisitor;
import io.outboard.core.GrowableRegion;
import io.outboard.core.Region;
import io.outboard.core.Strategy;
import org.jspecify.annotations.Nullable;

/**
 * A region of a pool. The strategy is guarded by the pool's lock, and so are the methods that ask it.
 *
 * @param taken as the source gave it
 * @param used the part of it that starts at a granule
 * @param strategy divides that part
 * @param growable how it grows in place, null if it doesn't
 * @param heldBytes how much memory it holds
 * @param backedEnd no block handed out ends after it
 */
record PoolRegion(
        Region taken,
        Region used,
        Strategy strategy,
        @Nullable GrowableRegion growable,
        long heldBytes,
        long backedEnd) {

    boolean holds(final long address) {
        return address >= used.address() && address < backedEnd;
    }

    /** Of what nothing backs, nothing is shown. */
    void forEachBlock(final BlockVisitor visitor) {
        if (growable == null) {
            strategy.forEachBlock(visitor);
            return;
        }
        strategy.forEachBlock((address, sizeBytes, free) -> {
            final long backedBytes = Math.min(sizeBytes, backedEnd - address);
            if (backedBytes > 0) {
                visitor.visit(address, backedBytes, free);
            }
        });
    }

    long largestFreeBlockBytes() {
        if (growable == null) {
            return strategy.largestFreeBlockBytes();
        }
        final long[] largest = new long[1];
        forEachBlock((address, sizeBytes, free) -> largest[0] = free ? Math.max(largest[0], sizeBytes) : largest[0]);
        return largest[0];
    }

    /** The end of the last block in use, limbo included, or where the region begins. */
    long usedEnd() {
        final long[] end = {taken.address()};
        strategy.forEachBlock((address, sizeBytes, free) -> end[0] = free ? end[0] : address + sizeBytes);
        return end[0];
    }
}
