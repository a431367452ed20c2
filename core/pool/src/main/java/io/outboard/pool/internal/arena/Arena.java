package io.outboard.pool.internal.arena;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.PartRetiringStrategy;
import io.outboard.core.Strategy;
import io.outboard.core.spi.Arguments;
import io.outboard.pool.internal.guard.Fields;
import io.outboard.pool.internal.guard.SpinLock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A part of a pool that threads use one at a time: a lock, which is this object, segments that strategies divide, the blocks that were
 * freed while the device may still be using them, and counters. One object, so that what an operation needs lies side by side.
 *
 * <pre>
 *   free by a thread of this arena   the block is retired and goes to the open batch, or is free at once, as the policy says
 *   free by another's                {@link BlockStarts#clear}; into the other arena's batch of remote frees for this one, which is sent
 *                                    when it has many blocks or bytes
 *   each operation                   releases a few ready blocks, and retires a few that have arrived
 * </pre>
 *
 * <p>So no operation does the work of many, but for a free of another's large block, which retires all that has arrived there. Nothing that
 * is freed depends on the thread that freed it: whoever has an arena's lock may do all of that. A batch is closed, and waits for the next
 * mark (see {@link Progress}), when it has many bytes or blocks, or when somebody needs memory. No arena's lock is taken while another's is
 * held, but all of them, in the order of their numbers, by who looks at the whole pool. None is held while the device or a memory source
 * works.
 *
 * <p>Safe for any number of threads. Methods take the lock unless they say that it is held. A {@link StackOverflowError} under the lock
 * leaves the pool {@linkplain SpinLock.Breakage broken}, since a change may have been half done.
 */
public final class Arena extends Limbo {

    /** More than an operation retires, so that what is ready is soon released: a tenth of a microsecond or two. */
    private static final int RELEASED_AT_ONCE = 3;

    /** More than so many operations of this arena's threads hand out. */
    private static final int UNPACKED_AT_ONCE = 2;

    /** Blocks released in one hold of the lock when a request finds no room: some microseconds. */
    private static final int RELEASED_IN_A_HOLD = 256;

    /** Blocks released between two attempts to place a request. */
    private static final int RELEASED_BETWEEN = 16;

    /** With less left than such a part of the next step it wants to grow. */
    private static final long LEFT_SHARE = 4;

    /** What {@link #freeRemotely} answers. */
    public static final int NOT_FREED = 0;

    public static final int FREED = 1;
    public static final int SENT = 2;

    private static final Segment[] NO_SEGMENTS = {};

    /** What {@link #change} does. Each is a constant, so that a call makes no garbage, and links nothing at the end of a stack. */
    private interface Change<T> {
        long make(T part, long first, long second);
    }

    private static final Change<Arena> PLACE = Arena::place;
    private static final Change<Arena> PLACE_OR_SAY_WHY = Arena::placeHeldOrSayWhy;
    private static final Change<Arena> ASK = (arena, unused, unusedToo) -> arena.beginAsking();
    private static final Change<Arena> CLOSE = (arena, unused, unusedToo) -> {
        arena.unpack(Integer.MAX_VALUE);
        return arena.closeAll();
    };
    private static final Change<Arena> RELEASE = (arena, unused, unusedToo) -> {
        arena.lookForFinished();
        final int done = arena.unpack(RELEASED_IN_A_HOLD) + arena.release(RELEASED_IN_A_HOLD);
        arena.reserved |= done > 0 && arena.arenas.isAwaited();
        return done;
    };
    private static final Change<Arena> SEND = (arena, unused, unusedToo) -> {
        arena.remoteFrees.send();
        return 0;
    };
    private static final Change<Arena> MAKE_DO = (arena, unused, unusedToo) -> {
        int crowded = 0;
        for (final Segment segment : arena.segments) {
            crowded += segment.makeDo() ? 1 : 0;
        }
        return crowded;
    };
    private static final Change<Segment> EXTEND =
            (segment, address, sizeBytes) -> segment.owner.extendHeld(segment, address, sizeBytes);
    private static final Change<Segment> TRIM =
            (segment, address, sizeBytes) -> segment.owner.trimHeld(segment, address, sizeBytes);

