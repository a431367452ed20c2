package io.outboard.pool.internal.arena;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.Strategy;
import io.outboard.pool.internal.guard.SpinLock;
import io.outboard.pool.internal.limbo.Limbo;
import io.outboard.pool.internal.limbo.StreamEpochs;
import org.jspecify.annotations.Nullable;

/**
 * Segments of a pool that threads use one at a time, with a lock, limbo and counters of its own. Every pool has a main arena, whose
 * parts are the regions; others, whose parts are chunks, exist where threads contend, see {@link Arenas}.
 *
 * <pre>
 *   free by a thread of this arena    the block is retired and goes to limbo, or is free at once, as the policy says
 *   free by another's                BlockStarts.clear; into the other arena's batch for this one; a full batch is sent: inbox
 *   upkeep, with one of 3 operations a few blocks of limbo whose epoch is over are released, a few of the inbox are unpacked
 * </pre>
 *
 * <p>So no operation does the work of many, and nothing that is freed depends on the thread that freed it: whoever has an arena's
 * lock may do all of that. Locks are taken in this order: an arena's, then the main arena's; no arena's while another's is held
 * otherwise, but all of them, in the order of their numbers and the main arena's last, by who looks at the whole pool.
 *
 * <p>Safe for any number of threads. Methods take the lock unless they say that it is held. They release it by writing the
 * field, see {@link SpinLock}; where nanoseconds count, by {@link #unlock}.
 *
 * <p>Public for the pool's other packages, not for applications.
 */
public final class Arena extends ArenaBlocks {

    /** An odd number with the operation itself: many programs allocate and free in turn, and both are to have their share. */
    private static final int OPERATIONS_BETWEEN_UPKEEP = 2;

    /** Twice as many as so many operations retire, so that what is ready is soon released: a tenth of a microsecond or two. */
    private static final int RELEASED_IN_UPKEEP = 3;

    /** More than so many operations of this arena's threads hand out. */
    private static final int UNPACKED_IN_UPKEEP = 6;

    /** Much is more than one part in so many. */
    private static final long MUCH_SHARE = 4;

    // Of Arenas, under the lock

    /** Slots of threads whose home it is, by Arenas' monitor. */
    int homes;

    private int operationsToUpkeep;
    private int waitsBefore;
    private long operationsBefore;

    Arena(final int number, final int mostArenas, final Arenas arenas, final LimboRules rules) {
        super(number, mostArenas, arenas, rules);
    }

    // Operations

    /** An address, or {@code NO_SPACE}, from what is free here and what upkeep makes so. */
    public long allocate(final long sizeBytes, final long alignmentBytes) {
        lock();
        boolean held = true;
        try {
            keepUp();
            final long address = place(sizeBytes, alignmentBytes);
            unlock();
            held = false;
            return address;
        } finally {
            if (held) {
                taken = false;
            }
        }
    }

    /**
     * As {@link #allocate}, for a request that found no room: releases whatever is ready and unpacks whatever has arrived until
     * it fits, in the same hold, so that no other thread takes what comes free; in several if it is much.
     */
    public long allocateRecovering(final long sizeBytes, final long alignmentBytes) {
        while (true) {
            lock();
            try {
                final long address = recover(sizeBytes, alignmentBytes);
                if (address != Strategy.NO_SPACE || !hasWork()) {
                    return address;
                }
            } finally {
                taken = false;
            }
        }
    }

    /**
     * The device has finished: in the hold of the lock in which that becomes known this request is placed, so that no other thread
     * of this arena takes what comes free.
     *
     * @param epoch the epoch of all work that has passed, or {@link StreamEpochs#MARKED} for those whose marks have finished
     */
    public long passAndAllocate(final long epoch, final long sizeBytes, final long alignmentBytes) {
        lock();
        try {
            arenas.epochs.pass(epoch);
            final long address = recover(sizeBytes, alignmentBytes);
            if (address != Strategy.NO_SPACE || !hasWork()) {
                return address;
            }
        } finally {
            taken = false;
        }
        return allocateRecovering(sizeBytes, alignmentBytes);
    }

    /** As {@link #allocate}, first from what was freed on a stream. */
    public long allocateOrdered(final long sizeBytes, final long granuleMask, final long stream) {
        lock();
        try {
            // Limbo outlives its regions.
            arenas.checkOpen();
            long address = reuse((sizeBytes + granuleMask) & ~granuleMask, stream);
            if (address == Strategy.NO_SPACE) {
                keepUp();
                address = place(sizeBytes, 1);
            }
            return address;
        } finally {
            taken = false;
        }
    }

    /**
     * Frees a block of this arena, for good or into limbo.
     *
     * @param chunk where it is, null in the main arena
     * @return its size in bytes
     */
    public long free(final @Nullable Segment chunk, final long address, final long stream) {
        lock();
        boolean held = true;
        try {
            final Segment part = chunk == null ? partAt(address) : chunk;
            final long sizeBytes = immediate ? freeAtOnce(part, address) : retire(part, address, stream);
            keepUpIfItCan();
            unlock();
            held = false;
            return sizeBytes;
        } finally {
            if (held) {
                taken = false;
            }
        }
    }

