package io.outboard.pool;

import io.outboard.core.Strategy;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.events.PoolEvents;
import io.outboard.pool.internal.guard.Failures;
import io.outboard.pool.internal.guard.OwnThreads;
import io.outboard.pool.internal.guard.StackReserve;
import io.outboard.pool.internal.limbo.Epochs;
import io.outboard.pool.internal.limbo.StreamEpochs;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Asks the device, so that blocks in limbo can be used again: makes {@link Epochs} begin and pass. What is free then the arenas see
 * for themselves.
 *
 * <p>With {@link ReusePolicy#STRICT} an epoch is one synchronisation of the device: by the thread that needs memory if the device
 * is idle, by {@link Synchronizer} if it is busy. No lock is held. With {@link ReusePolicy#TRACKED} and
 * {@link ReusePolicy#STREAM_ORDERED} it is a mark, see {@link Marks}.
 * No arena's lock is held while the device is asked anything. If the device fails, no epoch passes, and nothing is lost.
 *
 * <p>A request is placed in the same hold of its arena's lock in which its epoch passes: in between another thread might take all
 * that came free, and this one would make the pool grow.
 */
final class Recycler {

    private static final long PAUSE_NS = 100_000;

    /** A thread is overtaken so often, at most, before the pool grows for it: it isn't fair, and not unlucky for ever. */
    private static final int MOST_OVERTAKEN = 64;

    /**
     * A pool whose device is busy grows rather than waits until it would hold more than this many times what was in use at the
     * peak. So limbo, if it isn't awaited, is at most seven times that.
     */
    static final long MOST_TIMES_PEAK = 8;

    /** In place of an address: others have taken what came back. */
    static final long OVERTAKEN = Strategy.NO_SPACE - 1;

    /** In place of an epoch: the device wasn't waited for. */
    private static final long NONE = 0;

    private final ReusePolicy policy;
    private final DeviceWork work;
    private final long granuleMask;
    private final Arenas arenas;
    private final StreamEpochs epochs;
    private final PoolEvents events;
    private final Synchronizer synchronizer;
    private final Marks marks;

    /** How often the device was waited for. */
    private final LongAdder waits = new LongAdder();

    /** Threads that ask the device without the mark lock. */
    private final AtomicInteger asking = new AtomicInteger();

    /** The pool's allocations when an epoch of all work passed last, and memory came back. */
    private volatile long allocationsBefore;

    Recycler(final PoolBuilder builder, final Arenas arenas, final OwnThreads threads) {
        policy = builder.policy;
        work = builder.work;
        granuleMask = builder.strategyOptions.granuleBytes() - 1;
        this.arenas = arenas;
        epochs = arenas.epochs;
        events = new PoolEvents(builder.name);
        synchronizer = new Synchronizer(this, epochs.all, threads, builder.name);
        marks = new Marks(work, arenas, events, waits);
    }

    /** Less one, the bits of an address below a granule. */
    long granuleMask() {
        return granuleMask;
    }

    /** How often the device was waited for. */
    long waits() {
        return waits.sum();
    }

    // For a request

    /**
     * Recycles all that the policy allows for a request, and places it.
     *
     * @param wait whether to wait for unfinished work; else no thread is held up by the device
     * @return an address, {@code NO_SPACE}, or {@link #OVERTAKEN}
     */
    long recycleAndPlace(final Arena home, final long sizeBytes, final long alignmentBytes, final boolean wait) {
        if (policy == ReusePolicy.IMMEDIATE || (!wait && marks.isAwaiting())) {
            return arenas.placeAnywhere(home, sizeBytes, alignmentBytes);
        }
        arenas.closeAll();
        if (arenas.totals.limboBytes() == 0) {
            return arenas.placeAnywhere(home, sizeBytes, alignmentBytes);
        }
        return policy == ReusePolicy.STRICT
                ? synchroniseAndPlace(home, sizeBytes, alignmentBytes, wait)
                : markAndPlace(home, sizeBytes, alignmentBytes, wait);
    }

    /**
     * Recycles what is in the limbo of this arena, if that is worth while, and places a request there: before the arena takes
     * more memory, which other arenas would miss.
     */
    long recycleAtHome(final Arena home, final long sizeBytes, final long alignmentBytes) {
        if (policy == ReusePolicy.IMMEDIATE || !home.hasMuchInLimbo()) {
            return Strategy.NO_SPACE;
        }
        home.close();
        if (policy == ReusePolicy.STRICT) {
            final long epoch = synchroniseIfIdle();
            if (epoch == NONE) {
                return Strategy.NO_SPACE;
            }
            comesBack();
            return home.passAndAllocate(epoch, sizeBytes, alignmentBytes);
        }
        if (marks.isAwaiting()) {
            return Strategy.NO_SPACE;
        }
        // One mark serves all who wait for the lock.
        marks.lock();
        try {
            marks.markAndAsk();
            return home.passAndAllocate(StreamEpochs.MARKED, sizeBytes, alignmentBytes);
        } finally {
            marks.passAndUnlock();
        }
    }

    /** Recycles what is in the main arena's limbo, if that is much, for chunks. False if nothing came back. */
    boolean recycleMain() {
        final Arena main = arenas.main();
        if (policy == ReusePolicy.IMMEDIATE || marks.isAwaiting() || !main.hasMuchInLimbo()) {
            return false;
        }
        main.close();
        if (policy == ReusePolicy.STRICT) {
            final long epoch = synchroniseIfIdle();
            pass(epoch);
            return epoch != NONE;
        }
        marks.markAndPass();
        return true;
    }

    private long synchroniseAndPlace(
            final Arena home, final long sizeBytes, final long alignmentBytes, final boolean wait) {
        final long needed = epochs.all.needed();
        final long epoch = synchroniseIfIdle();
        if (epoch != NONE) {
            final long before = comesBack();
            final long address = home.passAndAllocate(epoch, sizeBytes, alignmentBytes);
            return address == Strategy.NO_SPACE ? placeBack(home, sizeBytes, alignmentBytes, before) : address;
        }
        final long attempt = isCapturing() ? Synchronizer.NO_ATTEMPT : synchronizer.request(needed);
        // While the device works: another thread may have waited for it, or freed what fits.
        final long address = arenas.placeAnywhere(home, sizeBytes, alignmentBytes);
        if (address != Strategy.NO_SPACE || !synchronizer.await(attempt, needed, wait)) {
            return address;
        }
        return placeBack(home, sizeBytes, alignmentBytes, allocationsBefore);
    }

    /** Before an epoch passes. */
    private long comesBack() {
        final long before = arenas.totals.allocations();
        allocationsBefore = before;
        return before;
    }

    /** Places a request in what has come back, unless others were faster. */
    private long placeBack(final Arena home, final long sizeBytes, final long alignmentBytes, final long before) {
        final long address = arenas.placeAnywhere(home, sizeBytes, alignmentBytes);
        return address == Strategy.NO_SPACE && arenas.totals.allocations() != before ? OVERTAKEN : address;
    }

    private long markAndPlace(final Arena home, final long sizeBytes, final long alignmentBytes, final boolean wait) {
        marks.lock();
        try {
            marks.markAndAsk();
            long address = home.passAndAllocate(StreamEpochs.MARKED, sizeBytes, alignmentBytes);
            if (address == Strategy.NO_SPACE) {
                address = arenas.placeAnywhere(home, sizeBytes, alignmentBytes);
            }
            if (address == Strategy.NO_SPACE && wait) {
                marks.awaitOldest();
                address = home.passAndAllocate(StreamEpochs.MARKED, sizeBytes, alignmentBytes);
                if (address == Strategy.NO_SPACE) {
                    address = arenas.placeAnywhere(home, sizeBytes, alignmentBytes);
                }
            }
            return address;
        } finally {
            marks.passAndUnlock();
        }
    }

    /** Whether the pool had better grow than wait for what is in limbo, when it would hold so much then. */
    boolean mayGrowTo(final long bytes) {
        return bytes / MOST_TIMES_PEAK <= arenas.totals.peakUsedBytes();
    }

    /** After so many waits of {@link #recycleAndPlace} all has come back that is in limbo now. */
    int mostWaits() {
        if (policy == ReusePolicy.IMMEDIATE) {
            return 0;
        }
        if (policy == ReusePolicy.STRICT) {
            // One would do; but others may take what comes back.
            return MOST_OVERTAKEN;
        }
        arenas.closeAll();
        return 1 + marks.count();
    }

    // Without one

    /** Recycles because there is much that is new in limbo, not because memory is needed. Doesn't wait for the device's work. */
    void recycleAsPlanned(final Arena arena) {
        arenas.recycling();
        arena.closeFull();
        if (policy == ReusePolicy.STRICT && work.isGuarded()) {
            synchronizer.request(epochs.all.needed());
            return;
        }
        StackReserve.claimMore();
        if (policy == ReusePolicy.STRICT) {
            arena.close();
            final long needed = epochs.all.needed();
            final long epoch = synchroniseIfIdle();
            pass(epoch);
            if (epoch == NONE && !isCapturing()) {
                synchronizer.request(needed);
            }
        } else {
            marks.tryMarkAndPass();
        }
    }

    /** Recycles all that the policy allows: with {@link ReusePolicy#STRICT} it waits for the device. */
    void recycle() {
        StackReserve.claimMore();
        arenas.closeAll();
        if (policy == ReusePolicy.STRICT) {
            synchroniseAndPass(null);
        } else if (policy != ReusePolicy.IMMEDIATE) {
            marks.markAndPass();
        }
    }

    /**
     * Marks what was freed on a stream, while it still exists; what can't be marked now will be with all streams. The other
     * policies need nothing: marks of all work, and synchronising, cover streams that have ended.
     */
    void streamEnds(final long stream) {
        if (policy != ReusePolicy.STREAM_ORDERED) {
            return;
        }
        StackReserve.claimMore();
        marks.endStream(stream);
    }

    /** Whether a stream is being captured, so that the device may not be waited for. */
    boolean isCapturing() {
        asking.incrementAndGet();
        try {
            return !arenas.isClosed() && work.isCapturing();
        } finally {
            asking.decrementAndGet();
        }
    }

    /**
     * Waits for the device; from then on nothing comes back. The pool is closed.
     *
     * @throws RuntimeException what the device fails with first; everything has been tried
     */
    void end() {
        StackReserve.claimMore();
        final Failures failures = new Failures();
        failures.attempt(synchronizer::end);
        while (asking.get() > 0) {
            // They wait for an idle device, so not for long; and who begins now finds the pool closed.
            LockSupport.parkNanos(this, PAUSE_NS);
        }
        marks.end(this::waitForDevice, failures);
        failures.rethrow();
    }

    // The device

    /** Waits for all work, and lets its epoch pass, unless a stream is being captured. */
    void synchroniseAndPass(final @Nullable Synchronizer by) {
        pass(synchronise(false, by));
    }

    /** Nothing, if the device wasn't waited for. */
    private void pass(final long epoch) {
        if (epoch != NONE) {
            comesBack();
            epochs.all.pass(epoch);
        }
    }

    /** As {@link #synchronise(boolean, Synchronizer)}, unless the device is busy. */
    private long synchroniseIfIdle() {
        return synchronise(true, null);
    }

    /**
     * Waits for all work.
     *
     * @param by is told of the epoch when that has begun
     * @return the epoch that may pass now, or {@code NONE}
     */
    private long synchronise(final boolean onlyIfIdle, final @Nullable Synchronizer by) {
        asking.incrementAndGet();
        try {
            // After the count; pairs with end, which is called when the pool is closed, and looks at the count: one
            // sees the other.
            if (arenas.isClosed() || work.isCapturing() || (onlyIfIdle && !work.isIdle())) {
                return NONE;
            }
            final long epoch = epochs.all.begin();
            if (by != null) {
                by.began(epoch);
            }
            return waitForDevice() ? epoch : NONE;
        } finally {
            asking.decrementAndGet();
        }
    }

    private boolean waitForDevice() {
        final PoolEvents.@Nullable SynchronisedEvent event = events.beginSynchronised();
        final boolean synchronised = work.synchronize();
        if (synchronised) {
            waits.increment();
            if (event != null) {
                event.commit(true);
            }
        }
        return synchronised;
    }
}