    private static final VarHandle USED = Fields.handle(MethodHandles.lookup(), "usedBytes", long.class);
    private static final VarHandle PEAK = Fields.handle(MethodHandles.lookup(), "peakUsedBytes", long.class);
    private static final VarHandle ALLOCATIONS = Fields.handle(MethodHandles.lookup(), "allocations", long.class);
    private static final VarHandle FREES = Fields.handle(MethodHandles.lookup(), "frees", long.class);

    /** Among the arenas of its pool, from 0. */
    public final int number;

    private final Arenas arenas;
    private final boolean immediate;
    final RemoteFrees remoteFrees;

    // Segments

    /** See {@link #starve}. Threads count at once, so some are missed. */
    private int starved;

    /** Replaced under the lock, never changed; read without it. */
    private volatile Segment[] segments = NO_SEGMENTS;

    /** By their ids, with gaps. */
    private @Nullable Segment[] byId = new Segment[4];

    /** Where the last block was placed; null if there is none. Read without the lock as a guess. */
    @Nullable
    Segment current;

    /** Something has come back here for the oldest request that waits: nobody is placed before it. */
    private boolean reserved;

    /** When more is in use and in limbo, in bytes, it wants to grow. */
    private long growAbove = Long.MAX_VALUE;

    /** It wants to grow before a request finds no room. Written under the lock. */
    private volatile boolean wantsStep;

    // Counters: written under the lock, read without. Each number is whole and recent, and nothing else is
    // concluded from it. What is freed here may have been counted as in use elsewhere, so only sums over all arenas are
    // right.

    private long usedBytes;
    private long peakUsedBytes;
    private long earlierPeakBytes;
    private long peakNeededBytes;
    private long allocations;
    private long frees;

    // Contention

    /** There are other arenas, whose threads may free blocks of this one. Written by Arenas; seen late it does no harm. */
    boolean hasNeighbours;

    /** Slots of threads whose home it is, by Arenas' monitor. */
    int homes;

    private int waitsBefore;
    private long operationsBefore;

    /** Why an attempt failed, for {@link #placeOrSayWhy}. */
    private @Nullable BlockTableFullException tableFull;

    Arena(final int number, final int mostArenas, final Arenas arenas, final boolean immediate) {
        super(arenas.breakage, arenas.progress);
        this.number = number;
        this.arenas = arenas;
        this.immediate = immediate;
        remoteFrees = new RemoteFrees(arenas, mostArenas);
    }

    /** Makes a change under the lock. Operations for which another call costs too much do this themselves. */
    private <T> long change(final Change<T> change, final T part, final long first, final long second) {
        lock();
        try {
            return change.make(part, first, second);
        } catch (final StackOverflowError e) {
            breakage.cause = e;
            throw e;
        } finally {
            taken = false;
        }
    }

    // Operations

    /** An address, or {@code NO_SPACE}, from what is free here. */
    public long allocate(final long sizeBytes, final long alignmentBytes) {
        lock();
        try {
            long address = Strategy.NO_SPACE;
            if (!reserved) {
                keepUp();
                address = place(sizeBytes, alignmentBytes);
            }
            unlock();
            return address;
        } catch (final Throwable e) {
            // Whatever comes, the lock is still held.
            if (e instanceof StackOverflowError) {
                breakage.cause = e;
            }
            taken = false;
            throw e;
        }
    }

    /** Frees a block of this arena, for good or into limbo. */
    public void free(final Segment segment, final long address) {
        lock();
        try {
            reserve();
            endStart(segment, address);
            takeBack(segment, address);
            FREES.setOpaque(this, frees + 1);
            keepUpIfItCan();
            unlock();
        } catch (final Throwable e) {
            if (e instanceof StackOverflowError) {
                breakage.cause = e;
            }
            taken = false;
            throw e;
        }
    }

