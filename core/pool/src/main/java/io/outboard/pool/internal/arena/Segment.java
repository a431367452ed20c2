package io.outboard.pool.internal.arena;

import io.outboard.core.BlockVisitor;
import io.outboard.core.GrowableRegion;
import io.outboard.core.Region;
import io.outboard.core.StepwiseStrategy;
import io.outboard.core.Strategy;
import org.jspecify.annotations.Nullable;

/**
 * A range of addresses that one strategy divides: a region of the pool, or a chunk, which is a block of a region that an arena
 * divides further.
 *
 * <p>Guarded by the lock of the arena that has it, but for {@link #holds} and {@link #starts}, which are safe for any number
 * of threads.
 *
 * <p>Public for the pool's other packages, not for applications.
 */
public final class Segment {

    /** In place of an address: there is room only where memory must be put first, up to {@link #neededEnd}. */
    public static final long NEEDS_MEMORY = Strategy.NO_SPACE - 1;

    /** As the source gave it. */
    public final Region taken;

    /** What the strategy divides: the part of it that starts at a granule. */
    public final Region used;

    public final Strategy strategy;

    /** How it grows in place, null if it doesn't. */
    public final @Nullable GrowableRegion growable;

    /** Where its memory has moved away from. */
    public final Holes holes;

    /** Of a chunk, null for a region. */
    final @Nullable BlockStarts starts;

    /** The arena that a chunk belongs to for good; null for a region. */
    public final @Nullable Arena owner;

    /** Names it among the parts of its arena; blocks in limbo are known by it. */
    int id;

    /** Memory behind it, in bytes; a chunk's is its region's. */
    public long heldBytes;

    /** Where its last memory ends; guarded as the rest. */
    private long memoryEnd;

    /** No block handed out ends after it. Release and acquire: who is handed a block behind the old one finds it. */
    private volatile long backedEnd;

    private final boolean refusesAllLarger;

    /** The least size that was refused since anything became free here: no more is looked for. */
    private long refusedBytes = Long.MAX_VALUE;

    /** Where memory must end for the block that was last answered with {@link #NEEDS_MEMORY}. */
    private long neededEnd;

    private Segment(
            final Region taken,
            final Region used,
            final Strategy strategy,
            final @Nullable GrowableRegion growable,
            final int mostBlocks,
            final @Nullable Arena owner,
            final long heldBytes,
            final long backedEnd) {
        this.taken = taken;
        this.used = used;
        this.strategy = strategy;
        this.growable = growable;
        holes = new Holes(strategy, mostBlocks);
        this.owner = owner;
        this.heldBytes = heldBytes;
        this.backedEnd = backedEnd;
        memoryEnd = growable == null ? taken.endAddress() : backedEnd;
        refusesAllLarger = strategy.refusesAllLarger();
        starts = owner == null ? null : new BlockStarts(used.address(), used.sizeBytes(), strategy.granuleBytes());
    }

    public static Segment whole(final Region taken, final Region used, final Strategy strategy) {
        return new Segment(taken, used, strategy, null, 0, null, taken.sizeBytes(), used.endAddress());
    }

    /** Of which nothing is backed yet. */
    public static Segment growing(
            final Region taken,
            final Region used,
            final Strategy strategy,
            final GrowableRegion growable,
            final int mostBlocks) {
        return new Segment(taken, used, strategy, growable, mostBlocks, null, 0, taken.address());
    }

    static Segment chunk(final Region region, final Strategy strategy, final Arena owner) {
        return new Segment(region, region, strategy, null, 0, owner, 0, region.endAddress());
    }

    boolean holds(final long address) {
        return address >= used.address() && address < backedEnd;
    }

    /** How far memory is behind it from now on. */
    public void back(final long newHeldBytes, final long newBackedEnd) {
        heldBytes = newHeldBytes;
        memoryEnd = newBackedEnd;
        backedEnd = newBackedEnd;
        gained();
    }

    /** Nobody is handed what ends after it from now on, though there is memory. */
    public void withdrawBehind(final long end) {
        backedEnd = end;
        gained();
    }

    /** Something became free, or may. */
    public void gained() {
        // Seldom written: threads of other arenas read what lies beside it.
        if (refusedBytes != Long.MAX_VALUE) {
            refusedBytes = Long.MAX_VALUE;
        }
    }

    /** An address, {@code NO_SPACE}, or {@link #NEEDS_MEMORY}. */
    long place(final long sizeBytes, final long alignmentBytes) {
        if (sizeBytes >= refusedBytes) {
            return Strategy.NO_SPACE;
        }
        final long before = strategy.freeBytes();
        final long address =
                alignmentBytes == 1 ? strategy.allocate(sizeBytes) : strategy.allocate(sizeBytes, alignmentBytes);
        if (address == Strategy.NO_SPACE) {
            if (alignmentBytes == 1 && refusesAllLarger) {
                refusedBytes = sizeBytes;
            }
            return Strategy.NO_SPACE;
        }
        if (growable != null) {
            final long end = address + before - strategy.freeBytes();
            if (end > backedEnd) {
                takeBack(address);
                return needsMemoryTo(end);
            }
        }
        return address;
    }

    /** The same request comes again. */
    private void takeBack(final long address) {
        if (strategy instanceof StepwiseStrategy stepwise) {
            stepwise.takeBack(address);
        } else {
            strategy.free(address);
        }
    }

    /** A block would end where no memory is. */
    long needsMemoryTo(final long end) {
        neededEnd = end;
        return NEEDS_MEMORY;
    }

    /** Read in the same hold of the lock in which {@link #NEEDS_MEMORY} was answered. */
    public long neededEnd() {
        return neededEnd;
    }

    /** Nothing is in use here, nor in limbo. */
    public boolean isEmpty() {
        return strategy.liveBlocks() == holes.count();
    }

    /** Of what nothing backs, nothing is shown. */
    void forEachBlock(final BlockVisitor visitor) {
        if (growable == null) {
            strategy.forEachBlock(visitor);
            return;
        }
        final long end = backedEnd;
        strategy.forEachBlock((address, sizeBytes, free) -> {
            final long backedBytes = Math.min(sizeBytes, end - address);
            if (backedBytes > 0 && !holes.startAt(address)) {
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
    public long usedEnd() {
        final long[] end = {taken.address()};
        strategy.forEachBlock(
                (address, sizeBytes, free) -> end[0] = free || holes.startAt(address) ? end[0] : address + sizeBytes);
        return end[0];
    }

    long backedEnd() {
        return backedEnd;
    }

    public long memoryEnd() {
        return memoryEnd;
    }
}
