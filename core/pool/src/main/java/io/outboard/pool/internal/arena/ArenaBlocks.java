package io.outboard.pool.internal.arena;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.Strategy;
import io.outboard.pool.internal.guard.SpinLock;
import io.outboard.pool.internal.limbo.Batch;
import io.outboard.pool.internal.limbo.Limbo;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of an arena: in use in its parts, in limbo, and on their way to and from other arenas. Here is what is done with them under
 * the arena's lock, which is this object, so that what one operation needs lies side by side; {@link Arena} says when.
 *
 * <p>External lock required: this one, but for {@link #isMain} and {@link #hasWork}. What may fail fails before anything has changed.
 */
abstract class ArenaBlocks extends SpinLock {

    /** Blocks released in one hold of the lock when a request finds no room: some microseconds. */
    private static final int RELEASES_IN_A_HOLD = 256;

    /** Blocks released between two attempts to place a request. */
    private static final int RELEASES_BETWEEN = 16;

    /** 0 is the main arena. */
    final int number;

    final PoolCounters counters = new PoolCounters();
    final Limbo limbo;
    final Arenas arenas;
    final boolean immediate;
    private final boolean ordered;

    /** Whether the program says how much may be in limbo; else whole batches are looked at. */
    final boolean limited;

    /** So much that is new in limbo is worth an epoch though memory isn't needed, in bytes. */
    volatile long recycledAbove = Long.MAX_VALUE;

    /** A batch of more bytes is closed, however few its blocks are. */
    volatile long closedAbove = Long.MAX_VALUE;

    public final Segments parts = new Segments();

    /** Why an attempt failed, for {@link Arena#placeOrSayWhy}. */
    @Nullable
    BlockTableFullException tableFull;

    final RemoteFrees remoteFrees;

    ArenaBlocks(final int number, final int mostArenas, final Arenas arenas, final LimboRules rules) {
        this.number = number;
        this.arenas = arenas;
        immediate = rules.immediate();
        ordered = rules.ordered();
        limited = rules.limited();
        remoteFrees = new RemoteFrees(arenas, mostArenas);
        limbo = new Limbo(arenas.epochs);
    }

    public final boolean isMain() {
        return number == 0;
    }

    // Handing out

    /** Tries each part once. An address, or {@code NO_SPACE}, also if there is space but no room for it in the tables. */
    final long place(final long sizeBytes, final long alignmentBytes) {
        final Segment[] all = parts.all();
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

    /** An address, {@code NO_SPACE}, or {@link Segment#NEEDS_MEMORY}. */
    public final long placeIn(final Segment part, final long sizeBytes, final long alignmentBytes) {
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
            arenas.counted(this);
        }
        return address;
    }

    // Taking back

    final long reuse(final long sizeBytes, final long stream) {
        final Batch batch = limbo.use(sizeBytes, stream);
        if (batch == null) {
            return Strategy.NO_SPACE;
        }
        final int used = limbo.usedAgain();
        final Segment part = parts.withId(batch.part(used));
        final long blockBytes = batch.sizeBytes(used);
        final long address = part.strategy.restore(batch.retired(used));
        limbo.forget(batch);
        counters.reused(blockBytes, limbo.bytes());
        if (part.starts != null) {
            part.starts.set(address);
        }
        return address;
    }

    final long freeAtOnce(final Segment part, final long address) {
        if (part.starts != null && !part.starts.clear(address)) {
            throw WrongAddress.inChunk(part, address);
        }
        final long before = part.strategy.freeBytes();
        part.strategy.free(address);
        final long sizeBytes = part.strategy.freeBytes() - before;
        counters.freed(sizeBytes, 0);
        part.gained();
        giveBackIfEmpty(part);
        return sizeBytes;
    }

    final long retire(final Segment part, final long address, final long stream) {
        limbo.reserve(ordered ? stream : Limbo.ALL_STREAMS);
        if (part.starts != null && !part.starts.clear(address)) {
            throw WrongAddress.inChunk(part, address);
        }
        final long retired = part.strategy.retire(address);
        final long sizeBytes = part.strategy.retiredBytes(retired);
        addToLimbo(part, retired, sizeBytes);
        counters.freed(sizeBytes, limbo.bytes());
        return sizeBytes;
    }

    private void addToLimbo(final Segment part, final long retired, final long sizeBytes) {
        final boolean closed = limbo.add(part.id, retired, sizeBytes, closedAbove);
        if ((closed || limited) && limbo.newBytes() > recycledAbove) {
            arenas.wantsRecycling(number);
        }
    }

    static boolean endStart(final Segment chunk, final long address) {
        return chunk.starts != null && chunk.starts.clear(address);
    }

    private void giveBackIfEmpty(final Segment part) {
        if (part.owner != null && part.isEmpty()) {
            arenas.chunks.emptied(this, part);
        }
    }

    // What is ready to be handed out again

    /** Places a request, releasing and unpacking until it fits, or nothing is left, or it was much for one hold. */
    final long recover(final long sizeBytes, final long alignmentBytes) {
        limbo.lookAgain();
        long address = place(sizeBytes, alignmentBytes);
        for (int left = RELEASES_IN_A_HOLD; address == Strategy.NO_SPACE && left > 0 && hasWork(); ) {
            left -= unpack(RELEASES_BETWEEN) + release(RELEASES_BETWEEN);
            address = place(sizeBytes, alignmentBytes);
        }
        return address;
    }

    /** False if nothing was ready. */
    final boolean releaseSome() {
        limbo.lookAgain();
        return unpack(RELEASES_IN_A_HOLD) + release(RELEASES_IN_A_HOLD) > 0;
    }

    final boolean hasWork() {
        return limbo.hasReady() || remoteFrees.hasArrived();
    }

    /** Releases so many ready blocks; how many it were. */
    final int release(final int most) {
        int done = 0;
        while (done < most) {
            final Batch batch = limbo.nextReady();
            if (batch == null) {
                break;
            }
            final Segment part = parts.withId(batch.lastPart());
            final int first = batch.lastRun(most - done);
            final int run = batch.count() - first;
            part.strategy.releaseAll(batch.retired(), first, batch.count());
            limbo.released(run);
            part.gained();
            giveBackIfEmpty(part);
            done += run;
        }
        if (done > 0) {
            counters.limbo(limbo.bytes());
        }
        return done;
    }

    /** Frees so many blocks that other threads have freed; how many it were. */
    final int unpack(final int most) {
        int done = 0;
        for (RemoteFreeBatch batch = most > 0 ? remoteFrees.arrived() : null;
                batch != null;
                batch = ++done < most ? remoteFrees.arrived() : null) {
            final int last = batch.count - 1;
            final Segment part = batch.part(last);
            final long address = batch.addresses[last];
            if (immediate) {
                final long before = part.strategy.freeBytes();
                part.strategy.free(address);
                counters.left(part.strategy.freeBytes() - before, 0);
                part.gained();
                remoteFrees.taken(batch);
                giveBackIfEmpty(part);
            } else {
                limbo.reserve(Limbo.ALL_STREAMS);
                final long retired = part.strategy.retire(address);
                final long sizeBytes = part.strategy.retiredBytes(retired);
                addToLimbo(part, retired, sizeBytes);
                remoteFrees.taken(batch);
                counters.left(sizeBytes, limbo.bytes());
            }
        }
        return done;
    }

    // Blocks in use

    /** Where an address is; throws unless it is in a part of this arena. */
    final Segment partAt(final long address) {
        final Segment part = parts.at(address);
        if (part == null) {
            arenas.checkOpen();
            throw WrongAddress.of(address, "it lies in none of the " + parts.all().length + " regions of the pool");
        }
        if (isMain() && arenas.chunks.isChunk(address)) {
            // Who asks has looked for the chunk before it was there.
            throw WrongAddress.of(address, "it was freed already");
        }
        return part;
    }

    final Segment usedPart(final @Nullable Segment chunk, final long address) {
        if (chunk == null) {
            return partAt(address);
        }
        if (chunk.starts != null && !chunk.starts.contains(address)) {
            throw WrongAddress.inChunk(chunk, address);
        }
        return chunk;
    }

    /** See {@link Arena#trim}. */
    final void trimHeld(final @Nullable Segment chunk, final long address, final long newSizeBytes) {
        final Segment part = usedPart(chunk, address);
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
    }

    /** See {@link Arena#extend}. */
    public final long extendHeld(final @Nullable Segment chunk, final long address, final long newSizeBytes) {
        final Segment part = usedPart(chunk, address);
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

    // For those who look at everything

    final void forEachInLimbo(final LongConsumer visitor) {
        limbo.forEach((batch, index) -> visitor.accept(addressOf(batch, index)));
        remoteFrees.forEach(visitor);
    }

    private long addressOf(final Batch batch, final int index) {
        return parts.withId(batch.part(index)).strategy.retiredAddress(batch.retired(index));
    }

    /** All parts are gone, with all that was in them. */
    final void clear() {
        parts.clear();
        remoteFrees.clear();
        limbo.clear();
        counters.closed();
    }
}