    /**
     * Frees a block of another arena, by a thread that this one is the home of.
     *
     * @return {@link #NOT_FREED} if no block in use starts there, {@link #FREED}, or, once in a while, {@link #SENT}: the other arena may
     *     have something to do
     */
    public int freeRemotely(final Segment segment, final BlockStarts starts, final long address) {
        lock();
        boolean held = true;
        try {
            final RemoteFrees.Batch batch = remoteFrees.batchFor(segment.owner);
            final long sizeBytes = starts.clear(address);
            int done = NOT_FREED;
            if (sizeBytes != 0) {
                FREES.setOpaque(this, frees + 1);
                batch.add(segment, address, sizeBytes);
                final boolean sent = remoteFrees.sendIfDue(segment.owner, batch);
                done = sent || frees % RemoteFrees.BLOCKS == 0 ? SENT : FREED;
            }
            keepUpIfItCan();
            unlock();
            held = false;
            if (sizeBytes >= RemoteFrees.SENT_FROM_BYTES) {
                // Much that would count as in use until its owner has something to do.
                segment.owner.trySettle();
            }
            return done;
        } catch (final StackOverflowError e) {
            breakage.cause = e;
            throw e;
        } finally {
            if (held) {
                taken = false;
            }
        }
    }

    /**
     * As {@link #allocate}, for a request that found no room: releases whatever is ready and retires whatever has arrived until it
     * fits, in the same hold, so that no other thread takes what comes free; in several if it is much.
     *
     * @param first it is the oldest of those that wait: what came free is kept for it
     */
    public long allocateRecovering(final long sizeBytes, final long alignmentBytes, final boolean first) {
        while (true) {
            lock();
            try {
                if (reserved && !first) {
                    return Strategy.NO_SPACE;
                }
                lookForFinished();
                long address = place(sizeBytes, alignmentBytes);
                for (int left = RELEASED_IN_A_HOLD; address < 0 && left > 0 && hasWork(); ) {
                    left -= unpack(RELEASED_BETWEEN) + release(RELEASED_BETWEEN);
                    reserved = first;
                    address = place(sizeBytes, alignmentBytes);
                }
                if (address >= 0 || !hasWork()) {
                    return address;
                }
            } catch (final StackOverflowError e) {
                breakage.cause = e;
                throw e;
            } finally {
                taken = false;
            }
        }
    }

    /** As {@link #allocate}, by whoever may have what is kept for those who wait. */
    public long placeAgain(final long sizeBytes, final long alignmentBytes) {
        return change(PLACE, this, sizeBytes, alignmentBytes);
    }

    /** Nobody waits any more. */
    void open() {
        lockAnyway();
        reserved = false;
        taken = false;
    }

    /** As {@link #beginAsking}. */
    public long asking() {
        return change(ASK, this, 0, 0);
    }

    /** What was freed by now, by other threads too, as far as it has arrived, is free after the work before the next mark: closes the batch. */
    public long close() {
        return change(CLOSE, this, 0, 0);
    }

    /** Releases all that is ready, in many short holds of the lock. */
    void releaseAll() {
        long released;
        do {
            released = change(RELEASE, this, 0, 0);
        } while (released > 0);
    }

    /** Sends all that was freed here and belongs elsewhere. */
    void send() {
        change(SEND, this, 0, 0);
    }

    /** Sends, and takes in what has arrived, unless somebody has the lock: nobody waits for it. */
    void trySettle() {
        if (tryLock()) {
            try {
                remoteFrees.send();
                unpack(Integer.MAX_VALUE);
            } catch (final OutOfMemoryError ignored) {
                // A later operation does it: what the caller is here for is done, or goes on without.
            } catch (final StackOverflowError e) {
                breakage.cause = e;
                throw e;
            } finally {
                taken = false;
            }
        }
    }

    /**
     * As {@link #allocateRecovering}, when all else has failed.
     *
     * @throws BlockTableFullException if that is why
     */
    public long placeOrSayWhy(final long sizeBytes, final long alignmentBytes) {
        return change(PLACE_OR_SAY_WHY, this, sizeBytes, alignmentBytes);
    }

