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
 * A piece of memory that one strategy divides: a region of the pool. It belongs to one arena for good.
 *
 * <p>Guarded by the lock of that arena, but for {@link #holds} and {@link #starts}, which are safe for any number of threads.
 */
public final class Segment {

    /** As the source gave it. */
    public final Region taken;

    public final Strategy strategy;

    /** The strategy, if it retires parts of blocks; null if not. */
    private final @Nullable PartRetiringStrategy parts;

    /** The strategy, if it has slabs; null if not. */
    public final @Nullable SlabStrategy slabs;

    /** The strategy, if it is told of steps; null if not. */
    final @Nullable StepwiseStrategy steps;

    /** How it grows in place, null if it doesn't. */
    public final @Nullable GrowableRegion growable;

    /** Where its memory has moved away from. */
    public final Holes holes;

    public final Arena owner;

    /** Where the strategy's region begins: at the first granule of what was taken. */
    public final long begin;

    /** Where blocks start; null as long as one arena is all there is, and only its threads free. Written under its lock. */
    public volatile @Nullable BlockStarts starts;

    /** Names it among the segments of its arena; blocks in limbo are known by it. */
    int id;

    /** Its tables have much to hold: memory is put elsewhere, until they have less. */
    public boolean crowded;

    /** They had better grow no more: blocks are placed elsewhere. */
    boolean full;

    /** So many blocks in use make it crowded. */
    private int mostBlocks;

    /** Memory behind it, in bytes. */
    public long heldBytes;

    /** Where its last memory ends. */
    public long memoryEnd;

    /** No block handed out ends after it. Release and acquire: who is handed a block behind the old one finds it. */
    volatile long backedEnd;

    /** The least size that was refused since anything became free here: no more is looked for. */
    private long refusedBytes = Long.MAX_VALUE;

    /** A segment that its arena hasn't got yet, whose tables hold so many blocks at all. Nothing is backed if it grows in place. */
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

    /** Whether parts of blocks can be retired: a tail, and free memory, which then can move. */
    public boolean canRetireParts() {
        return parts != null;
    }

    /** The strategy, if {@link #canRetireParts}. */
    public PartRetiringStrategy parts() {
        return Objects.requireNonNull(parts);
    }

    public boolean holds(final long address) {
        return address >= begin && address < backedEnd;
    }

    /** How far memory is behind it from now on. */
    public void back(final long newHeldBytes, final long newBackedEnd) {
        heldBytes = newHeldBytes;
        memoryEnd = newBackedEnd;
        withdrawBehind(newBackedEnd);
        holes.endAt(newBackedEnd);
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

    /** Whether so much was refused, and nothing became free since. */
    boolean refuses(final long sizeBytes) {
        return sizeBytes >= refusedBytes;
    }

    /** The strategy has no room for so much. */
    void refused(final long sizeBytes, final long alignmentBytes) {
        if (alignmentBytes == 1 && slabs == null) {
            refusedBytes = sizeBytes;
        }
    }

    /** A block lies where no memory is: it is none, and the same request comes again. The negative of where it would end. */
    long takeBack(final long address, final long sizeBytes) {
        if (steps == null) {
            strategy.free(address);
        } else {
            steps.takeBack(address);
        }
        return -(address + sizeBytes);
    }

    /** Nothing is in use here, nor in limbo. A guess without the lock. */
    public boolean isEmpty() {
        return strategy.liveBlocks() == holes.count();
    }

    /** Looks how much its tables have to hold. */
    void sample() {
        final int blocks = strategy.liveBlocks() - holes.count();
        crowded = blocks > (crowded ? mostBlocks / 2 : mostBlocks);
        full = crowded && blocks - mostBlocks > mostBlocks / 2;
    }

    /** There is no other memory: tables may grow after all. False if that makes no difference. */
    boolean makeDo() {
        final boolean was = crowded;
        mostBlocks = was ? Integer.MAX_VALUE : mostBlocks;
        crowded = false;
        full = false;
        return was;
    }

    /** Of what nothing backs, nothing is shown. */
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

    /** The end of the last block in use, limbo included, or where the region begins. */
    public long lastBlockEnd() {
        final long[] end = {taken.address()};
        strategy.forEachBlock(
                (address, sizeBytes, free) -> end[0] = free || holes.startAt(address) ? end[0] : address + sizeBytes);
        return end[0];
    }

    /** Why an address is refused that isn't among the starts. */
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
