package io.outboard.pool;

import io.outboard.core.InvalidAddressException;
import io.outboard.core.Strategy;
import java.util.ArrayList;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Gives the blocks in a pool's limbo back once the device has finished with them: in batches, one synchronisation or one
 * mark for many.
 *
 * <p>Two locks. The pool's lock guards limbo and the strategies. The limbo lock guards the batches that were taken from
 * limbo and is held while the device is asked or waited for; it is never taken while the pool's lock is held. If the device
 * fails, what isn't given back yet stays in limbo.
 */
final class Recycler {

    /**
     * Work finishes in the order of submission as a rule, so behind so many unfinished batches none is looked at as long as
     * there is memory.
     */
    private static final int MOST_UNFINISHED = 4;

    /** A wait that is shorter isn't dear: to take a region takes as long. */
    private static final long LEAST_DEAR_NS = 100_000;

    /** Waits are dear if they take more than one part in so many of the time. */
    private static final long DEAR_SHARE = 50;

    /** Dear waits make the pool as large as this many times what was in use at the peak. */
    private static final long MOST_TIMES_PEAK = 16;

    private final ReusePolicy policy;
    private final DeviceWork work;
    private final long limboLimitBytes;
    private final long limitBytes;
    private final long granuleMask;
    private final PoolCounters counters;
    private final PoolRegions regions;
    private final PoolEvents events;
    private final SpinLock lock;
    private final ReentrantLock limboLock = new ReentrantLock();
    private final Limbo limbo = new Limbo();

    /** Taken from limbo, in that order. Not the default capacity, which is made only when it is used. */
    private final ArrayList<Limbo.Batch> waiting = new ArrayList<>(1);

    private boolean ended;

    /** How long the last synchronisation took, and when it ended. Written under the limbo lock; each is whole. */
    private volatile long waitedNs;

    private volatile long waitEnded;

    Recycler(final PoolBuilder builder, final SpinLock lock, final PoolCounters counters, final PoolRegions regions) {
        policy = builder.policy;
        work = builder.work;
        limboLimitBytes = builder.limboLimitBytes;
        limitBytes = builder.limitBytes;
        granuleMask = builder.strategyOptions.granuleBytes() - 1;
        this.lock = lock;
        this.counters = counters;
        this.regions = regions;
        events = new PoolEvents(builder.name);
    }

    // Under the pool's lock

    /**
     * Puts a block into limbo that its strategy says is in use.
     *
     * @return whether {@link #recycleAsPlanned} is to be called, without the lock
     * @throws InvalidAddressException if it is in limbo already; nothing changes
     */
    boolean add(final long address, final long sizeBytes, final long stream) {
        final long key = policy == ReusePolicy.STREAM_ORDERED ? stream : Limbo.ALL_STREAMS;
        if (!limbo.add(address, sizeBytes, key)) {
            throw inLimbo(address);
        }
        counters.freed(sizeBytes, limbo.bytes());
        return policy == ReusePolicy.STRICT ? limbo.bytes() > limboLimitBytes : limbo.hasFullBatch();
    }

    /** A block that was freed on this stream and serves the request, in use again; or {@code NO_SPACE}. */
    long reuse(final long sizeBytes, final long stream) {
        if (stream == Limbo.ALL_STREAMS) {
            // No stream: what is there may be in use on any.
            return Strategy.NO_SPACE;
        }
        final long limboBytes = limbo.bytes();
        // Negative if it overflows; then no block is chosen.
        final long address = limbo.reuse((sizeBytes + granuleMask) & ~granuleMask, stream);
        if (address != Strategy.NO_SPACE) {
            counters.reused(limboBytes - limbo.bytes(), limbo.bytes());
        }
        return address;
    }

    void checkNotInLimbo(final long address) {
        if (limbo.contains(address)) {
            throw inLimbo(address);
        }
    }

    boolean contains(final long address) {
        return limbo.contains(address);
    }

    // Without a lock

    /**
     * Whether waiting for the device costs so much of the time that the pool had better grow. A program that frees while
     * its kernels run would otherwise wait for one each time that its memory has gone round.
     */
    boolean waitsAreDear() {
        final long ns = waitedNs;
        // What it holds when it has grown.
        final long doubledBytes = 2 * counters.heldBytes();
        return ns >= LEAST_DEAR_NS
                && doubledBytes <= limitBytes / 2
                && doubledBytes / MOST_TIMES_PEAK <= counters.peakUsedBytes()
                && (System.nanoTime() - waitEnded) / DEAR_SHARE < ns;
    }

    /** Recycles because limbo is full, not because memory is needed; what another thread is at need not be done twice. */
    void recycleAsPlanned() {
        if (limboLock.tryLock()) {
            try {
                recycle(policy == ReusePolicy.STRICT, false);
            } finally {
                limboLock.unlock();
            }
        }
    }