    private long placeHeldOrSayWhy(final long sizeBytes, final long alignmentBytes) {
        tableFull = null;
        final long address = place(sizeBytes, alignmentBytes);
        if (address < 0 && tableFull != null) {
            throw tableFull;
        }
        return address;
    }

    /** Why an address is refused at which no block in use starts. */
    public RuntimeException refusal(final Segment segment, final long address) {
        lock();
        try {
            return segment.refusal(address);
        } finally {
            taken = false;
        }
    }

    // The lock is held: blocks of one stream, whose limbo is the pool's

    /** Retires a block that doesn't go to this arena's limbo. */
    void retire(final Segment segment, final long address, final StreamLimbo.Block into) {
        endStart(segment, address);
        into.retired = segment.strategy.retire(address);
        into.bytes = segment.strategy.retiredBytes(into.retired);
        into.segment = segment;
        FREES.setOpaque(this, frees + 1);
        retired(into.bytes);
    }

    /** Such a block is in use again; its address. */
    long restore(final StreamLimbo.Block block) {
        final Segment segment = block.segment();
        final long address = segment.strategy.restore(block.retired);
        if (segment.starts != null) {
            // Takes no host memory, since a block in limbo has had its start noted.
            segment.starts.set(address, block.bytes);
        }
        countLimbo(-block.bytes);
        allocated(block.bytes);
        return address;
    }

    /** Such a block is free; its size. */
    long release(final StreamLimbo.Block block) {
        final Segment segment = block.segment();
        final long sizeBytes = segment.strategy.release(block.retired);
        left(sizeBytes);
        segment.gained();
        reserved |= arenas.isAwaited();
        return sizeBytes;
    }

    // The lock is held: handing out

    /** Tries the current segment, then the others. An address, or {@code NO_SPACE}: also if there is room in a table but not in memory. */
    private long place(final long sizeBytes, final long alignmentBytes) {
        final Segment first = current;
        final long address =
                first == null || first.full ? Strategy.NO_SPACE : placeIn(first, sizeBytes, alignmentBytes);
        return address < 0 ? placeInOthers(first, sizeBytes, alignmentBytes) : address;
    }

    private long placeInOthers(final @Nullable Segment but, final long sizeBytes, final long alignmentBytes) {
        for (final Segment segment : segments) {
            if (segment != but && !segment.full) {
                final long address = placeIn(segment, sizeBytes, alignmentBytes);
                if (address >= 0) {
                    current = segment;
                    return address;
                }
            }
        }
        return Strategy.NO_SPACE;
    }

    /** An address, {@code NO_SPACE}, or less: the negative of where memory must end for the block. */
    public long placeIn(final Segment segment, final long sizeBytes, final long alignmentBytes) {
        if (segment.refuses(sizeBytes)) {
            return Strategy.NO_SPACE;
        }
        final Strategy strategy = segment.strategy;
        final long before = strategy.freeBytes();
        final long address;
        try {
            address = alignmentBytes == 1 ? strategy.allocate(sizeBytes) : strategy.allocate(sizeBytes, alignmentBytes);
        } catch (final BlockTableFullException e) {
            tableFull = e;
            return Strategy.NO_SPACE;
        }
        if (address == Strategy.NO_SPACE) {
            segment.refused(sizeBytes, alignmentBytes);
            return Strategy.NO_SPACE;
        }
        final long blockBytes = before - strategy.freeBytes();
        if (address + blockBytes > segment.backedEnd) {
            return segment.takeBack(address, blockBytes);
        }
        final BlockStarts starts = segment.starts;
        if (starts != null) {
            try {
                starts.set(address, blockBytes);
            } catch (final OutOfMemoryError e) {
                strategy.free(address);
                throw e;
            }
        }
        allocated(blockBytes);
        return address;
    }

    private void allocated(final long sizeBytes) {
        ALLOCATIONS.setOpaque(this, allocations + 1);
        resized(sizeBytes);
        if (usedBytes + limboBytes() > growAbove) {
            growAbove = Long.MAX_VALUE;
            wantsStep = true;
            arenas.wakeGrower();
        }
        if ((allocations & (Arenas.SAMPLED_EVERY - 1)) == 0) {
            arenas.sample(this);
        }
    }

