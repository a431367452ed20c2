package io.outboard.pool.internal.arena;

import io.outboard.core.BlockVisitor;
import io.outboard.core.GrowableRegion;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.PartRetiringStrategy;
import io.outboard.core.Region;
import io.outboard.core.SlabStrategy;
import io.outboard.core.StepwiseStrategy;
import io.outboard.core.Strategy;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A segment is a piece of memory that one strategy divides: a region of the pool. It belongs to one arena for good.
 *
 * <p>Guarded by that arena's lock, except for {@link #holds} and {@link #starts}, which are safe for any number of
 * threads.
 */
public final class Segment {

    /** The region as the source gave it. */
    public final Region taken;

    public final Strategy strategy;

    /** The strategy, if it retires parts of blocks; null if not. */
    private final @Nullable PartRetiringStrategy parts;

    /** The strategy, if it has slabs; null if not. */
    public final @Nullable SlabStrategy slabs;

    /** The strategy, if it is told of steps; null if not. */
    final @Nullable StepwiseStrategy steps;

    /** What makes the region grow in place; null if it doesn't. */
    public final @Nullable GrowableRegion growable;

    /** The addresses whose memory has moved away. */
    public final Holes holes;

    public final Arena owner;

    /** The address where the strategy's region begins: the first granule of what was taken. */
    public final long begin;

    /**
     * The starts of blocks; null as long as there is one arena, whose threads alone free blocks. Written under its
     * lock.
     */
    public volatile @Nullable BlockStarts starts;

    /** The segment's name among those of its arena, by which blocks in limbo know it. */
    int id;

    /** True while its tables have many blocks to hold: memory is put elsewhere until they have fewer. */
    public boolean crowded;

    /** True while the segment's tables should not grow: blocks are placed elsewhere. */
    boolean full;

    /** More blocks in use than this make the segment crowded. */
    private int mostBlocks;

    /** The memory behind its addresses, in bytes. */
    public long heldBytes;

    /** The address where its last memory ends. */
    public long memoryEnd;

    /**
     * No block that is handed out ends after this address. A thread that is handed a block behind an old value finds
     * the new one, since it is volatile.
     */
    volatile long backedEnd;

    /** The least size that was refused since anything became free here: no larger one is looked for. */
    private long refusedBytes = Long.MAX_VALUE;

    /**
     * Makes a segment that isn't added to its arena yet. If it grows in place, no memory is behind it.
     *
     * @param tableBlocks how many blocks its tables can hold
     * @param mostBlocks with more blocks in use it is crowded
     */
    public Segment(
            final Arena owner,
            final Region taken,
            final Strategy strategy,
            final @Nullable GrowableRegion growable,
            final int tableBlocks,
            final int mostBlocks) {
        this.owner = owner;
        this.taken = taken;
        this.strategy = strategy;
        parts = strategy instanceof PartRetiringStrategy retiring ? retiring : null;
        slabs = strategy instanceof SlabStrategy divided ? divided : null;
        steps = strategy instanceof StepwiseStrategy stepwise ? stepwise : null;
        this.growable = growable;
        this.mostBlocks = mostBlocks;
        begin = strategy.region().address();
        holes = new Holes(strategy, parts, tableBlocks);
        heldBytes = growable == null ? taken.sizeBytes() : 0;
        memoryEnd = taken.address() + heldBytes;
        backedEnd = memoryEnd;
    }

    /** Returns whether parts of blocks can be retired: a tail, and free memory, which then can move. */
    public boolean canRetireParts() {
        return parts != null;
    }

    /** Returns the strategy, if {@link #canRetireParts}. */
    public PartRetiringStrategy parts() {
        return Objects.requireNonNull(parts);
    }

    public boolean holds(final long address) {
        return address >= begin && address < backedEnd;
    }

    /** Tells how far memory is behind the addresses from now on. */
    public void back(final long newHeldBytes, final long newBackedEnd) {
        heldBytes = newHeldBytes;
        memoryEnd = newBackedEnd;
        withdrawBehind(newBackedEnd);
        holes.endAt(newBackedEnd);
    }

    /** Hands out no block that ends after an address from now on, though there is memory. */
    public void withdrawBehind(final long end) {
        backedEnd = end;
        gained();
    }

    /** Tells that something became free, or may have. */
    public void gained() {
        // This is seldom written, since threads of other arenas read fields beside it.
        if (refusedBytes != Long.MAX_VALUE) {
            refusedBytes = Long.MAX_VALUE;
        }
    }

    /** Returns whether a request of {@code sizeBytes} or less was refused, and nothing has become free since. */
    boolean refuses(final long sizeBytes) {
        return sizeBytes >= refusedBytes;
    }

    /** Notes that the strategy has no room for a request. */
    void refused(final long sizeBytes, final long alignmentBytes) {
        if (alignmentBytes == 1 && slabs == null) {
            refusedBytes = sizeBytes;
        }
    }

    /**
     * Takes a block back behind which there is no memory; the same request comes again. Returns the negative of the
     * block's end.
     */
    long takeBack(final long address, final long sizeBytes) {
        if (steps == null) {
            strategy.free(address);
        } else {
            steps.takeBack(address);
        }
        return -(address + sizeBytes);
    }

    /** Returns whether nothing is in use here, nor in limbo. Without the lock the answer is a guess. */
    public boolean isEmpty() {
        return strategy.liveBlocks() == holes.count();
    }

    /** Looks how many blocks its tables have to hold. */
    void sample() {
        final int blocks = strategy.liveBlocks() - holes.count();
        crowded = blocks > (crowded ? mostBlocks / 2 : mostBlocks);
        full = crowded && blocks - mostBlocks > mostBlocks / 2;
    }

    /** Lets its tables grow after all, since there is no other memory. Returns false if that makes no difference. */
    boolean makeDo() {
        final boolean was = crowded;
        mostBlocks = was ? Integer.MAX_VALUE : mostBlocks;
        crowded = false;
        full = false;
        return was;
    }

    /** Shows blocks, except where no memory is behind them. */
    void forEachBlock(final BlockVisitor visitor) {
        strategy.forEachBlock(ofBacked(visitor));
    }

    private BlockVisitor ofBacked(final BlockVisitor visitor) {
        final long end = backedEnd;
        return (address, sizeBytes, free) -> {
            final long backedBytes = Math.min(sizeBytes, end - address);
            if (backedBytes > 0 && !holes.startAt(address)) {
                visitor.visit(address, backedBytes, free);
            }
        };
    }

    long largestFreeBlockBytes() {
        final long[] largest = new long[1];
        SlabStrategy.forEachUndivided(
                strategy,
                ofBacked((address, sizeBytes, free) ->
                        largest[0] = free ? Math.max(largest[0], sizeBytes) : largest[0]));
        return largest[0];
    }

    /** Returns the end of the last block in use or in limbo, or the begin of the region. */
    public long lastBlockEnd() {
        final long[] end = {taken.address()};
        strategy.forEachBlock(
                (address, sizeBytes, free) -> end[0] = free || holes.startAt(address) ? end[0] : address + sizeBytes);
        return end[0];
    }

    /** Returns the exception for an address at which no block starts. */
    InvalidAddressException refusal(final long address) {
        try {
            strategy.sizeOf(address);
        } catch (final InvalidAddressException e) {
            return e;
        }
        return new InvalidAddressException(
                address,
                "address=0x" + Long.toHexString(address)
                        + " must be the start of a block in use: it was freed already, by another thread");
    }
}
