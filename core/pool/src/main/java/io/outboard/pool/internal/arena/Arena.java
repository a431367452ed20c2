package io.outboard.pool.internal.arena;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.PartRetiringStrategy;
import io.outboard.core.Strategy;
import io.outboard.core.spi.Arguments;
import io.outboard.pool.internal.guard.SpinLock;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * An arena is a part of a pool that threads use one at a time. It is one object with a lock, which is this object, with
 * segments that strategies divide, with blocks in limbo and with counters, so that what an operation needs lies side by
 * side.
 *
 * <pre>
 *   free by a thread of this arena   the block is retired and joins the open batch, or is free at once
 *   free by another arena's thread   {@link BlockStarts#clear}, then the other arena's batch of remote frees
 *   each operation                   releases a few ready blocks, and retires a few remote frees that have arrived
 * </pre>
 *
 * <p>No operation does the work of many, with one exception: the free of another arena's large block retires all that
 * has arrived there. Whoever holds an arena's lock may do any of this work, so nothing depends on the thread that freed
 * a block. A batch is closed, and then waits for the next mark (see {@link Progress}), when it has many bytes or
 * blocks, or when a request needs memory. No thread takes an arena's lock while it holds another's, except those that
 * look at the whole pool: they take all locks in the order of the arenas' numbers. No lock is held while the device or
 * a memory source works.
 *
 * <p>Safe for any number of threads. Methods take the lock unless they say that it is held. A {@link
 * StackOverflowError} under the lock leaves the pool {@linkplain SpinLock.Breakage broken}, since a change may have
 * been half done.
 */
public final class Arena extends Limbo {

    /**
     * An allocation, a free and a trim release so many ready blocks. Each retired block was allocated or trimmed off once,
     * so ready blocks don't pile up. With three an operation, the 99th percentile of paper is a fifth higher; with one,
     * the median is half as high again (EPYC, 2026-11-28).
     */
    private static final int RELEASED_AT_ONCE = 2;

    /** The number of remote frees that an operation retires. */
    private static final int UNPACKED_AT_ONCE = 2;

    /**
     * The number of blocks that a request that finds no room releases in one hold of the lock, for some microseconds.
     */
    private static final int RELEASED_IN_A_HOLD = 256;

    /** The number of blocks that a request that finds no room releases between two attempts to place it. */
    private static final int RELEASED_BETWEEN = 16;

    /** An arena wants to grow when it has less left than this share of its next step. */
    private static final long LEFT_SHARE = 4;

    /** The answers of {@link #freeRemotely} are this one and the next two. */
    public static final int NOT_FREED = 0;

    public static final int FREED = 1;
    public static final int SENT = 2;

    private static final Segment[] NO_SEGMENTS = {};

    /**
     * A change that {@link #change} makes. Each is a constant, so that a call makes no garbage and links no class at
     * the end of a stack.
     */
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
        arena.sendHeld();
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

    /** The arena's place among those of its pool, from 0. */
    public final int number;

    private final Arenas arenas;
    private final boolean immediate;
    final RemoteFrees remoteFrees;

    // Segments

    /** Threads count without a lock, so some requests are missed; see {@link #starve}. */
    private int starved;

    /** The array is replaced under the lock and never changed, so that it can be read without the lock. */
    private volatile Segment[] segments = NO_SEGMENTS;

    /** The segments by their ids, with gaps. */
    private @Nullable Segment[] byId = new Segment[4];

    /** The segment where the last block was placed, or null. Threads without the lock read it as a guess. */
    @Nullable
    Segment current;

    /**
     * True once something has come back here for the oldest request that waits: no other request is placed before it.
     */
    private boolean reserved;

    /** The arena wants to grow when more bytes than this are in use and in limbo. */
    private long growAbove = Long.MAX_VALUE;

    /** True if the arena wants to grow before a request finds no room. Written under the lock. */
    private volatile boolean wantsStep;

    // Contention

    /**
     * True if there are other arenas, whose threads may free blocks of this one. Arenas writes it; to see it late does
     * no harm.
     */
    boolean hasNeighbours;

    /** How many slots have this arena as their home. Guarded by Arenas' monitor. */
    int homes;

    private int waitsBefore;
    private long operationsBefore;

    /** The reason why an attempt failed, for {@link #placeOrSayWhy}. */
    private @Nullable BlockTableFullException tableFull;