    private void resized(final long moreBytes) {
        final long used = usedBytes + moreBytes;
        USED.setOpaque(this, used);
        if (used > peakUsedBytes) {
            PEAK.setOpaque(this, used);
            if (hasNeighbours) {
                // Of threads that reach it together, one adds up what all have: its own was written before.
                VarHandle.fullFence();
                arenas.totals.peakUsedBytes();
            }
        }
    }

    // Taking back

    /** Frees a block whose start was ended, at once or into limbo. {@link #reserve} was called. */
    private void takeBack(final Segment segment, final long address) {
        final Strategy strategy = segment.strategy;
        if (immediate) {
            final long before = strategy.freeBytes();
            strategy.free(address);
            segment.gained();
            USED.setOpaque(this, usedBytes + before - strategy.freeBytes());
        } else {
            moveToLimbo(segment, strategy.retire(address));
        }
    }

    /** A retired block. */
    private void moveToLimbo(final Segment segment, final long block) {
        final long sizeBytes = segment.strategy.retiredBytes(block);
        retired(sizeBytes);
        addToLimbo(segment, block, sizeBytes);
    }

    private static void endStart(final Segment segment, final long address) {
        final BlockStarts starts = segment.starts;
        if (starts != null && starts.clear(address) == 0) {
            throw segment.refusal(address);
        }
    }

    /** Not in use any more, but in limbo. */
    private void retired(final long sizeBytes) {
        USED.setOpaque(this, usedBytes - sizeBytes);
        countLimbo(sizeBytes);
    }

    /** Came out of limbo. What was in it was needed, if nothing had to be added meanwhile. */
    private void left(final long sizeBytes) {
        peakNeededBytes = Math.max(peakNeededBytes, usedBytes + limboBytes());
        countLimbo(-sizeBytes);
    }

    // What is ready to be handed out again

    /** Some of what is to be done anyway. What came back is for those who wait, if anybody does. */
    private void keepUp() {
        if (isReady && !arenas.isAwaited()) {
            release(RELEASED_AT_ONCE);
        }
        if (hasNeighbours && remoteFrees.hasArrived()) {
            unpack(UNPACKED_AT_ONCE);
        }
        if (waits != waitsBefore) {
            noteWaits();
        }
    }

    /** After a block was freed: the caller mustn't believe that it wasn't. */
    private void keepUpIfItCan() {
        try {
            keepUp();
        } catch (final OutOfMemoryError ignored) {
            // A later operation does it.
        }
    }

    private boolean hasWork() {
        return isReady || remoteFrees.hasArrived();
    }

    /** Releases so many ready blocks; how many it were. */
    private int release(final int most) {
        int done = 0;
        while (isReady && done < most) {
            final Batch batch = firstBatch;
            final int id = batch.segments[batch.from];
            final int to = Math.min(batch.count, batch.from + most - done);
            int end = batch.from + 1;
            while (end < to && batch.segments[end] == id) {
                end++;
            }
            final Segment segment = segment(id);
            final long before = segment.strategy.freeBytes();
            segment.strategy.releaseAll(batch.retired, batch.from, end);
            done += end - batch.from;
            batch.from = end;
            left(segment.strategy.freeBytes() - before);
            segment.gained();
            if (end == batch.count) {
                removeFirst(batch);
            }
        }
        return done;
    }

    /** Frees so many blocks that other threads have freed; how many it were. */
    private int unpack(final int most) {
        for (int done = 0; done < most; done++) {
            final RemoteFrees.Batch batch = remoteFrees.arrived();
            if (batch == null) {
                return done;
            }
            final int last = batch.count - 1;
            reserve();
            takeBack(Objects.requireNonNull(batch.segments[last]), batch.addresses[last]);
            remoteFrees.taken(batch);
        }
        return most;
    }

