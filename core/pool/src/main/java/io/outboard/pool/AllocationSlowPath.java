package io.outboard.pool;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.ByteSize;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Strategy;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.events.PoolEvents;
import io.outboard.pool.internal.growth.Growth;
import io.outboard.pool.internal.guard.StackReserve;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** What a pool does for a request that finds nothing, in the order that {@link Pool} tells. Safe for any number of threads. */
final class AllocationSlowPath {

    private final String label;
    private final long limitBytes;
    private final boolean strict;
    private final Arenas arenas;
    private final Growth growth;
    private final Recycler recycler;
    private final PoolEvents events;
    private final Diagnosis diagnosis;
    private final List<OutOfMemoryHandler> handlers = new CopyOnWriteArrayList<>();

    /** The exception thrown last, whose message is found out when it is asked for, and at the latest when the pool ends. */
    private volatile @Nullable WeakReference<DeviceOutOfMemoryException> last;

    AllocationSlowPath(
            final PoolBuilder builder,
            final Arenas arenas,
            final Growth growth,
            final Recycler recycler,
            final PoolEvents events,
            final Diagnosis diagnosis) {
        this.diagnosis = diagnosis;
        label = builder.label();
        limitBytes = builder.limitBytes;
        strict = builder.policy == ReusePolicy.STRICT;
        this.arenas = arenas;
        this.growth = growth;
        this.recycler = recycler;
        this.events = events;
    }

    void add(final OutOfMemoryHandler handler) {
        handlers.add(handler);
    }

    /** The pool is about to end: who looks at an exception afterwards is to see what there was. */
    void end() {
        final WeakReference<DeviceOutOfMemoryException> reference = last;
        final DeviceOutOfMemoryException thrown = reference == null ? null : reference.get();
        if (thrown != null) {
            thrown.diagnose();
        }
    }

    /**
     * Takes a block.
     *
     * @return its address
     * @throws DeviceOutOfMemoryException if all else has failed
     * @throws BlockTableFullException if a block fits but the tables can't hold one more
     */
    long place(final long sizeBytes, final long alignmentBytes) {
        StackReserve.claimMore();
        final Arena home = arenas.home();
        final DeviceOutOfMemoryException refusedBefore = growth.refusal();
        if (sizeBytes > limitBytes) {
            // Whatever comes back won't be enough.
            return placeOrSayWhy(home, sizeBytes, alignmentBytes, refusedBefore);
        }
        long address = Strategy.NO_SPACE;
        if (!home.isMain()) {
            address = home.allocateRecovering(sizeBytes, alignmentBytes);
            if (address == Strategy.NO_SPACE) {
                address = recycler.recycleAtHome(home, sizeBytes, alignmentBytes);
            }
            if (address == Strategy.NO_SPACE) {
                address = arenas.chunks.placeInNew(home, sizeBytes, alignmentBytes);
            }
            if (address == Strategy.NO_SPACE && recycler.recycleMain()) {
                // Else this arena had no chunk for as long as the main arena's limbo has all memory.
                address = arenas.chunks.placeInNew(home, sizeBytes, alignmentBytes);
            }
        }
        if (address == Strategy.NO_SPACE) {
            address = arenas.placeAtHome(home, sizeBytes, alignmentBytes);
        }
        boolean mayGrow;
        do {
            final boolean wasLimboEmpty = isLimboEmpty();
            if (address < 0) {
                address = Math.max(Strategy.NO_SPACE, recycler.recycleAndPlace(home, sizeBytes, alignmentBytes, false));
            }
            final long heldBytes = arenas.totals.heldBytes();
            // Limbo that is empty only now came back after the last look for room; one that was may be filled again.
            mayGrow = (wasLimboEmpty && isLimboEmpty()) || recycler.mayGrowTo(growth.nextHeldBytes(sizeBytes));
            if (address == Strategy.NO_SPACE && mayGrow) {
                address = growth.growAndPlace(sizeBytes, alignmentBytes, heldBytes);
            }
        } while (address == Growth.OTHERS_GREW);
        if (address == Strategy.NO_SPACE && (strict || !mayGrow)) {
            address = waitAndPlace(home, sizeBytes, alignmentBytes, mayGrow);
        }
        if (address == Strategy.NO_SPACE && !mayGrow) {
            address = growth.growAndPlace(sizeBytes, alignmentBytes, Growth.BY_LITTLE);
        }
        if (address == Strategy.NO_SPACE && isLimboDone()) {
            address = gatherAndPlace(sizeBytes, alignmentBytes);
        }
        if (address == Strategy.NO_SPACE) {
            address = askHandlers(home, sizeBytes, alignmentBytes);
        }
        if (address == Strategy.NO_SPACE && !strict) {
            address = waitAndPlace(home, sizeBytes, alignmentBytes, true);
            if (address == Strategy.NO_SPACE) {
                address = gatherAndPlace(sizeBytes, alignmentBytes);
            }
        }
        return address == Strategy.NO_SPACE ? placeOrSayWhy(home, sizeBytes, alignmentBytes, refusedBefore) : address;
    }