    /**
     * Gives back what the device has finished with, because memory is needed.
     *
     * @param wait whether to wait for unfinished work; {@link ReusePolicy#STRICT} always does
     * @return whether any memory came back since the call
     */
    boolean recycleNow(final boolean wait) {
        final long before = counters.recycled();
        limboLock.lock();
        try {
            // Who waited for another thread's synchronisation may find that this was enough.
            if (counters.recycled() == before) {
                recycle(true, wait);
            }
        } finally {
            limboLock.unlock();
        }
        return counters.recycled() != before;
    }

    /** After so many waits of {@link #recycleNow} all has come back that is in limbo now. */
    int mostWaits() {
        if (policy == ReusePolicy.STRICT) {
            // The first may be another thread's, begun before now.
            return 2;
        }
        limboLock.lock();
        try {
            takeBatches(true);
            return waiting.size() + 1;
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
        limboLock.lock();
        try {
            takeBatches(true);
            if (!ended && !work.isCapturing()) {
                markWaiting();
            }
        } finally {
            for (int i = 0; i < waiting.size(); i++) {
                if (waiting.get(i).stream == stream) {
                    waiting.get(i).stream = Limbo.ALL_STREAMS;
                }
            }
            limboLock.unlock();
        }
    }

    /** Whether a stream is being captured, so that the device may not be waited for. */
    boolean isCapturing() {
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
        limboLock.lock();
        try {
            ended = true;
            final Failures failures = new Failures();
            failures.attempt(this::synchronise);
            for (final Limbo.Batch batch : waiting) {
                if (batch.mark != DeviceWork.NO_MARK) {
                    failures.attempt(() -> work.release(batch.mark));
                }
            }
            waiting.clear();
            failures.rethrow();
        } finally {
            limboLock.unlock();
        }
    }

    // Under the limbo lock

    private void recycle(final boolean all, final boolean wait) {
        if (ended || work.isCapturing()) {
            return;
        }
        takeBatches(all);
        if (policy == ReusePolicy.STRICT) {
            releaseAfterSynchronising();
        } else {
            markWaiting();
            if (!releaseFinished(all ? Integer.MAX_VALUE : MOST_UNFINISHED) && wait) {
                awaitAny();
            }
        }
    }

    private void takeBatches(final boolean all) {
        lock.lock();
        try {
            limbo.takeBatches(all, waiting);
        } finally {
            lock.unlock();
        }
    }

    private void releaseAfterSynchronising() {
        if (!waiting.isEmpty()) {
            final long before = System.nanoTime();
            if (!synchronise()) {
                return;
            }
            final long now = System.nanoTime();
            waitedNs = now - before;
            waitEnded = now;
            counters.synchronised();
            while (!waiting.isEmpty()) {
                release(waiting.remove(waiting.size() - 1));
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
        work.await(mark);
        counters.synchronised();
        if (event != null) {
            event.commit(false);
        }
    }

    /** Never waits; whether any batch had finished. */
    private boolean releaseFinished(final int mostUnfinished) {
        boolean any = false;
        int i = 0;
        while (i < waiting.size() && i < mostUnfinished && waiting.get(i).mark != DeviceWork.NO_MARK) {
            if (releaseIfFinished(i)) {
                any = true;
            } else {
                i++;
            }
        }
        return any;
    }

    /** Waits until a batch comes back, first for the one that waits longest: it may be enough. */
    private void awaitAny() {
        for (int i = 0; i < waiting.size() && waiting.get(i).mark != DeviceWork.NO_MARK; i++) {
            await(waiting.get(i).mark);
            if (releaseIfFinished(i)) {
                return;
            }
        }
    }

    private boolean releaseIfFinished(final int index) {
        final Limbo.Batch batch = waiting.get(index);
        final long mark = batch.mark;
        if (!work.isFinished(mark)) {
            return false;
        }
        waiting.remove(index);
        // First the blocks, so that they aren't lost if the device fails to forget the mark.
        release(batch);
        work.release(mark);
        return true;
    }

    /** In order, so that those without a mark stay the last ones if the device fails or a capture begins. */
    private void markWaiting() {
        int first = waiting.size();
        while (first > 0 && waiting.get(first - 1).mark == DeviceWork.NO_MARK) {
            first--;
        }
        for (int i = first; i < waiting.size(); i++) {
            final Limbo.Batch batch = waiting.get(i);
            batch.mark = batch.stream == Limbo.ALL_STREAMS ? work.mark() : work.mark(batch.stream);
            if (batch.mark == DeviceWork.NO_MARK) {
                return;
            }
        }
    }

    /** Frees the blocks of a batch for good: some microseconds. */
    private void release(final Limbo.Batch batch) {
        lock.lock();
        try {
            for (int i = 0; i < batch.count; i++) {
                limbo.remove(batch.addresses[i], batch.sizes[i]);
                regions.strategyAt(batch.addresses[i]).free(batch.addresses[i]);
            }
            counters.recycled(limbo.bytes());
            limbo.recycle(batch);
        } finally {
            lock.unlock();
        }
    }

    private static InvalidAddressException inLimbo(final long address) {
        return new InvalidAddressException(
                address,
                "address=0x" + Long.toHexString(address)
                        + " must be the start of a block in use: it was freed already and waits in limbo");
    }
}
