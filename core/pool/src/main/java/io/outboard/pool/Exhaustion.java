package io.outboard.pool;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Strategy;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** What a pool does for a request that finds nothing, in the order that {@link Pool} tells. Safe for any number of threads. */
final class Exhaustion {

    private final Pool pool;
    private final long limitBytes;
    private final SpinLock lock;
    private final PoolRegions regions;
    private final Recycler recycler;
    private final PoolEvents events;
    private final List<OutOfMemoryHandler> handlers = new CopyOnWriteArrayList<>();

    Exhaustion(
            final Pool pool,
            final long limitBytes,
            final SpinLock lock,
            final PoolRegions regions,
            final Recycler recycler,
            final PoolEvents events) {
        this.pool = pool;
        this.limitBytes = limitBytes;
        this.lock = lock;
        this.regions = regions;
        this.recycler = recycler;
        this.events = events;
    }

    void add(final OutOfMemoryHandler handler) {
        handlers.add(handler);
    }

    /**
     * Takes a block.
     *
     * @return its address
     * @throws DeviceOutOfMemoryException if all else has failed
     * @throws BlockTableFullException if a block fits but the tables can't hold one more
     */
    long place(final long sizeBytes, final long alignmentBytes) {
        if (sizeBytes > limitBytes) {
            // Whatever comes back won't be enough.
            return placeOrSayWhy(sizeBytes, alignmentBytes);
        }
        final boolean growFirst = recycler.waitsAreDear();
        long address = growFirst ? Strategy.NO_SPACE : recycleAndPlace(sizeBytes, alignmentBytes);
        if (address == Strategy.NO_SPACE) {
            address = regions.growAndPlace(sizeBytes, alignmentBytes);
        }
        if (address == Strategy.NO_SPACE && growFirst) {
            address = recycleAndPlace(sizeBytes, alignmentBytes);
        }
        if (address == Strategy.NO_SPACE) {
            address = askHandlers(sizeBytes, alignmentBytes);
        }
        if (address == Strategy.NO_SPACE) {
            address = waitAndPlace(sizeBytes, alignmentBytes);
        }
        return address == Strategy.NO_SPACE ? placeOrSayWhy(sizeBytes, alignmentBytes) : address;
    }

    private long recycleAndPlace(final long sizeBytes, final long alignmentBytes) {
        return recycler.recycleNow(false) ? pool.place(sizeBytes, alignmentBytes) : Strategy.NO_SPACE;
    }

    private long askHandlers(final long sizeBytes, final long alignmentBytes) {
        for (final OutOfMemoryHandler handler : handlers) {
            while (handler.free(sizeBytes, pool.statistics())) {
                recycler.recycleNow(false);
                // A handler may have freed what another holds of the device, too.
                final long address = regions.growAndPlace(sizeBytes, alignmentBytes);
                if (address != Strategy.NO_SPACE) {
                    return address;
                }
            }
        }
        return Strategy.NO_SPACE;
    }

    /**
     * Again as long as anything comes back of what was in limbo at first: it may be that of another thread's wait, and not
     * serve this one. Not for ever, since other threads may go on freeing.
     */
    private long waitAndPlace(final long sizeBytes, final long alignmentBytes) {
        for (int left = recycler.mostWaits(); left > 0 && recycler.recycleNow(true); left--) {
            // What came back may be what a region needs at its end to grow in place for this request.
            final long address = regions.growAndPlace(sizeBytes, alignmentBytes);
            if (address != Strategy.NO_SPACE) {
                return address;
            }
        }
        return Strategy.NO_SPACE;
    }

    private long placeOrSayWhy(final long sizeBytes, final long alignmentBytes) {
        pool.checkOpen();
        final long address;
        lock.lock();
        try {
            address = regions.placeOrSayWhy(sizeBytes, alignmentBytes);
        } finally {
            lock.unlock();
        }
        if (address == Strategy.NO_SPACE) {
            final PoolStatistics now = pool.statistics();
            final DeviceOutOfMemoryException thrown = DeviceOutOfMemoryException.ofPool(
                    sizeBytes,
                    now.freeBytes(),
                    pool.largestFreeBlockBytes(),
                    now.toString(),
                    pool.largestHolders().toString());
            events.outOfMemory(thrown, now);
            throw thrown;
        }
        return address;
    }
}
