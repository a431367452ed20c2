package io.outboard.pool;

import io.outboard.core.Strategy;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Gives the blocks in limbo back once the device has finished with them: in batches, one synchronisation or one mark for many,
 * of all lanes.
 *
 * <p>The limbo lock guards the batches that were taken from lanes and is held while the device is asked; no lane's lock is
 * held then, and it is never taken while one is. It isn't held while {@link Synchronizer} waits for a busy device. If the device
 * fails, what isn't given back yet stays in limbo.
 *
 * <p>What has come back is ready in its lane, and whoever recycled places its request in the same hold of that lane's lock in
 * which it releases: two holds would let another thread take all of it in between, and this one would make the pool grow.
 */
final class Recycler {

    /**
     * Work finishes in the order of submission as a rule, so behind so many unfinished batches none is looked at as long as
     * there is memory.
     */
    private static final int MOST_UNFINISHED = 4;

    private static final long PAUSE_NS = 100_000;

    /** Less than taking a region may take; longer than a thread that has lost its core is without one, as a rule. */
    private static final long MOST_PAUSE_NS = 5_000_000;

    private static final int SPINS = 200;

    /** A thread is overtaken so often, at most, before the pool grows for it: it isn't fair, and not unlucky for ever. */
    private static final int MOST_OVERTAKEN = 64;

    /**
     * A pool whose device is busy grows rather than waits until it would hold more than this many times what was in use at the
     * peak. So limbo, if it isn't awaited, is at most seven times that.
     */
    static final long MOST_TIMES_PEAK = 8;

    private final ReusePolicy policy;
    private final DeviceWork work;
    private final long granuleMask;
    private final Lanes lanes;
    private final PoolEvents events;
    private final Synchronizer synchronizer;
    private final ReentrantLock limboLock = new ReentrantLock();

    /** Taken from lanes, in that order. */
    private final Limbo.Chain waiting = new Limbo.Chain();

    /** What the device has finished with, to be delivered before the limbo lock is released. */
    private final Limbo.Chain finished = new Limbo.Chain();

    /** The pool's allocations when finished batches were delivered last. Written under the limbo lock. */
    private volatile long allocationsAtDelivery;

    /** Somebody waits for a mark, with the limbo lock, because there is no other memory. */
    private volatile boolean awaiting;

    private boolean ended;

    /** Written under the limbo lock. */
    private volatile long waits;

    /** Those without the limbo lock. */
    private final LongAdder waitsAlone = new LongAdder();

    /** How often threads have begun, and ended, to ask the device without the limbo lock. */
    private final AtomicLong aloneBegun = new AtomicLong();

    private final AtomicLong aloneDone = new AtomicLong();

    Recycler(final PoolBuilder builder, final Lanes lanes) {
        policy = builder.policy;
        work = builder.work;
        granuleMask = builder.strategyOptions.granuleBytes() - 1;
        this.lanes = lanes;
        events = new PoolEvents(builder.name);
        synchronizer = new Synchronizer(work, builder.name, events);
    }

    /** Less one, the bits of an address below a granule. */
    long granuleMask() {
        return granuleMask;
    }

    /** Whether anything was allocated since memory came back last: then another thread may have taken what came back. */
    boolean isOvertaken() {
        return lanes.allocations() != allocationsAtDelivery;
    }

    /** How often the device was waited for. */
    long waits() {
        return waits + waitsAlone.sum();
    }

    /** Recycles because limbo is full, not because memory is needed; what another thread is at need not be done twice. */
    void recycleAsPlanned(final Lane lane) {
        StackReserve.claimMore();
        if (limboLock.tryLock()) {
            try {
                collect();
                if (policy == ReusePolicy.STRICT) {
                    recycle(true);
                } else if (!ended && !work.isCapturing()) {
                    lane.takeLimbo(false, waiting);
                    markWaiting();
                    releaseFinished(MOST_UNFINISHED);
                }
            } finally {
                deliver();
                limboLock.unlock();
            }
        }
    }

    /** Recycles all that the policy allows: with {@link ReusePolicy#STRICT} it waits for the device. */
    void recycle() {
        if (policy != ReusePolicy.IMMEDIATE) {
            recycleNow();
            // The first may have begun before what is in limbo now was freed.
            for (int round = 0; round < 2 && policy == ReusePolicy.STRICT && synchronizer.await(true); round++) {
                recycleNow();
            }
        }
    }

