package io.outboard.pool.internal.arena;

import io.outboard.core.BlockVisitor;
import io.outboard.core.StepwiseStrategy;
import java.util.function.LongConsumer;

/**
 * All of a pool at once, for those who look at everything, or end it: while {@link #lock} holds every arena's lock, nothing changes.
 *
 * <p>External lock required: that one.
 *
 * <p>Public for the pool's other packages, not for applications.
 */
public final class WholePool {

    private final Arenas arenas;

    WholePool(final Arenas arenas) {
        this.arenas = arenas;
    }

    /** Takes every lock, for those who look at all of the pool, or end it. */
    public void lock() {
        final Arena[] all = arenas.all();
        for (int i = 1; i < all.length; i++) {
            all[i].lock();
        }
        arenas.main().lock();
        if (all != arenas.all()) {
            // One more arena meanwhile.
            unlock(all);
            lock();
        }
    }

    public void unlock() {
        unlock(arenas.all());
    }

    private static void unlock(final Arena[] all) {
        for (final Arena arena : all) {
            arena.taken = false;
        }
    }

    /** In the order of addresses within a region; blocks of chunks in their places. */
    public void forEachBlock(final BlockVisitor visitor) {
        for (final Segment region : arenas.main().parts.all()) {
            region.forEachBlock((address, sizeBytes, free) -> {
                final Segment chunk = free ? null : arenas.chunkAt(address);
                if (chunk == null) {
                    visitor.visit(address, sizeBytes, free);
                } else {
                    chunk.forEachBlock(visitor);
                }
            });
        }
    }

    /** What arenas have in limbo, and the addresses of what is on its way to another. */
    public void forEachInLimbo(final LongConsumer visitor) {
        for (final Arena arena : arenas.all()) {
            arena.forEachInLimbo(visitor);
        }
    }

    /** The largest of all arenas, in bytes. */
    public long largestFreeBlockBytes() {
        long largest = 0;
        for (final Arena arena : arenas.all()) {
            for (final Segment part : arena.parts.all()) {
                largest = Math.max(largest, part.largestFreeBlockBytes());
            }
        }
        return largest;
    }

    /** A step of the program begins: regions hear of it. */
    public void step() {
        for (final Segment region : arenas.main().parts.all()) {
            if (region.strategy instanceof StepwiseStrategy stepwise) {
                stepwise.step();
            }
        }
    }

    /** Everything that arenas know is forgotten. */
    public void clear() {
        for (final Arena arena : arenas.all()) {
            if (!arena.isMain()) {
                arenas.chunks.removeAll(arena);
            }
            arena.clear();
        }
        arenas.held(-arenas.totals.heldBytes());
    }
}
