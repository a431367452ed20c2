package io.outboard.pool.internal.arena;

import io.outboard.core.BlockVisitor;
import io.outboard.core.StepwiseStrategy;
import java.util.function.LongConsumer;

/**
 * All of a pool at once, for those who look at everything, or end it: while {@link #lock} holds every arena's lock, nothing changes.
 *
 * <p>External lock required: that one.
 */
public final class WholePool {

    private final Arenas arenas;

    WholePool(final Arenas arenas) {
        this.arenas = arenas;
    }

    /** Takes every lock, also if the pool is closed: then it is empty. */
    public void lock() {
        lockAnyway();
        if (!arenas.isClosed() && arenas.breakage.cause != null) {
            unlock();
            arenas.breakage.refuse();
        }
    }

    /** As {@link #lock}, also if something is broken: for who ends the pool. */
    public void lockAnyway() {
        // There may be one more meanwhile.
        for (int count = 0; count < arenas.count(); count++) {
            arenas.arena(count).lockAnyway();
        }
    }

    public void unlock() {
        for (final Arena arena : arenas.all()) {
            arena.taken = false;
        }
    }

    /** In the order of addresses. */
    public void forEachBlock(final BlockVisitor visitor) {
        for (final Segment segment : arenas.segments()) {
            segment.forEachBlock(visitor);
        }
    }

    /** What is in limbo, and the addresses of what is on its way to another arena. */
    public void forEachInLimbo(final LongConsumer visitor) {
        for (final Arena arena : arenas.all()) {
            arena.forEachInLimbo(visitor);
        }
        arenas.streams.forEach(null, visitor);
    }

    /** The largest of all segments, in bytes. */
    public long largestFreeBlockBytes() {
        long largest = 0;
        for (final Segment segment : arenas.segments()) {
            largest = Math.max(largest, segment.largestFreeBlockBytes());
        }
        return largest;
    }

    /** A step of the program begins: strategies hear of it. */
    public void step() {
        for (final Segment segment : arenas.segments()) {
            if (segment.strategy instanceof StepwiseStrategy stepwise) {
                stepwise.step();
            }
        }
    }

    /** Everything that arenas know is forgotten, and who finds what it knew of it a moment ago is refused. */
    public void clear() {
        arenas.breakage.close();
        for (final Arena arena : arenas.all()) {
            arena.clear();
        }
        arenas.clear();
        arenas.streams.clear();
        arenas.totals.held(-arenas.totals.heldBytes());
    }
}