    private void recycleNow() {
        StackReserve.claimMore();
        limboLock.lock();
        try {
            recycle(true);
        } finally {
            deliver();
            limboLock.unlock();
        }
    }

    /**
     * Recycles for a request, and places it.
     *
     * @param wait whether to wait for unfinished work; else no thread is held up by the device
     * @return an address, or {@code NO_SPACE}
     */
    long recycleAndPlace(final Lane home, final long sizeBytes, final long alignmentBytes, final boolean wait) {
        if (policy == ReusePolicy.IMMEDIATE || (!wait && awaiting)) {
            return lanes.placeAnywhere(home, sizeBytes, alignmentBytes);
        }
        if (policy == ReusePolicy.STRICT) {
            final long address = synchroniseAndPlace(home, sizeBytes, alignmentBytes);
            if (address != Strategy.NO_SPACE) {
                return address;
            }
        }
        StackReserve.claimMore();
        limboLock.lock();
        try {
            // Who waited for another thread may find that what that one recycled is enough.
            long address = lanes.placeAtHome(home, sizeBytes, alignmentBytes);
            if (address == Strategy.NO_SPACE) {
                recycle(true);
                awaitAlone();
                address = deliverAndPlace(home, sizeBytes, alignmentBytes);
            }
            if (address == Strategy.NO_SPACE && policy != ReusePolicy.STRICT && wait) {
                awaitAny();
                address = deliverAndPlace(home, sizeBytes, alignmentBytes);
            }
            if (address != Strategy.NO_SPACE || policy != ReusePolicy.STRICT) {
                return address;
            }
        } finally {
            deliver();
            limboLock.unlock();
        }
        return afterSynchronising(home, sizeBytes, alignmentBytes, wait);
    }

    /**
     * Recycles what is in the limbo of this lane, if that is worth while, and places a request there: before the lane takes
     * more memory, which other lanes would miss.
     */
    long recycleAtHome(final Lane home, final long sizeBytes, final long alignmentBytes) {
        if (!home.hasMuchInLimbo()) {
            return Strategy.NO_SPACE;
        }
        if (policy == ReusePolicy.STRICT) {
            return synchroniseAndPlace(home, sizeBytes, alignmentBytes);
        }
        StackReserve.claimMore();
        if (policy != ReusePolicy.IMMEDIATE && limboLock.tryLock()) {
            try {
                if (!ended && !work.isCapturing()) {
                    home.takeLimbo(true, waiting);
                    markWaiting();
                    releaseFinished(MOST_UNFINISHED);
                    return home.collectAndAllocate(finished, sizeBytes, alignmentBytes);
                }
            } finally {
                deliver();
                limboLock.unlock();
            }
        }
        return Strategy.NO_SPACE;
    }

    /**
     * For what is in the limbo of this lane alone, if the device is idle, which is so as a rule: no lock but the lane's, so
     * threads on different lanes don't wait for each other.
     */
    private long synchroniseAndPlace(final Lane home, final long sizeBytes, final long alignmentBytes) {
        aloneBegun.incrementAndGet();
        try {
            // After the count; pairs with end, which closes first and then looks at the count: one sees the other.
            if (lanes.isClosed() || !home.hasLimbo() || work.isCapturing() || !work.isIdle()) {
                return Strategy.NO_SPACE;
            }
            StackReserve.claimMore();
            final Limbo.Chain chain = new Limbo.Chain();
            boolean synchronised = false;
            try {
                home.takeLimbo(true, chain);
                if (chain.isEmpty()) {
                    return Strategy.NO_SPACE;
                }
                synchronised = synchronise();
            } finally {
                if (!synchronised) {
                    home.takeBack(chain);
                }
            }
            if (!synchronised) {
                return Strategy.NO_SPACE;
            }
            waitsAlone.increment();
            return home.collectAndAllocate(chain, sizeBytes, alignmentBytes);
        } finally {
            aloneDone.incrementAndGet();
        }
    }