    /** Either the device was waited for, or there is nothing to wait for. */
    private boolean isLimboDone() {
        return strict || isLimboEmpty();
    }

    private boolean isLimboEmpty() {
        return arenas.totals.limboBytes() == 0;
    }

    private long gatherAndPlace(final long sizeBytes, final long alignmentBytes) {
        return growth.gatherAndPlace(sizeBytes, alignmentBytes);
    }

    /** Whatever others grow. */
    private long growAndPlace(final long sizeBytes, final long alignmentBytes) {
        long address;
        do {
            address = growth.growAndPlace(sizeBytes, alignmentBytes, arenas.totals.heldBytes());
        } while (address == Growth.OTHERS_GREW);
        return address;
    }

    private long askHandlers(final Arena home, final long sizeBytes, final long alignmentBytes) {
        for (final OutOfMemoryHandler handler : handlers) {
            while (handler.free(sizeBytes, diagnosis.statistics())) {
                long address = recycler.recycleAndPlace(home, sizeBytes, alignmentBytes, strict);
                if (address < 0) {
                    // A handler may have freed what another holds of the device, too.
                    address = growAndPlace(sizeBytes, alignmentBytes);
                }
                if (address == Strategy.NO_SPACE && isLimboDone()) {
                    address = gatherAndPlace(sizeBytes, alignmentBytes);
                }
                if (address != Strategy.NO_SPACE) {
                    return address;
                }
            }
        }
        return Strategy.NO_SPACE;
    }

    /**
     * Again as long as there is anything in limbo of what was there at first: what comes back may be that of another thread's
     * wait, and not serve this one, or be taken by others. Not for ever, since other threads may go on freeing. If the pool isn't to
     * grow unless it must, once more when limbo is empty: what was in it may have come back after the last look.
     *
     * @param grow whether growing has been tried: what came back may be what a region needs at its end to grow in place
     */
    private long waitAndPlace(final Arena home, final long sizeBytes, final long alignmentBytes, final boolean grow) {
        int vain = 0;
        for (int left = recycler.mostWaits(); left > 0 && vain < 2; left--) {
            final boolean wasLimboEmpty = isLimboEmpty();
            if (wasLimboEmpty && grow) {
                break;
            }
            final long recycled = recycler.recycleAndPlace(home, sizeBytes, alignmentBytes, true);
            final long address =
                    recycled < 0 && grow ? growth.growAndPlace(sizeBytes, alignmentBytes, Growth.BY_LITTLE) : recycled;
            if (address >= 0) {
                return address;
            }
            if ((wasLimboEmpty && isLimboEmpty()) || recycler.isCapturing()) {
                // Nothing comes back any more.
                break;
            }
            if (strict && recycled != Recycler.OVERTAKEN) {
                // The first time, another's wait may have begun before what is in limbo now was freed.
                vain++;
            }
        }
        return Strategy.NO_SPACE;
    }

    /**
     * The last attempt.
     *
     * @param refusedBefore what the device had said by when the request came: if that has changed, the device has refused since
     */
    private long placeOrSayWhy(
            final Arena home,
            final long sizeBytes,
            final long alignmentBytes,
            final @Nullable DeviceOutOfMemoryException refusedBefore) {
        arenas.checkOpen();
        final long address;
        try {
            address = home.isMain()
                    ? home.placeOrSayWhy(sizeBytes, alignmentBytes)
                    : arenas.placeAnywhere(home, sizeBytes, alignmentBytes);
        } catch (final BlockTableFullException e) {
            diagnosis.requestFailed();
            throw e;
        }
        if (address == Strategy.NO_SPACE) {
            diagnosis.requestFailed();
            final DeviceOutOfMemoryException refused = growth.refusal();
            final PoolStatistics now = diagnosis.statistics();
            final long movableBytes = growth.movableBytes();
            final DeviceOutOfMemoryException thrown = DeviceOutOfMemoryException.ofPool(
                    label,
                    sizeBytes,
                    now.freeBytes(),
                    diagnosis::largestFreeBlockBytes,
                    () -> now
                            + (movableBytes < 0
                                    ? ""
                                    : ", of which " + ByteSize.exact(movableBytes) + " in pieces that can move"),
                    () -> diagnosis.largestHolders().toString(),
                    refused == refusedBefore ? null : refused);
            events.outOfMemory(thrown, now.heldBytes(), now.limboBytes(), now.limitBytes());
            last = new WeakReference<>(thrown);
            throw thrown;
        }
        return address;
    }
}