    /** Threads that wait often had better be apart: they may be from now on. The lock is held, and none of a stream's. */
    void noteWaits() {
        if (waits - waitsBefore >= Arenas.WAITS_LOOKED_AT) {
            final long operations = allocations + frees;
            final long since = operations - operationsBefore;
            waitsBefore = waits;
            operationsBefore = operations;
            if (since < Arenas.WAITS_LOOKED_AT * Arenas.OPERATIONS_FOR_A_WAIT) {
                arenas.moveApart(this);
            }
        }
    }

    // Blocks in use

    /** The tail may be in use by the device like a block that is freed. */
    public void trim(final Segment segment, final long address, final long newSizeBytes) {
        change(TRIM, segment, address, newSizeBytes);
    }

    private long trimHeld(final Segment segment, final long address, final long newSizeBytes) {
        checkStart(segment, address);
        reserve();
        final Strategy strategy = segment.strategy;
        if (immediate) {
            final long before = strategy.freeBytes();
            strategy.trim(address, newSizeBytes);
            resized(before - strategy.freeBytes());
            segment.gained();
        } else if (segment.canRetireParts()) {
            final long tail = segment.parts().retireTail(address, newSizeBytes);
            if (tail != PartRetiringStrategy.NO_TAIL) {
                moveToLimbo(segment, tail);
            }
        } else {
            Arguments.checkTrim(newSizeBytes, strategy.sizeOf(address));
        }
        return 0;
    }

    /** Grows a block in place. Its address, {@code NO_SPACE}, or less: the negative of where memory must end for it. */
    public long extend(final Segment segment, final long address, final long newSizeBytes) {
        return change(EXTEND, segment, address, newSizeBytes);
    }

    /** As {@link #extend}; the lock is held. */
    public long extendHeld(final Segment segment, final long address, final long newSizeBytes) {
        checkStart(segment, address);
        final Strategy strategy = segment.strategy;
        final long oldBytes = strategy.sizeOf(address);
        final long before = strategy.freeBytes();
        if (!strategy.extend(address, newSizeBytes)) {
            return Strategy.NO_SPACE;
        }
        final long moreBytes = before - strategy.freeBytes();
        final long end = address + oldBytes + moreBytes;
        if (end > segment.backedEnd) {
            // There is room in the tables for the tail, since there was before.
            strategy.trim(address, oldBytes);
            return -end;
        }
        resized(moreBytes);
        if (segment.starts != null) {
            segment.starts.resize(address, end - address);
        }
        return address;
    }

    public long sizeOf(final Segment segment, final long address) {
        lock();
        try {
            checkStart(segment, address);
            return segment.strategy.sizeOf(address);
        } finally {
            taken = false;
        }
    }

    private static void checkStart(final Segment segment, final long address) {
        final BlockStarts starts = segment.starts;
        if (starts != null && !starts.contains(address)) {
            throw segment.refusal(address);
        }
    }

    // Segments

    /** Safe for any number of threads. */
    public Segment[] segments() {
        return segments;
    }

    /** Of all its segments: exact for who has the lock or the region lock, recent for others. */
    @Override
    public long heldBytes() {
        long held = 0;
        for (final Segment segment : segments) {
            held += segment.heldBytes;
        }
        return held;
    }

    /**
     * It holds more than before: when it has less left than a quarter of the next step, it wants that. Or it holds less, since it had too much,
     * and wants none before a request has grown it. The lock is held.
     *
     * @param stepBytes what it would grow by next; 0 if it holds less than before
     */
    public void growsBy(final long stepBytes) {
        wantsStep = false;
        // Where blocks are free at once, nothing waits in limbo: such a pool needs little room.
        growAbove = immediate || stepBytes == 0 ? Long.MAX_VALUE : heldBytes() - stepBytes / LEFT_SHARE;
    }

    /**
     * Whether it has come to want a step, and still does: what was in limbo may have come back. It isn't asked again before a request has grown
     * it, whether it gets the step or not.
     */
    public boolean wantsStep(final long stepBytes) {
        if (!wantsStep) {
            return false;
        }
        lockAnyway();
        try {
            wantsStep = false;
            return usedBytes + limboBytes() > heldBytes() - stepBytes / LEFT_SHARE;
        } finally {
            taken = false;
        }
    }

