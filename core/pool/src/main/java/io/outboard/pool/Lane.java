package io.outboard.pool;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.Strategy;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Parts of a pool that threads use one at a time, with a lock, limbo and counters of its own. Every pool has a main lane, whose
 * parts are the regions; others, whose parts are chunks, exist where threads contend, see {@link Lanes}.
 *
 * <pre>
 *   free by a thread of this lane    the block is retired and goes to limbo, or is free at once, as the policy says
 *   free by another's                Starts.clear; into the other lane's parcel for this one; a full parcel is sent: inbox
 *   upkeep, with one of 3 operations a few blocks of limbo whose epoch is over are released, a few of the inbox are unpacked
 * </pre>
 *
 * <p>So no operation does the work of many, and nothing that is freed depends on the thread that freed it: whoever has a lane's
 * lock may do all of that. Locks are taken in this order: a lane's, then the main lane's; no lane's while another's is held
 * otherwise, but all of them, in the order of their numbers and the main lane's last, by who looks at the whole pool.
 *
 * <p>Safe for any number of threads. Methods take the lock unless they say that it is held. They release it by writing the
 * field, see {@link SpinLock}; where nanoseconds count, by {@link #unlock}.
 */
final class Lane extends SpinLock {

    /** An odd number with the operation itself: many programs allocate and free in turn, and both are to have their share. */
    private static final int OPERATIONS_BETWEEN_UPKEEP = 2;

    /** Twice as many as so many operations retire, so that what is ready is soon released: a tenth of a microsecond or two. */
    private static final int RELEASED_IN_UPKEEP = 3;

    /** More than so many operations of this lane's threads hand out. */
    private static final int UNPACKED_IN_UPKEEP = 6;

    /** Blocks released in one hold of the lock when a request finds no room: some microseconds. */
    private static final int RELEASES_IN_A_HOLD = 256;

    /** Much is more than one part in so many. */
    private static final long MUCH_SHARE = 4;

    /** Blocks released between two attempts to place a request. */
    private static final int RELEASES_BETWEEN = 16;

    /** 0 is the main lane. */
    final int number;

    final PoolCounters counters = new PoolCounters();
    private final Limbo limbo;
    private final Lanes lanes;
    private final boolean immediate;
    private final boolean ordered;

    /** Whether the program says how much may be in limbo; else whole batches are looked at. */
    private final boolean limited;

    /** So much that is new in limbo is worth an epoch though memory isn't needed, in bytes. */
    volatile long recycledAbove = Long.MAX_VALUE;

    final Parts parts = new Parts();

    /** Why an attempt failed, for {@link #placeOrSayWhy}. */
    private @Nullable BlockTableFullException tableFull;

    final Mail mail;

    // Of Lanes, under the lock

    /** Slots of threads whose home it is, by Lanes' monitor. */
    int homes;

    private int operationsToUpkeep;
    private int waitsBefore;
    private long operationsBefore;

    Lane(final int number, final int mostLanes, final Lanes lanes, final ReusePolicy policy, final boolean limited) {
        this.number = number;
        this.lanes = lanes;
        immediate = policy == ReusePolicy.IMMEDIATE;
        ordered = policy == ReusePolicy.STREAM_ORDERED;
        this.limited = limited;
        mail = new Mail(lanes, mostLanes);
        limbo = new Limbo(lanes.epochs);
    }

    boolean isMain() {
        return number == 0;
    }

    // Operations

    /** An address, or {@code NO_SPACE}, from what is free here and what upkeep makes so. */
    long allocate(final long sizeBytes, final long alignmentBytes) {
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
    long allocateRecovering(final long sizeBytes, final long alignmentBytes) {
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
     * of this lane takes what comes free.
     *
     * @param epoch the epoch of all work that has passed, or {@link StreamEpochs#MARKED} for those whose marks have finished
     */
    long passAndAllocate(final long epoch, final long sizeBytes, final long alignmentBytes) {
        lock();
        try {
            lanes.epochs.pass(epoch);
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
    long allocateOrdered(final long sizeBytes, final long granuleMask, final long stream) {
        lock();
        try {
            // Limbo outlives its regions.
            lanes.checkOpen();
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
     * Frees a block of this lane, for good or into limbo.
     *
     * @param chunk where it is, null in the main lane
     * @return its size in bytes
     */
    long free(final @Nullable Part chunk, final long address, final long stream) {
        lock();
        boolean held = true;
        try {
            final Part part = chunk == null ? partAt(address) : chunk;
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
     * Frees a block of another lane, by a thread that this one is the home of.
     *
     * @return false if no block in use starts there, and nothing changed
     */
    boolean send(final Part chunk, final Lane owner, final long address) {
        lock();
        boolean held = true;
        try {
            mail.reserve(owner);
            final boolean sent = endStart(chunk, address);
            if (sent) {
                counters.ended();
                mail.add(owner, chunk, address);
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
            mail.post();
        } finally {
            taken = false;
        }
    }

    /** As {@link #post}, unless somebody has the lock: nobody waits for statistics. */
    void tryPost() {
        if (tryLock()) {
            try {
                mail.post();
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
    void close() {
        lock();
        try {
            unpack(Integer.MAX_VALUE);
            limbo.close();
            limbo.forgetNew();
        } finally {
            taken = false;
        }
    }

    /** An epoch is about to begin: for what is in batches that are full, unless every byte counts. */
    void closeFull() {
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
    void endStream(final long stream) {
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

    /** Places a request, releasing and unpacking until it fits, or nothing is left, or it was much for one hold. */
    private long recover(final long sizeBytes, final long alignmentBytes) {
        limbo.lookAgain();
        long address = place(sizeBytes, alignmentBytes);
        for (int left = RELEASES_IN_A_HOLD; address == Strategy.NO_SPACE && left > 0 && hasWork(); ) {
            left -= unpack(RELEASES_BETWEEN) + release(RELEASES_BETWEEN);
            address = place(sizeBytes, alignmentBytes);
        }
        return address;
    }

    /** False if nothing was ready. */
    boolean releaseSome() {
        limbo.lookAgain();
        return unpack(RELEASES_IN_A_HOLD) + release(RELEASES_IN_A_HOLD) > 0;
    }

    private boolean hasWork() {
        return limbo.hasReady() || mail.hasArrived();
    }

    /** What was freed here waits for the device, or has arrived; without the lock, so it may just have changed. */
    boolean hasLimbo() {
        return counters.limboBytes() > 0 || mail.hasArrived();
    }

    /** So much of what it has that to recycle it serves many requests. As {@link #hasLimbo}, it may just have changed. */
    boolean hasMuchInLimbo() {
        // A region may have many times as many addresses as memory.
        final long bytes = isMain() ? lanes.heldBytes() : parts.bytes();
        return counters.limboBytes() > bytes / MUCH_SHARE || mail.hasArrived();
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
        if (waits - waitsBefore >= Lanes.WAITS_LOOKED_AT) {
            final long operations = counters.allocations() + counters.frees();
            final long since = operations - operationsBefore;
            waitsBefore = waits;
            operationsBefore = operations;
            if (since < Lanes.WAITS_LOOKED_AT * Lanes.OPERATIONS_FOR_A_WAIT) {
                lanes.moveApart(this);
            }
        }
    }

    /** Releases so many ready blocks; how many it were. */
    private int release(final int most) {
        int done = 0;
        while (done < most) {
            final Limbo.Batch batch = limbo.nextReady();
            if (batch == null) {
                break;
            }
            final int last = batch.count - 1;
            final Part part = parts.withId(batch.parts[last]);
            part.strategy.release(batch.retired[last]);
            limbo.released();
            part.gained();
            giveBackIfEmpty(part);
            done++;
        }
        if (done > 0) {
            counters.limbo(limbo.bytes());
        }
        return done;
    }

    /** Frees so many blocks that other threads have freed; how many it were. */
    private int unpack(final int most) {
        int done = 0;
        for (Parcel parcel = most > 0 ? mail.arrived() : null;
                parcel != null;
                parcel = ++done < most ? mail.arrived() : null) {
            final int last = parcel.count - 1;
            final Part part = parcel.part(last);
            final long address = parcel.addresses[last];
            if (immediate) {
                final long before = part.strategy.freeBytes();
                part.strategy.free(address);
                counters.left(part.strategy.freeBytes() - before, 0);
                part.gained();
                mail.taken(parcel);
                giveBackIfEmpty(part);
            } else {
                limbo.reserve(Limbo.ALL_STREAMS);
                final long retired = part.strategy.retire(address);
                final long sizeBytes = part.strategy.retiredBytes(retired);
                addToLimbo(part, retired, sizeBytes);
                mail.taken(parcel);
                counters.left(sizeBytes, limbo.bytes());
            }
        }
        return done;
    }

    /** Tries each part once. An address, or {@code NO_SPACE}, also if there is space but no room for it in the tables. */
    private long place(final long sizeBytes, final long alignmentBytes) {
        final Part[] all = parts.all();
        int index = parts.current;
        for (int tried = 0; tried < all.length; tried++) {
            final long address = placeIn(all[index], sizeBytes, alignmentBytes);
            if (address >= 0) {
                parts.current = index;
                return address;
            }
            index = index + 1 == all.length ? 0 : index + 1;
        }
        return Strategy.NO_SPACE;
    }

    /** An address, {@code NO_SPACE}, or {@link Part#NEEDS_MEMORY}. */
    long placeIn(final Part part, final long sizeBytes, final long alignmentBytes) {
        final Strategy strategy = part.strategy;
        final long before = strategy.freeBytes();
        final long address;
        try {
            address = part.place(sizeBytes, alignmentBytes);
        } catch (final BlockTableFullException e) {
            tableFull = e;
            return Strategy.NO_SPACE;
        }
        if (address >= 0) {
            counters.allocated(before - strategy.freeBytes());
            if (part.starts != null) {
                part.starts.set(address);
            }
            lanes.counted(this);
        }
        return address;
    }

    private long reuse(final long sizeBytes, final long stream) {
        final Limbo.Batch batch = limbo.use(sizeBytes, stream);
        if (batch == null) {
            return Strategy.NO_SPACE;
        }
        final Part part = parts.withId(batch.parts[limbo.usedAgain]);
        final long blockBytes = batch.sizes[limbo.usedAgain];
        final long address = part.strategy.restore(batch.retired[limbo.usedAgain]);
        limbo.forget(batch);
        counters.reused(blockBytes, limbo.bytes());
        if (part.starts != null) {
            part.starts.set(address);
        }
        return address;
    }

    private long freeAtOnce(final Part part, final long address) {
        if (part.starts != null && !part.starts.clear(address)) {
            throw notInUse(part, address);
        }
        final long before = part.strategy.freeBytes();
        part.strategy.free(address);
        final long sizeBytes = part.strategy.freeBytes() - before;
        counters.freed(sizeBytes, 0);
        part.gained();
        giveBackIfEmpty(part);
        return sizeBytes;
    }

    private long retire(final Part part, final long address, final long stream) {
        limbo.reserve(ordered ? stream : Limbo.ALL_STREAMS);
        if (part.starts != null && !part.starts.clear(address)) {
            throw notInUse(part, address);
        }
        final long retired = part.strategy.retire(address);
        final long sizeBytes = part.strategy.retiredBytes(retired);
        addToLimbo(part, retired, sizeBytes);
        counters.freed(sizeBytes, limbo.bytes());
        return sizeBytes;
    }

    private void addToLimbo(final Part part, final long retired, final long sizeBytes) {
        final boolean closed = limbo.add(part.id, retired, sizeBytes);
        if ((closed || limited) && limbo.newBytes() > recycledAbove) {
            lanes.wantsRecycling(this);
        }
    }

    private static boolean endStart(final Part chunk, final long address) {
        return chunk.starts != null && chunk.starts.clear(address);
    }

    private void giveBackIfEmpty(final Part part) {
        if (part.owner != null && part.isEmpty()) {
            lanes.chunks.emptied(this, part);
        }
    }

    /** Where an address is; throws unless it is in a part of this lane. */
    private Part partAt(final long address) {
        final Part part = parts.at(address);
        if (part == null) {
            lanes.checkOpen();
            throw mustBeAStart(address, "it lies in none of the " + parts.all().length + " regions of the pool");
        }
        if (isMain() && lanes.chunks.isChunk(address)) {
            // Who asks has looked for the chunk before it was there.
            throw mustBeAStart(address, "it was freed already");
        }
        return part;
    }

    /** What is wrong with an address in a chunk that isn't among its starts. */
    private static InvalidAddressException notInUse(final Part part, final long address) {
        try {
            part.strategy.sizeOf(address);
        } catch (final InvalidAddressException e) {
            return e;
        }
        return mustBeAStart(address, "it was freed already, by another thread");
    }

    private static InvalidAddressException mustBeAStart(final long address, final String why) {
        return new InvalidAddressException(
                address, "address=0x" + Long.toHexString(address) + " must be the start of a block in use: " + why);
    }

    /** Throws for an address in a chunk at which no block in use starts. */
    void refuse(final Part chunk, final long address) {
        lock();
        try {
            lanes.checkOpen();
            throw notInUse(chunk, address);
        } finally {
            taken = false;
        }
    }

    // For those who look at everything; the lock is held

    void forEachInLimbo(final LongConsumer visitor) {
        limbo.forEach((batch, index) -> visitor.accept(addressOf(batch, index)));
        mail.forEach(visitor);
    }

    private long addressOf(final Limbo.Batch batch, final int index) {
        return parts.withId(batch.parts[index]).strategy.retiredAddress(batch.retired[index]);
    }

    /** All parts are gone, with all that was in them. */
    void clear() {
        parts.clear();
        mail.clear();
        limbo.clear();
        counters.closed();
    }

    /**
     * As {@link #place}, when all else has failed.
     *
     * @throws BlockTableFullException if that is why
     */
    long placeOrSayWhy(final long sizeBytes, final long alignmentBytes) {
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
    void trim(final @Nullable Part chunk, final long address, final long newSizeBytes) {
        lock();
        try {
            final Part part = usedPart(chunk, address);
            final Strategy strategy = part.strategy;
            if (immediate) {
                final long before = strategy.freeBytes();
                strategy.trim(address, newSizeBytes);
                counters.resized(before - strategy.freeBytes());
                part.gained();
            } else {
                limbo.reserve(Limbo.ALL_STREAMS);
                final long tail = strategy.retireTail(address, newSizeBytes);
                if (tail != Strategy.NO_TAIL) {
                    final long tailBytes = strategy.retiredBytes(tail);
                    addToLimbo(part, tail, tailBytes);
                    counters.left(tailBytes, limbo.bytes());
                }
            }
        } finally {
            taken = false;
        }
    }

    /** Grows a block in place. Its address, {@code NO_SPACE}, or {@link Part#NEEDS_MEMORY}. */
    long extend(final @Nullable Part chunk, final long address, final long newSizeBytes) {
        lock();
        try {
            return extendHeld(chunk, address, newSizeBytes);
        } finally {
            taken = false;
        }
    }

    /** As {@link #extend}; the lock is held. */
    long extendHeld(final @Nullable Part chunk, final long address, final long newSizeBytes) {
        final Part part = usedPart(chunk, address);
        final Strategy strategy = part.strategy;
        final long oldBytes = strategy.sizeOf(address);
        final long before = strategy.freeBytes();
        if (!strategy.extend(address, newSizeBytes)) {
            return Strategy.NO_SPACE;
        }
        final long moreBytes = before - strategy.freeBytes();
        final long end = address + oldBytes + moreBytes;
        if (end > part.backedEnd()) {
            // There is room in the tables for the tail, since there was before.
            strategy.trim(address, oldBytes);
            return part.needsMemoryTo(end);
        }
        counters.resized(moreBytes);
        return address;
    }

    long sizeOf(final @Nullable Part chunk, final long address) {
        lock();
        try {
            final long sizeBytes = usedPart(chunk, address).strategy.sizeOf(address);
            return sizeBytes;
        } finally {
            taken = false;
        }
    }

    private Part usedPart(final @Nullable Part chunk, final long address) {
        if (chunk == null) {
            return partAt(address);
        }
        if (chunk.starts != null && !chunk.starts.contains(address)) {
            throw notInUse(chunk, address);
        }
        return chunk;
    }
}
