package io.outboard.pool.lanes;

import io.outboard.core.BlockVisitor;
import io.outboard.core.StepwiseStrategy;
import java.util.function.LongConsumer;

/**
 * All of a pool at once, for those who look at everything, or end it: while {@link #lock} holds every lane's lock, nothing changes.
 *
 * <p>External lock required: that one.
 *
 * <p>Public for the pool's other packages, not for applications.
 */
public final class WholePool {

    private final Lanes lanes;

    WholePool(final Lanes lanes) {
        this.lanes = lanes;
    }

    /** Takes every lock, for those who look at all of the pool, or end it. */
    public void lock() {
        final Lane[] all = lanes.all();
        for (int i = 1; i < all.length; i++) {
            all[i].lock();
        }
        lanes.main().lock();
        if (all != lanes.all()) {
            // One more lane meanwhile.
            unlock(all);
            lock();
        }
    }

    public void unlock() {
        unlock(lanes.all());
    }

    private static void unlock(final Lane[] all) {
        for (final Lane lane : all) {
            lane.taken = false;
        }
    }

    /** In the order of addresses within a region; blocks of chunks in their places. */
    public void forEachBlock(final BlockVisitor visitor) {
        for (final Part region : lanes.main().parts.all()) {
            region.forEachBlock((address, sizeBytes, free) -> {
                final Part chunk = free ? null : lanes.chunkAt(address);
                if (chunk == null) {
                    visitor.visit(address, sizeBytes, free);
                } else {
                    chunk.forEachBlock(visitor);
                }
            });
        }
    }

    /** What lanes have in limbo, and the addresses of what is on its way to another. */
    public void forEachInLimbo(final LongConsumer visitor) {
        for (final Lane lane : lanes.all()) {
            lane.forEachInLimbo(visitor);
        }
    }

    /** The largest of all lanes, in bytes. */
    public long largestFreeBlockBytes() {
        long largest = 0;
        for (final Lane lane : lanes.all()) {
            for (final Part part : lane.parts.all()) {
                largest = Math.max(largest, part.largestFreeBlockBytes());
            }
        }
        return largest;
    }

    /** A step of the program begins: regions hear of it. */
    public void step() {
        for (final Part region : lanes.main().parts.all()) {
            if (region.strategy instanceof StepwiseStrategy stepwise) {
                stepwise.step();
            }
        }
    }

    /** Everything that lanes know is forgotten. */
    public void clear() {
        for (final Lane lane : lanes.all()) {
            if (!lane.isMain()) {
                lanes.chunks.removeAll(lane);
            }
            lane.clear();
        }
        lanes.held(-lanes.totals.heldBytes());
    }
}
