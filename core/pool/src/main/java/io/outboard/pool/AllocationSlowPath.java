package io.outboard.pool;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.ByteSize;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Strategy;
import io.outboard.core.spi.Arguments;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.arena.Segment;
import io.outboard.pool.internal.arena.Streams;
import io.outboard.pool.internal.events.PoolEvents;
import io.outboard.pool.internal.growth.Growth;
import io.outboard.pool.internal.growth.Regions;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The slow path serves a request that finds nothing in its arena. In this order, it
 *
 * <ol>
 *   <li>releases what is ready in the arena, and places the request there;
 *   <li>takes memory within the pool's slack, see {@link HeldBytes};
 *   <li>asks the device what has finished, and places the request in what comes back;
 *   <li>if all has finished that the arena waited for, takes memory if {@link HeldBytes#whileIdle} allows all of
 *       the block; then looks for room in other arenas, at last with all that was freed by now, and now and then takes
 *       some memory over from those that hold more;
 *   <li>takes memory as far as {@link HeldBytes#whileBusy} allows, more of it if the device is busy, and only then
 *       looks for room in other arenas if it is busy;
 *   <li>looks once more for a block that was freed on the request's stream ({@link ReusePolicy#STREAM_ORDERED}),
 *       and this time waits for other arenas' locks;
 *   <li>waits in a queue until all that is in limbo has come back, see {@link WaitQueue}; then takes memory up to
 *       the limit, and compacts;
 *   <li>asks the {@link OutOfMemoryHandler}s, without a lock and with the request's place in the queue kept, and
 *       goes on as in 7;
 *   <li>refuses the request.
 * </ol>
 *
 * <p>While requests wait, a new one may take what is free or can be taken anew, but nothing that comes back: for that
 * it stands behind them. While a stream is captured nothing comes back, and no request waits. Under {@link
 * ReusePolicy#IMMEDIATE} nothing is in limbo: steps 3 and 7 don't ask or wait, and step 4 doesn't grow or take memory
 * over. A pool of that policy with one arena goes straight from 1 to 7.
 *
 * <p>Safe for any number of threads.
 */
final class AllocationSlowPath {

    /**
     * The most questions of a request to the device before the pool grows for it: other threads of its arena aren't
     * always faster in taking what comes back.
     */
    private static final int MOST_ASKED = 16;

    /** The time between two looks of a thread that waits where the device can't be marked. */
    private static final long PAUSE_NS = 50_000;

    private final long limitBytes;
    private final boolean immediate;
    private final long granuleMask;
    private final Arenas arenas;
    private final Regions regions;
    private final Growth growth;
    // These are made once, so that a request leaves no garbage.
    private final LongUnaryOperator withinSlack;
    private final LongUnaryOperator whileIdle;
    private final LongUnaryOperator whileBusy;
    private final DeviceMarks marks;
    private final PoolEvents events;
    private final Diagnosis diagnosis;
    private final WaitQueue queue;
    final List<OutOfMemoryHandler> handlers = new CopyOnWriteArrayList<>();

    /**
     * The exception thrown last. Its message is made when a program asks for it, and at the latest when the pool ends.
     */
    private volatile @Nullable WeakReference<DeviceOutOfMemoryException> last;

    AllocationSlowPath(
            final Arenas arenas,
            final Regions regions,
            final Growth growth,
            final HeldBytes heldBytes,
            final DeviceMarks marks,
            final PoolEvents events,
            final Diagnosis diagnosis) {
        this.diagnosis = diagnosis;
        limitBytes = regions.limitBytes;
        immediate = arenas.immediate;
        granuleMask = regions.options.granuleBytes() - 1;
        this.arenas = arenas;
        this.regions = regions;
        this.growth = growth;
        withinSlack = heldBytes::withinSlack;
        whileIdle = heldBytes::whileIdle;
        whileBusy = heldBytes::whileBusy;
        this.marks = marks;
        this.events = events;
        queue = new WaitQueue(arenas);
    }

    /** Ends what waits, since the pool is closed, and completes the last exception while there is something to tell. */
    void end() {
        queue.wakeAll();
        final WeakReference<DeviceOutOfMemoryException> reference = last;
        final DeviceOutOfMemoryException thrown = reference == null ? null : reference.get();
        if (thrown != null) {
            thrown.diagnose();
        }
    }

    /**
     * Puts a block in use again that was freed on a stream; returns its address or {@code NO_SPACE}, see {@code
     * Streams.allocate}.
     */
    long reuse(final long sizeBytes, final long streamId, final boolean patient) {
        return arenas.streams.allocate((sizeBytes + granuleMask) & ~granuleMask, streamId, patient);
    }

    /**
     * Takes a block, or throws what {@link Pool#allocate(long, long)} does; returns its address.
     *
     * @param streamId of the stream whose blocks may serve the request at once, or {@link Streams#ALL}
     */
    long allocate(final Arena home, final long sizeBytes, final long alignmentBytes, final long streamId) {
        try {
            Arguments.checkSize(sizeBytes);
            Arguments.checkAlignment(alignmentBytes);
            arenas.checkOpen();
            final DeviceOutOfMemoryException refusedBefore = regions.refusal;
            long address = Strategy.NO_SPACE;
            if (sizeBytes <= limitBytes) {
                address = allocateUnqueued(home, sizeBytes, alignmentBytes);
                if (address < 0 && streamId != Streams.ALL) {
                    // This comes before the request waits for the device or is refused: the first look didn't wait for
                    // other arenas' locks.
                    address = reuse(sizeBytes, streamId, true);
                }
                if (address < 0) {
                    address = allocateQueued(home, sizeBytes, alignmentBytes);
                }
            }
            return address >= 0 ? address : placeOrSayWhy(home, sizeBytes, alignmentBytes, refusedBefore);
        } catch (final StackOverflowError e) {
            // Memory may be on its way, or a block that no program gets.
            arenas.breakage.cause = e;
            throw e;
        }
    }

    /** Extends a block for which memory must be put behind its region; returns false if that can't be done. */
    boolean extend(final Segment segment, final long address, final long newSizeBytes) {
        try {
            return growth.growAndExtend(segment, address, newSizeBytes);
        } catch (final StackOverflowError e) {
            arenas.breakage.cause = e;
            throw e;
        }
    }

    /** Takes steps 1 to 5. */
    private long allocateUnqueued(final Arena home, final long sizeBytes, final long alignmentBytes) {
        if (queue.isAhead()) {
            // What comes back is for waiting requests; what is taken anew isn't.
            return grow(home, sizeBytes, alignmentBytes, whileBusy, growth.busyStepBytes(home));
        }
        boolean finished = true;
        long address = home.allocateRecovering(sizeBytes, alignmentBytes, false);
        if (address >= 0 || (immediate && arenas.count() == 1)) {
            // Nothing comes back, and no other arena has room: the pool grows as far as it likes, so that regions are
            // few.
            return address;
        }
        address = grow(home, sizeBytes, alignmentBytes, withinSlack, growth.slackStepBytes(home));
        // What came back may have been taken and freed again by another thread of the arena, many times.
        for (int i = 0; i < MOST_ASKED && address < 0 && finished && (i == 0 || home.limboBytes() > 0); i++) {
            finished = marks.askAll(home.close());
            address = home.allocateRecovering(sizeBytes, alignmentBytes, false);
        }
        if (address < 0 && finished && !immediate) {
            // The pool grows only if all of the block may be added: others wait while it grows, and the free end of
            // memory rarely helps.
            if (arenas.totals.heldBytes() + sizeBytes <= whileIdle.applyAsLong(sizeBytes)) {
                address = grow(home, sizeBytes, alignmentBytes, whileIdle, 0);
            }
        }
        if (address < 0 && finished) {
            address = allocateElsewhere(home, sizeBytes, alignmentBytes);
            if (address >= 0 && !immediate) {
                takeShare(home);
            }
        }
        if (address < 0) {
            address = grow(home, sizeBytes, alignmentBytes, whileBusy, finished ? 0 : growth.busyStepBytes(home));
        }
        return address < 0 && !finished ? allocateElsewhere(home, sizeBytes, alignmentBytes) : address;
    }

    /**
     * Places a request in what is free in other arenas. If nothing fits, it asks about all that was freed by now and
     * tries again: a request that stood in the queue instead would hold up all others that find no room.
     */
    private long allocateElsewhere(final Arena home, final long sizeBytes, final long alignmentBytes) {
        if (arenas.count() == 1) {
            return Strategy.NO_SPACE;
        }
        final long address = arenas.allocateAnywhere(home, sizeBytes, alignmentBytes, false);
        if (address >= 0) {
            return address;
        }
        marks.askAll(arenas.closeAll());
        return arenas.allocateAnywhere(home, sizeBytes, alignmentBytes, false);
    }

    private void takeShare(final Arena home) {
        try {
            growth.takeShare(home);
        } catch (final RuntimeException | OutOfMemoryError ignored) {
            // The request is served, and its block mustn't be lost. The next request that needs memory learns what is
            // wrong with the source.
        }
    }

    /**
     * Grows within a bound. The bound is looked at again after remote frees were taken in, since their blocks count as
     * in use until then.
     */
    private long grow(
            final Arena home,
            final long sizeBytes,
            final long alignmentBytes,
            final LongUnaryOperator bound,
            final long stepBytes) {
        if (isReached(bound.applyAsLong(sizeBytes))) {
            return Strategy.NO_SPACE;
        }
        arenas.settle();
        final long mostHeldBytes = bound.applyAsLong(sizeBytes);
        return isReached(mostHeldBytes)
                ? Strategy.NO_SPACE
                : growth.growAndPlace(home, sizeBytes, alignmentBytes, mostHeldBytes, stepBytes);
    }

    private boolean isReached(final long mostHeldBytes) {
        final long held = arenas.totals.heldBytes();
        return held > 0 && held >= Math.min(mostHeldBytes, limitBytes);
    }

    private long growOrCompact(final Arena home, final long sizeBytes, final long alignmentBytes) {
        long address = Strategy.NO_SPACE;
        if (arenas.count() > 1) {
            address = growth.growInsteadOfOthers(home, sizeBytes, alignmentBytes, whileBusy.applyAsLong(sizeBytes));
        }
        if (address < 0) {
            address = growth.growAndPlace(home, sizeBytes, alignmentBytes, limitBytes, 0);
        }
        if (address < 0) {
            address = growth.compactAndPlace(home, sizeBytes, alignmentBytes);
        }
        return address < 0 && arenas.makeDo()
                ? arenas.allocateAnywhere(home, sizeBytes, alignmentBytes, !immediate)
                : address;
    }

    // In the queue

    private long allocateQueued(final Arena home, final long sizeBytes, final long alignmentBytes) {
        final WaitQueue.Request request = new WaitQueue.Request(home, sizeBytes, alignmentBytes);
        if (!immediate) {
            queue.enter(request);
        }
        try {
            int handler = 0;
            while (true) {
                long address = awaitRoom(request);
                if (address < 0) {
                    address = growOrCompact(home, sizeBytes, alignmentBytes);
                }
                if (address >= 0) {
                    queue.serveBehind(request);
                    return address;
                }
                while (handler < handlers.size() && !isFreedBy(handlers.get(handler), request)) {
                    handler++;
                }
                if (handler == handlers.size()) {
                    return Strategy.NO_SPACE;
                }
            }
        } finally {
            if (!immediate) {
                queue.leave(request);
            }
        }
    }

    /**
     * Waits until there is room, or nothing is left that could come back. That is so when all that was freed before a
     * look has come back, and nothing was freed meanwhile: what was in use then was so at one moment, and the rest
     * didn't serve the request.
     */
    @SuppressWarnings("ThreadPriorityCheck")
    private long awaitRoom(final WaitQueue.Request request) {
        if (immediate) {
            arenas.closeAll();
            return arenas.allocateAnywhere(request.home, request.sizeBytes, request.alignmentBytes, false);
        }
        PoolEvents.@Nullable Synchronised event = null;
        boolean interrupted = false;
        long firstNumber = -1;
        try {
            while (true) {
                queue.awaitTurn(request);
                if (request.address >= 0) {
                    return request.address;
                }
                arenas.checkOpen();
                final long freesBefore = arenas.totals.frees();
                final boolean waking = queue.isAnyWaking();
                final long number = arenas.closeAll();
                firstNumber = firstNumber < 0 ? number : firstNumber;
                final long usedBytes = arenas.totals.usedBytes();
                final boolean quiet = !waking && arenas.totals.frees() == freesBefore;
                final boolean finished = marks.askAll(number);
                final long address =
                        arenas.allocateAnywhere(request.home, request.sizeBytes, request.alignmentBytes, true);
                if (address >= 0) {
                    return address;
                }
                if (finished
                        ? !waking && arenas.totals.frees() == freesBefore
                        : marks.isUnmarkable() && arenas.progress.finished() < number) {
                    return Strategy.NO_SPACE;
                }
                if (quiet
                        && usedBytes + request.sizeBytes > Math.max(regions.mostBytes(), arenas.totals.heldBytes())
                        && arenas.progress.finished() >= firstNumber) {
                    // Others go on freeing, but what is in use leaves no room.
                    return Strategy.NO_SPACE;
                }
                if (finished) {
                    Thread.yield();
                } else {
                    event = event == null ? events.beginWaiting() : event;
                    if (!marks.awaitOldest()) {
                        LockSupport.parkNanos(this, PAUSE_NS);
                        interrupted |= Thread.interrupted();
                    }
                }
            }
        } finally {
            if (event != null) {
                event.done();
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private boolean isFreedBy(final OutOfMemoryHandler handler, final WaitQueue.Request request) {
        queue.stepAside(request, true);
        try {
            final boolean freed = handler.free(request.sizeBytes, diagnosis.statistics());
            // The handler may have closed the pool.
            arenas.checkOpen();
            return freed;
        } finally {
            queue.stepAside(request, false);
        }
    }

    /**
     * Makes the last attempt. If the device's refusal isn't the one from before the request, the device has refused
     * since the request came.
     */
    private long placeOrSayWhy(
            final Arena home,
            final long sizeBytes,
            final long alignmentBytes,
            final @Nullable DeviceOutOfMemoryException refusedBefore) {
        arenas.checkOpen();
        final long address;
        try {
            address = home.placeOrSayWhy(sizeBytes, alignmentBytes);
        } catch (final BlockTableFullException e) {
            diagnosis.requestFailed();
            throw e;
        }
        if (address < 0) {
            diagnosis.requestFailed();
            final DeviceOutOfMemoryException refused = regions.refusal;
            final PoolStatistics now = diagnosis.statistics();
            final long movableBytes = growth.movableBytes();
            final DeviceOutOfMemoryException thrown = DeviceOutOfMemoryException.ofPool(
                    diagnosis.facts.label(),
                    sizeBytes,
                    now.freeBytes(),
                    diagnosis::largestFreeBlockBytes,
                    () -> now
                            + (movableBytes < 0
                                    ? ""
                                    : ", of which " + ByteSize.exact(movableBytes) + " in pieces that can move"),
                    () -> diagnosis.largestHolders().toString(),
                    refused == refusedBefore ? null : refused);
            diagnosis.outOfMemory(thrown, now);
            last = new WeakReference<>(thrown);
            throw thrown;
        }
        return address;
    }
}