    /** Counts a request that another arena served while this one had less than its share; how many there were before, or somewhat less. */
    public int starve() {
        return starved++;
    }

    private Segment segment(final int id) {
        return Objects.requireNonNull(byId[id], "blocks are in limbo whose segment is gone");
    }

    /** The lock is held: requests are placed in it first. */
    public void add(final Segment segment) {
        int id = 0;
        while (id < byId.length && byId[id] != null) {
            id++;
        }
        final Segment[] more = Arrays.copyOf(segments, segments.length + 1);
        more[segments.length] = segment;
        if (id == byId.length) {
            byId = Arrays.copyOf(byId, 2 * id);
        }
        if (arenas.count() > 1) {
            watchStarts(segment);
        }
        // The last that may fail for want of host memory: until then nobody knows of it.
        arenas.add(segment);
        segment.id = id;
        byId[id] = segment;
        segments = more;
        current = segment;
    }

    /** The lock is held, and the segment is empty. */
    public void remove(final Segment segment) {
        final Segment[] fewer =
                Arrays.stream(segments).filter(each -> each != segment).toArray(Segment[]::new);
        arenas.remove(segment);
        byId[segment.id] = null;
        segments = fewer;
        current = fewer.length == 0 ? null : fewer[fewer.length - 1];
    }

    /** The lock is held: other arenas' threads may free blocks of it from now on. Neither blocks in limbo nor holes are in use. */
    void watchStarts(final Segment segment) {
        final BlockStarts starts = new BlockStarts(
                segment.begin, segment.taken.endAddress() - segment.begin, segment.strategy.granuleBytes());
        segment.strategy.forEachBlock((address, sizeBytes, free) -> {
            if (!free && !segment.holes.startAt(address)) {
                starts.set(address, sizeBytes);
            }
        });
        final LongConsumer clear = starts::clear;
        forEachInLimbo(clear);
        arenas.streams.forEach(segment, clear);
        segment.starts = starts;
    }

    /** There is no other memory: tables may grow after all. False if that makes no difference. */
    public boolean makeDo() {
        return change(MAKE_DO, this, 0, 0) > 0;
    }

    // The whole: the lock is held where something is looked at

    void forEachInLimbo(final LongConsumer visitor) {
        for (@Nullable Batch batch = firstBatch; batch != null; batch = batch.next) {
            for (int i = batch.from; i < batch.count; i++) {
                visitor.accept(segment(batch.segments[i]).strategy.retiredAddress(batch.retired[i]));
            }
        }
        remoteFrees.forEach(visitor);
    }

    /**
     * Most that was in use since this was asked the last time, with what was in limbo before it came back: that is needed, too.
     * What stays in limbo since nobody asks for memory isn't.
     */
    long takePeakNeeded() {
        lockAnyway();
        try {
            final long peak = Math.max(peakNeededBytes, peakUsedBytes);
            earlierPeakBytes = Math.max(earlierPeakBytes, peakUsedBytes);
            PEAK.setOpaque(this, usedBytes);
            peakNeededBytes = 0;
            return peak;
        } finally {
            taken = false;
        }
    }

    /** All segments are gone, with all that was in them. */
    void clear() {
        segments = NO_SEGMENTS;
        current = null;
        Arrays.fill(byId, null);
        remoteFrees.clear();
        forgetLimbo();
        USED.setOpaque(this, 0L);
        FREES.setOpaque(this, allocations);
    }

    @Override
    long roomBytes() {
        return arenas.roomBytes();
    }

    @Override
    long usedBytes() {
        return (long) USED.getOpaque(this);
    }

    /** Most that {@link #usedBytes} was. */
    long peakUsedBytes() {
        return Math.max((long) PEAK.getOpaque(this), earlierPeakBytes);
    }

    long allocations() {
        return (long) ALLOCATIONS.getOpaque(this);
    }

    long frees() {
        return (long) FREES.getOpaque(this);
    }
}