    /**
     * What other threads have taken from their lanes by now comes back in a moment, unless the device has become busy. That of
     * threads which begin later counts as well, so this may end a little early.
     */
    private void awaitAlone() {
        final long begun = aloneBegun.get();
        final long begin = System.nanoTime();
        for (int spins = 0; aloneDone.get() < begun && System.nanoTime() - begin < MOST_PAUSE_NS; spins++) {
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(this, PAUSE_NS / 10);
            }
        }
    }

    /** For a device that is busy: after what another thread waits for, for a moment or as long as it takes. */
    private long afterSynchronising(
            final Lane home, final long sizeBytes, final long alignmentBytes, final boolean wait) {
        if (!synchronizer.await(wait)) {
            return Strategy.NO_SPACE;
        }
        StackReserve.claimMore();
        limboLock.lock();
        try {
            collect();
            return deliverAndPlace(home, sizeBytes, alignmentBytes);
        } finally {
            deliver();
            limboLock.unlock();
        }
    }

    /** Whether the pool had better grow than wait, when it would hold so much then. */
    boolean mayGrowTo(final long bytes) {
        return lanes.limboBytes() == 0 || bytes / MOST_TIMES_PEAK <= lanes.peakUsedBytes();
    }

    /** After so many waits of {@link #recycleAndPlace} all has come back that is in limbo now. */
    int mostWaits() {
        if (policy == ReusePolicy.IMMEDIATE) {
            return 0;
        }
        if (policy == ReusePolicy.STRICT) {
            // Two would do, as the first may have begun before now; but others may take what comes back.
            return MOST_OVERTAKEN;
        }
        StackReserve.claimMore();
        limboLock.lock();
        try {
            takeBatches(true);
            int count = 1;
            for (Limbo.Batch batch = waiting.first; batch != null; batch = batch.next) {
                count++;
            }
            return count;
        } finally {
            limboLock.unlock();
        }
    }

    /**
     * Marks what is in limbo, while the stream still exists; what can't be marked now will be with all streams. Synchronising
     * the device covers streams that ended.
     */
    void streamEnds(final long stream) {
        if (policy != ReusePolicy.TRACKED && policy != ReusePolicy.STREAM_ORDERED) {
            return;
        }
        StackReserve.claimMore();
        limboLock.lock();
        try {
            takeBatches(true);
            if (!ended && !work.isCapturing()) {
                markWaiting();
            }
        } finally {
            for (Limbo.Batch batch = waiting.first; batch != null; batch = batch.next) {
                if (batch.stream == stream) {
                    batch.stream = Limbo.ALL_STREAMS;
                }
            }
            limboLock.unlock();
        }
    }

    /** Whether a stream is being captured, so that the device may not be waited for. */
    boolean isCapturing() {
        StackReserve.claimMore();
        limboLock.lock();
        try {
            return !ended && work.isCapturing();
        } finally {
            limboLock.unlock();
        }
    }

    /**
     * Waits for the device; from then on nothing comes back.
     *
     * @throws RuntimeException what the device fails with first; everything has been tried
     */
    void end() {
        for (long begun = aloneBegun.get(); aloneDone.get() < begun; begun = aloneBegun.get()) {
            // They wait for an idle device, so not for long; and who begins now finds the pool closed.
            LockSupport.parkNanos(this, PAUSE_NS);
        }
        final Failures failures = new Failures();
        failures.attempt(synchronizer::end);
        StackReserve.claimMore();
        limboLock.lock();
        try {
            ended = true;
            failures.attempt(this::synchronise);
            for (Limbo.Batch batch = waiting.poll(); batch != null; batch = waiting.poll()) {
                final long mark = batch.mark;
                if (mark != DeviceWork.NO_MARK) {
                    failures.attempt(() -> work.release(mark));
                }
            }
        } finally {
            limboLock.unlock();
        }
        failures.rethrow();
    }

    /** Shows the blocks in limbo, from which nothing is taken meanwhile. */
    void whileStill(final Runnable look) {
        StackReserve.claimMore();
        limboLock.lock();
        try {
            look.run();
        } finally {
            limboLock.unlock();
        }
    }

    /** Shows what was taken from lanes. The limbo lock is held. */
    void forEachWaiting(final Limbo.Visitor visitor) {
        Limbo.forEach(waiting, visitor);
        Limbo.forEach(finished, visitor);
        synchronizer.forEach(visitor);
    }

    // Under the limbo lock

    /** Never held up by the device's work. Of {@link ReusePolicy#STRICT} all batches, of others all or the full ones. */
    private void recycle(final boolean all) {
        collect();
        if (ended || work.isCapturing()) {
            return;
        }
        takeBatches(all);
        if (policy == ReusePolicy.STRICT) {
            if (!waiting.isEmpty()) {
                if (work.isIdle()) {
                    releaseAfterSynchronising();
                } else {
                    synchronizer.begin(waiting);
                }
            }
        } else {
            markWaiting();
            releaseFinished(all ? Integer.MAX_VALUE : MOST_UNFINISHED);
        }
    }

    private void takeBatches(final boolean all) {
        final Lane[] each = lanes.all();
        if (all && each.length > 1) {
            for (final Lane lane : each) {
                lane.post();
            }
        }
        for (final Lane lane : each) {
            lane.takeLimbo(all, waiting);
        }
    }

    private void releaseAfterSynchronising() {
        if (synchronise()) {
            waited();
            finished.addAll(waiting);
        }
    }

    /** What the synchronizer has waited for is ready, or waits again if it couldn't. */
    private void collect() {
        if (!ended && synchronizer.collect(waiting)) {
            waited();
            finished.addAll(synchronizer.finished());
        }
    }

    /** The limbo lock is held. */
    private void waited() {
        final long before = waits;
        waits = before + 1;
    }

    /**
     * Gives finished batches to their lanes, this thread's first. Each lane gets its own in one hold of its lock, in which the
     * request is placed if it can be, so nobody else takes that memory before.
     */
    private long deliverAndPlace(final Lane home, final long sizeBytes, final long alignmentBytes) {
        if (finished.isEmpty()) {
            return lanes.placeAnywhere(home, sizeBytes, alignmentBytes);
        }
        allocationsAtDelivery = lanes.allocations();
        long address = home.collectAndAllocate(finished, sizeBytes, alignmentBytes);
        for (final Lane lane : lanes.all()) {
            if (lane != home && address == Strategy.NO_SPACE) {
                address = lane.collectAndAllocate(finished, sizeBytes, alignmentBytes);
            } else {
                lane.collect(finished);
            }
        }
        return address == Strategy.NO_SPACE ? lanes.placeAnywhere(home, sizeBytes, alignmentBytes) : address;
    }

    private void deliver() {
        if (!finished.isEmpty()) {
            for (final Lane lane : lanes.all()) {
                lane.collect(finished);
            }
        }
    }

    private boolean synchronise() {
        final PoolEvents.@Nullable SynchronisedEvent event = events.beginSynchronised();
        final boolean synchronised = work.synchronize();
        if (event != null && synchronised) {
            event.commit(true);
        }
        return synchronised;
    }

    private void await(final long mark) {
        final PoolEvents.@Nullable SynchronisedEvent event = events.beginSynchronised();
        awaiting = true;
        try {
            work.await(mark);
        } finally {
            awaiting = false;
        }
        waited();
        if (event != null) {
            event.commit(false);
        }
    }

    /** Never waits. */
    private void releaseFinished(final int mostUnfinished) {
        Limbo.Batch before = null;
        Limbo.Batch batch = waiting.first;
        int unfinished = 0;
        while (batch != null && unfinished < mostUnfinished && batch.mark != DeviceWork.NO_MARK) {
            final Limbo.Batch next = batch.next;
            if (releaseIfFinished(before, batch)) {
                batch = next;
            } else {
                unfinished++;
                before = batch;
                batch = next;
            }
        }
    }

    /** Waits until a batch comes back, first for the one that waits longest: it may be enough. */
    private void awaitAny() {
        Limbo.Batch before = null;
        for (Limbo.Batch batch = waiting.first;
                batch != null && batch.mark != DeviceWork.NO_MARK;
                before = batch, batch = batch.next) {
            if (work.isCapturing()) {
                return;
            }
            await(batch.mark);
            if (releaseIfFinished(before, batch)) {
                return;
            }
        }
    }

    private boolean releaseIfFinished(final Limbo.@Nullable Batch before, final Limbo.Batch batch) {
        final long mark = batch.mark;
        if (!work.isFinished(mark)) {
            return false;
        }
        waiting.removeAfter(before, batch);
        // First the blocks, so that they aren't lost if the device fails to forget the mark.
        finished.add(batch);
        work.release(mark);
        return true;
    }

    /** In order, so that those without a mark stay the last ones if the device fails or a capture begins. */
    private void markWaiting() {
        for (Limbo.Batch batch = waiting.first; batch != null; batch = batch.next) {
            if (batch.mark == DeviceWork.NO_MARK) {
                batch.mark = batch.stream == Limbo.ALL_STREAMS ? work.mark() : work.mark(batch.stream);
                if (batch.mark == DeviceWork.NO_MARK) {
                    return;
                }
            }
        }
    }
}