    /**
     * Frees a block of another arena, by a thread that this one is the home of.
     *
     * @return false if no block in use starts there, and nothing changed
     */
    public boolean send(final Segment chunk, final Arena owner, final long address) {
        lock();
        boolean held = true;
        try {
            remoteFrees.reserve(owner);
            final boolean sent = endStart(chunk, address);
            if (sent) {
                counters.ended();
                remoteFrees.add(owner, chunk, address);
            }
            keepUpIfItCan();
            unlock();
            held = false;
            return sent;
        } finally {
            if (held) {
                taken = false;
            }
        }
    }

    /** Sends all that was freed here and belongs elsewhere. */
    void post() {
        lock();
        try {
            remoteFrees.post();
        } finally {
            taken = false;
        }
    }

    /** As {@link #post}, unless somebody has the lock: nobody waits for statistics. */
    void tryPost() {
        if (tryLock()) {
            try {
                remoteFrees.post();
            } finally {
                taken = false;
            }
        }
    }

    void tryUnpack() {
        if (tryLock()) {
            try {
                unpack(Integer.MAX_VALUE);
            } finally {
                taken = false;
            }
        }
    }

    /** What was freed by now, by other threads too, is free after the next epoch: closes all batches. */
    public void close() {
        lock();
        try {
            unpack(Integer.MAX_VALUE);
            limbo.close();
            limbo.forgetNew();
        } finally {
            taken = false;
        }
    }

    /** An epoch is about to begin: for what is in batches that are closed, unless every byte counts. */
    public void closeFull() {
        lock();
        try {
            if (limited) {
                limbo.close();
            }
            limbo.forgetNew();
        } finally {
            taken = false;
        }
    }

    /** See {@link Limbo#endStream}. */
    public void endStream(final long stream) {
        lock();
        try {
            limbo.endStream(stream);
        } finally {
            taken = false;
        }
    }

    /** Releases all that is ready, in many short holds of the lock. */
    void releaseAll() {
        boolean more = true;
        while (more) {
            lock();
            try {
                more = releaseSome();
            } finally {
                taken = false;
            }
        }
    }

    // The lock is held

    /** What was freed here waits for the device, or has arrived; without the lock, so it may just have changed. */
    boolean hasLimbo() {
        return counters.limboBytes() > 0 || remoteFrees.hasArrived();
    }

    /** So much of what it has that to recycle it serves many requests. As {@link #hasLimbo}, it may just have changed. */
    public boolean hasMuchInLimbo() {
        // A region may have many times as many addresses as memory.
        final long bytes = isMain() ? arenas.totals.heldBytes() : parts.bytes();
        return counters.limboBytes() > bytes / MUCH_SHARE || remoteFrees.hasArrived();
    }

    /** Some of what is to be done anyway, once in a while: then it costs the least, and most operations do none. */
    private void keepUp() {
        if (--operationsToUpkeep < 0) {
            operationsToUpkeep = OPERATIONS_BETWEEN_UPKEEP;
            release(RELEASED_IN_UPKEEP);
            unpack(UNPACKED_IN_UPKEEP);
            if (waits != waitsBefore) {
                noteWaits();
            }
        }
    }

    /** After a block was freed: the caller mustn't believe that it wasn't. */
    private void keepUpIfItCan() {
        try {
            keepUp();
        } catch (final StackOverflowError | OutOfMemoryError ignored) {
            // A later operation does it.
        }
    }

    /** Threads that wait often had better be apart. */
    private void noteWaits() {
        if (waits - waitsBefore >= Arenas.WAITS_LOOKED_AT) {
            final long operations = counters.allocations() + counters.frees();
            final long since = operations - operationsBefore;
            waitsBefore = waits;
            operationsBefore = operations;
            if (since < Arenas.WAITS_LOOKED_AT * Arenas.OPERATIONS_FOR_A_WAIT) {
                arenas.moveApart(this);
            }
        }
    }

    /** Throws for an address in a chunk at which no block in use starts. */
    public void refuse(final Segment chunk, final long address) {
        lock();
        try {
            arenas.checkOpen();
            throw WrongAddress.inChunk(chunk, address);
        } finally {
            taken = false;
        }
    }

    /**
     * As {@link #place}, when all else has failed.
     *
     * @throws BlockTableFullException if that is why
     */
    public long placeOrSayWhy(final long sizeBytes, final long alignmentBytes) {
        lock();
        try {
            tableFull = null;
            final long address = place(sizeBytes, alignmentBytes);
            final BlockTableFullException why = tableFull;
            tableFull = null;
            if (address == Strategy.NO_SPACE && why != null) {
                throw why;
            }
            return address;
        } finally {
            taken = false;
        }
    }

    // Blocks in use

    /** The tail may be in use by the device like a block that is freed. */
    public void trim(final @Nullable Segment chunk, final long address, final long newSizeBytes) {
        lock();
        try {
            trimHeld(chunk, address, newSizeBytes);
        } finally {
            taken = false;
        }
    }

    /** Grows a block in place. Its address, {@code NO_SPACE}, or {@link Segment#NEEDS_MEMORY}. */
    public long extend(final @Nullable Segment chunk, final long address, final long newSizeBytes) {
        lock();
        try {
            return extendHeld(chunk, address, newSizeBytes);
        } finally {
            taken = false;
        }
    }

    public long sizeOf(final @Nullable Segment chunk, final long address) {
        lock();
        try {
            final long sizeBytes = usedPart(chunk, address).strategy.sizeOf(address);
            return sizeBytes;
        } finally {
            taken = false;
        }
    }
}