    Arena(final int number, final int mostArenas, final Arenas arenas, final boolean immediate) {
        super(arenas.breakage, arenas.progress);
        this.number = number;
        this.arenas = arenas;
        this.immediate = immediate;
        remoteFrees = new RemoteFrees(number, mostArenas, arenas.emptyBatches);
    }

    /** Makes a change under the lock. Operations that can't afford another call do this themselves. */
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

    /** Places a request in what is free here; returns an address or {@code NO_SPACE}. */
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
            // Whatever was thrown, the lock is still held.
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
            final long startBytes = endStart(segment, address);
            try {
                takeBack(segment, address);
            } catch (final OutOfMemoryError e) {
                beginStart(segment, address, startBytes);
                throw e;
            }
            countFree();
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
     * Frees a block of another arena, for a thread whose home this arena is.
     *
     * @return {@link #NOT_FREED} if no block in use starts there; {@link #FREED}; or, once in a while, {@link
     *     #SENT}: the other arena may
     * have something to do
     */
    public int freeRemotely(final Segment segment, final BlockStarts starts, final long address) {
        lock();
        boolean held = true;
        try {
            final RemoteFrees.Batch batch = remoteFrees.batchFor(segment.owner.remoteFrees);
            final long sizeBytes = starts.clear(address);
            int done = NOT_FREED;
            if (sizeBytes != 0) {
                countFree();
                batch.add(segment.id, address, sizeBytes);
                final boolean sent = remoteFrees.sendIfDue(segment.owner.remoteFrees, batch);
                done = sent || frees() % RemoteFrees.BLOCKS == 0 ? SENT : FREED;
            }
            keepUpIfItCan();
            unlock();
            held = false;
            if (sizeBytes >= RemoteFrees.SENT_FROM_BYTES) {
                // So much would count as in use until the owner's next operation.
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
     * Places a request that found no room: releases ready blocks and retires remote frees until it fits. A short
     * attempt stays in one hold of the lock, so that no other thread takes what comes free; a long one takes several.
     *
     * @param first the request is the oldest of those that wait: what comes free is kept for it
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

    /** Places a request that may have what is kept for waiting requests. */
    public long placeAgain(final long sizeBytes, final long alignmentBytes) {
        return change(PLACE, this, sizeBytes, alignmentBytes);
    }

    /** Tells the arena that no request waits any more. */
    void open() {
        lockAnyway();
        reserved = false;
        taken = false;
    }

    /** Calls {@link #beginAsking} under the lock. */
    public long asking() {
        return change(ASK, this, 0, 0);
    }

    /**
     * Closes the batch of all blocks that were freed by now, remote frees that have arrived among them; returns the
     * number of the mark that they wait for.
     */
    public long close() {
        return change(CLOSE, this, 0, 0);
    }

    /** Releases all ready blocks in many short holds of the lock. */
    void releaseAll() {
        long released;
        do {
            released = change(RELEASE, this, 0, 0);
        } while (released > 0);
    }

    /** Sends all remote frees that this arena has for others. */
    void send() {
        change(SEND, this, 0, 0);
    }

    private void sendHeld() {
        final Arena[] all = arenas.all();
        for (int receiver = 0; receiver < all.length; receiver++) {
            // Other arenas' objects are read only if there is something for them, since their threads write there.
            if (remoteFrees.holdsFor(receiver)) {
                remoteFrees.send(all[receiver].remoteFrees);
            }
        }
    }

    /**
     * Sends remote frees and takes in those that have arrived, unless another thread has the lock: the caller doesn't
     * wait for it.
     */
    void trySettle() {
        if (tryLock()) {
            try {
                sendHeld();
                unpack(Integer.MAX_VALUE);
            } catch (final OutOfMemoryError ignored) {
                // A later operation does the rest; the caller doesn't depend on it.
            } catch (final StackOverflowError e) {
                breakage.cause = e;
                throw e;
            } finally {
                taken = false;
            }
        }
    }

    /**
     * Makes the last attempt to place a request.
     *
     * @throws BlockTableFullException if that is why it fails
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

    /** Returns the exception for an address at which no block in use starts. */
    public RuntimeException refusal(final Segment segment, final long address) {
        lock();
        try {
            return segment.refusal(address);
        } finally {
            taken = false;
        }
    }

    // The lock is held in these: they serve blocks that were freed on one stream, whose limbo is the pool's

    /** Retires a block into a stream's limbo. */
    void retire(final Segment segment, final long address, final StreamLimbo.Block into) {
        final long startBytes = endStart(segment, address);
        try {
            into.retired = segment.strategy.retire(address);
        } catch (final OutOfMemoryError e) {
            beginStart(segment, address, startBytes);
            throw e;
        }
        into.bytes = segment.strategy.retiredBytes(into.retired);
        into.segment = segment;
        countFree();
        countRetired(into.bytes);
    }

    /** Puts such a block in use again; returns its address. */
    long restore(final StreamLimbo.Block block) {
        final Segment segment = block.segment();
        final long address = segment.strategy.restore(block.retired);
        if (segment.starts != null) {
            // This takes no host memory, since the block's start was noted before it went to limbo.
            segment.starts.set(address, block.bytes);
        }
        countLimbo(-block.bytes);
        allocated(block.bytes);
        return address;
    }

    /** Makes such a block free; returns its size in bytes. */
    long release(final StreamLimbo.Block block) {
        final Segment segment = block.segment();
        final long sizeBytes = segment.strategy.release(block.retired);
        countReleased(sizeBytes);
        segment.gained();
        reserved |= arenas.isAwaited();
        return sizeBytes;
    }

    // The lock is held: handing out

    /**
     * Tries the current segment, then the others; returns an address, or {@code NO_SPACE} also if there are addresses
     * without memory.
     */
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

    /**
     * Places a request in a segment; returns an address, {@code NO_SPACE}, or a smaller number: the negative of where
     * memory must end for the block.
     */
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
                segment.takeBack(address, blockBytes);
                throw e;
            }
        }
        allocated(blockBytes);
        return address;
    }

    private void allocated(final long sizeBytes) {
        countAllocation();
        resized(sizeBytes);
        if (usedBytes() + limboBytes() > growAbove) {
            growAbove = Long.MAX_VALUE;
            wantsStep = true;
            arenas.wakeGrower();
        }
        if ((allocations() & (Arenas.SAMPLED_EVERY - 1)) == 0) {
            arenas.sample(this);
        }
    }

    private void resized(final long moreBytes) {
        if (countUsed(moreBytes) && hasNeighbours) {
            // If several threads reach this line together, the last one sees what all have written before.
            VarHandle.fullFence();
            arenas.totals.peakUsedBytes();
        }
    }

    // Taking back

    /** Frees a block whose start was cleared, at once or into limbo. {@link #reserve} was called. */
    private void takeBack(final Segment segment, final long address) {
        final Strategy strategy = segment.strategy;
        if (immediate) {
            final long before = strategy.freeBytes();
            strategy.free(address);
            segment.gained();
            countUsed(before - strategy.freeBytes());
        } else {
            moveToLimbo(segment, strategy.retire(address));
        }
    }

    /** Puts a retired block into limbo. */
    private void moveToLimbo(final Segment segment, final long block) {
        final long sizeBytes = segment.strategy.retiredBytes(block);
        countRetired(sizeBytes);
        addToLimbo(segment.id, block, sizeBytes);
    }

    private static long endStart(final Segment segment, final long address) {
        final BlockStarts starts = segment.starts;
        if (starts == null) {
            return 0;
        }
        final long startBytes = starts.clear(address);
        if (startBytes == 0) {
            throw segment.refusal(address);
        }
        return startBytes;
    }

    /** Takes {@link #endStart} back: the host has no memory to retire the block, which stays in use. */
    private static void beginStart(final Segment segment, final long address, final long startBytes) {
        final BlockStarts starts = segment.starts;
        if (starts != null) {
            starts.set(address, startBytes);
        }
    }

    // What is ready to be handed out again

    /** Does a small part of the work that is due. Ready blocks are left to waiting requests, if there are any. */
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

    /** Does what {@link #keepUp} does after a free, without an error of the host: the block is freed already. */
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

    /** Releases at most {@code most} ready blocks; returns how many. */
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
            countReleased(segment.strategy.freeBytes() - before);
            segment.gained();
            if (end == batch.count) {
                removeFirst(batch);
            }
        }
        return done;
    }

    /** Frees at most {@code most} blocks that other arenas' threads have freed; returns how many. */
    private int unpack(final int most) {
        for (int done = 0; done < most; done++) {
            final RemoteFrees.Batch batch = remoteFrees.arrived();
            if (batch == null) {
                return done;
            }
            final int last = batch.count - 1;
            reserve();
            takeBack(segment(batch.segments[last]), batch.addresses[last]);
            remoteFrees.taken(batch);
        }
        return most;
    }

    /** Moves a thread to another arena if threads wait often here. The lock is held, and no stream's lock. */
    void noteWaits() {
        if (waits - waitsBefore >= Arenas.WAITS_LOOKED_AT) {
            final long operations = allocations() + frees();
            final long since = operations - operationsBefore;
            waitsBefore = waits;
            operationsBefore = operations;
            if (since < Arenas.WAITS_LOOKED_AT * Arenas.OPERATIONS_FOR_A_WAIT) {
                arenas.moveApart(this);
            }
        }
    }

    // Blocks in use

    /** Shrinks a block. Its tail goes to limbo, since the device may be using it. */
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
                keepUpIfItCan();
            }
        } else {
            Arguments.checkTrim(newSizeBytes, strategy.sizeOf(address));
        }
        return 0;
    }

    /**
     * Grows a block in place; returns its address, {@code NO_SPACE}, or a smaller number: the negative of where memory
     * must end for it.
     */
    public long extend(final Segment segment, final long address, final long newSizeBytes) {
        return change(EXTEND, segment, address, newSizeBytes);
    }

    /** Does what {@link #extend} does; the lock is held. */
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
            // The tables have room for the tail, since they had before.
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

    /** Returns the segments; safe for any number of threads. */
    public Segment[] segments() {
        return segments;
    }

    /** Adds up all segments: exact under the lock or the region lock, recent otherwise. */
    @Override
    public long heldBytes() {
        long held = 0;
        for (final Segment segment : segments) {
            held += segment.heldBytes;
        }
        return held;
    }

    /**
     * Tells that the arena holds more or less than before. After growth it wants the next step when less than a quarter
     * of that is left; after trimming it wants none before a request has grown it. The lock is held.
     *
     * @param stepBytes what it would grow by next; 0 if it holds less than before
     */
    public void growsBy(final long stepBytes) {
        wantsStep = false;
        // Where blocks are free at once, nothing waits in limbo: such a pool needs little room.
        growAbove = immediate || stepBytes == 0 ? Long.MAX_VALUE : heldBytes() - stepBytes / LEFT_SHARE;
    }

    /**
     * Returns whether the arena has come to want a step and still does: what was in limbo may have come back. It
     * doesn't ask again before a request has grown it, whether it gets the step or not.
     */
    public boolean wantsStep(final long stepBytes) {
        if (!wantsStep) {
            return false;
        }
        lockAnyway();
        try {
            wantsStep = false;
            return usedBytes() + limboBytes() > heldBytes() - stepBytes / LEFT_SHARE;
        } finally {
            taken = false;
        }
    }

    /**
     * Counts a request that another arena served while this one had less than its share; returns how many there were
     * before, or somewhat fewer.
     */
    public int starve() {
        return starved++;
    }

    private Segment segment(final int id) {
        return Objects.requireNonNull(byId[id], "blocks are in limbo or in remote frees whose segment is gone");
    }

    /** Adds a segment, in which requests are placed first. The lock is held. */
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
        // This is the last step that may fail for want of host memory, and until here no thread knows of the segment.
        arenas.add(segment);
        segment.id = id;
        byId[id] = segment;
        segments = more;
        current = segment;
    }

    /** Removes an empty segment. The lock is held. */
    public void remove(final Segment segment) {
        final Segment[] fewer =
                Arrays.stream(segments).filter(each -> each != segment).toArray(Segment[]::new);
        arenas.remove(segment);
        byId[segment.id] = null;
        segments = fewer;
        current = fewer.length == 0 ? null : fewer[fewer.length - 1];
    }

    /**
     * Notes where blocks start, so that other arenas' threads can free them from now on. Blocks in limbo and holes
     * aren't in use. The lock is held.
     */
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

    /** Lets tables grow after all, since there is no other memory. Returns false if that makes no difference. */
    public boolean makeDo() {
        return change(MAKE_DO, this, 0, 0) > 0;
    }

    // The whole arena; its lock is held

    void forEachInLimbo(final LongConsumer visitor) {
        for (@Nullable Batch batch = firstBatch; batch != null; batch = batch.next) {
            for (int i = batch.from; i < batch.count; i++) {
                visitor.accept(segment(batch.segments[i]).strategy.retiredAddress(batch.retired[i]));
            }
        }
        remoteFrees.forEach(visitor);
    }

    /** Forgets all segments and all that was in them. */
    void clear() {
        segments = NO_SEGMENTS;
        current = null;
        Arrays.fill(byId, null);
        remoteFrees.clear();
        forgetLimbo();
        clearCounters();
    }

    @Override
    long roomBytes() {
        return arenas.roomBytes();
    }
}
