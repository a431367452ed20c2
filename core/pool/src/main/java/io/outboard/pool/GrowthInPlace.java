package io.outboard.pool;

import io.outboard.core.GrowableRegion;
import io.outboard.core.Region;
import io.outboard.core.Strategy;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Growth of a pool's first region, if the source has such that grow. Its strategy divides all of its addresses, but a block that
 * ends beyond what is committed goes back to the strategy before the main lane's lock is released. So whenever that lock is
 * free, no block in use lies there, nobody can be handed memory that isn't mapped, and none needs to wait for another's mapping:
 *
 * <pre>{@code
 *   |  used  | free |  used  |        free        |
 *   |            backed          |    addresses   |
 *   used.address()           backedEnd    used.endAddress()
 * }</pre>
 *
 * <p>The region lock is held; the main lane's lock isn't, since the source works meanwhile.
 */
final class GrowthInPlace {

    /** For one request. */
    private static final int MOST_GATHERINGS = 16;

    private final RegionMaker maker;
    private final long firstRegionBytes;
    private final long limitBytes;
    private final Lanes lanes;
    private final Lane main;
    private final PoolEvents events;

    GrowthInPlace(final PoolBuilder builder, final Lanes lanes, final RegionMaker maker, final PoolEvents events) {
        firstRegionBytes = builder.firstRegionBytes;
        limitBytes = builder.limitBytes;
        this.maker = maker;
        this.lanes = lanes;
        this.events = events;
        main = lanes.main();
    }

    private @Nullable Part region() {
        final Part[] all = main.parts.all();
        return all.length > 0 && all[0].growable != null ? all[0] : null;
    }

    boolean isUsed() {
        return region() != null;
    }

    /** By how much it grows if no more is needed, in bytes. */
    long stepBytes() {
        return InPlaceGrowth.stepBytes(lanes.heldBytes(), firstRegionBytes);
    }

    void reserve() {
        final Part reserved = maker.reserve(limitBytes);
        if (reserved != null) {
            boolean added = false;
            main.lock();
            try {
                main.parts.add(reserved);
                added = true;
            } finally {
                main.taken = false;
                if (!added) {
                    maker.giveBack(reserved);
                }
            }
        }
    }

    /** Puts memory behind the region until it serves a request. An address, or {@code NO_SPACE} if there are no addresses. */
    long commitAndPlace(final long sizeBytes, final long alignmentBytes) {
        final Part region = region();
        if (region == null) {
            return Strategy.NO_SPACE;
        }
        while (true) {
            final long placed = place(region, false, sizeBytes, alignmentBytes);
            if (placed > Strategy.NO_SPACE) {
                return placed;
            }
            if (placed == Strategy.NO_SPACE || hasManyHoles(region)) {
                // Addresses come to an end.
                final long filled = fillAndPlace(region, sizeBytes, alignmentBytes);
                if (filled > Strategy.NO_SPACE || placed == Strategy.NO_SPACE) {
                    return filled;
                }
            }
            // Others may take what is committed here before this thread does: then once more, for the end that is next.
            if (!commit(region, ~placed)) {
                final long tried = place(region, true, sizeBytes, alignmentBytes);
                // No whole region either: the device has no more.
                return tried == Strategy.NO_SPACE ? Strategy.NO_SPACE - 1 : tried;
            }
        }
    }

    private static boolean hasManyHoles(final Part region) {
        final GrowableRegion growable = Objects.requireNonNull(region.growable);
        return region.holes.count() * growable.unitBytes() > growable.committedBytes() / 2;
    }

    /** Puts memory of the device into holes so that there is room between others. An address or {@code NO_SPACE}. */
    private long fillAndPlace(final Part region, final long sizeBytes, final long alignmentBytes) {
        if (region.holes.count() == 0) {
            return Strategy.NO_SPACE;
        }
        final Gathering filling = Gathering.onlyIntoHoles(region, sizeBytes, alignmentBytes);
        return gather(region, filling, sizeBytes, Strategy.NO_SPACE)
                ? place(region, true, sizeBytes, alignmentBytes)
                : Strategy.NO_SPACE;
    }

    private long place(final Part region, final boolean onlyBacked, final long sizeBytes, final long alignmentBytes) {
        main.lock();
        try {
            if (onlyBacked) {
                // A slab needs more than the request: it may lie where nothing can be committed though there are holes.
                region.strategy.makeDo();
                region.gained();
            }
            final long placed = main.placeIn(region, sizeBytes, alignmentBytes);
            return onlyBacked && placed < Strategy.NO_SPACE
                    ? placeAroundTail(region, sizeBytes, alignmentBytes)
                    : placed;
        } finally {
            main.taken = false;
        }
    }

    /**
     * Places a block though the strategy prefers the addresses that nothing backs, and nothing can: a good fit takes the tail
     * if that is shorter than the other free blocks. With the tail in use meanwhile, as far as it is one free block, it takes
     * one of those.
     */
    private long placeAroundTail(final Part region, final long sizeBytes, final long alignmentBytes) {
        final Strategy strategy = region.strategy;
        final long tail =
                alignmentBytes == 1 ? strategy.allocate(sizeBytes) : strategy.allocate(sizeBytes, alignmentBytes);
        if (tail == Strategy.NO_SPACE) {
            return Strategy.NO_SPACE;
        }
        strategy.extend(tail, (region.used.endAddress() - tail) & -strategy.granuleBytes());
        final long placed = main.placeIn(region, sizeBytes, alignmentBytes);
        strategy.free(tail);
        region.gained();
        return Math.max(placed, Strategy.NO_SPACE);
    }

    /** Grows so that blocks may end there, if limit and device allow. */
    boolean commitTo(final long end) {
        final Part region = region();
        return region != null && commit(region, end);
    }

    private boolean commit(final Part region, final long end) {
        final GrowableRegion growable = Objects.requireNonNull(region.growable);
        final PoolEvents.RegionTakenEvent event = events.beginRegionTaken();
        final long mostBytes = limitBytes - (lanes.heldBytes() - region.heldBytes);
        final long endBytes = growable.endBytes();
        try {
            return new InPlaceGrowth(growable, firstRegionBytes)
                    .commit(end - region.taken.address(), mostBytes, maker.availableBytes());
        } finally {
            if (growable.endBytes() > endBytes) {
                event.commit(part(region, endBytes, growable.endBytes()));
            }
            backed(region);
        }
    }

    private boolean isMoving(final Part region) {
        return maker.canGather() && Gathering.canServe(region);
    }

    /** What memory moves in, in bytes; 0 if it doesn't. */
    long movingUnitBytes() {
        final Part region = region();
        return region == null || !isMoving(region)
                ? 0
                : Objects.requireNonNull(region.growable).unitBytes();
    }

    /** As {@link Gathering}. An address, or {@code NO_SPACE} if there isn't enough. */
    long gatherAndPlace(final long sizeBytes, final long alignmentBytes) {
        final Part region = region();
        if (region == null || !isMoving(region)) {
            return Strategy.NO_SPACE;
        }
        final Gathering gathering = Gathering.of(region, sizeBytes, alignmentBytes);
        // Others may take what was gathered here before this thread does: then once more.
        for (int tries = 0; tries <= MOST_GATHERINGS; tries++) {
            final long placed = place(region, false, sizeBytes, alignmentBytes);
            if (placed >= 0) {
                return placed;
            }
            // A good fit prefers the addresses behind to a block that just fits.
            final long around = tries == 0 ? Strategy.NO_SPACE : place(region, true, sizeBytes, alignmentBytes);
            if (around >= 0) {
                return around;
            }
            if (tries == MOST_GATHERINGS || !gather(region, gathering, sizeBytes, placed)) {
                break;
            }
        }
        return Strategy.NO_SPACE;
    }

    /** For a block that would end there if memory were behind it, as far as there are addresses. */
    private boolean gather(final Part region, final Gathering gathering, final long sizeBytes, final long placed) {
        final long unusedBytes = Math.min(limitBytes - lanes.heldBytes(), maker.availableBytes());
        final long freeBytes = lanes.heldBytes() - lanes.usedBytes() - lanes.limboBytes();
        final PoolEvents.MemoryMovedEvent event = events.beginMemoryMoved();
        main.lock();
        try {
            if (!gathering.begin(placed == Strategy.NO_SPACE ? Long.MAX_VALUE : ~placed, freeBytes, unusedBytes)) {
                return false;
            }
        } finally {
            main.taken = false;
        }
        final long heldBytes = region.heldBytes;
        try {
            return gathering.move();
        } finally {
            long movedBytes = 0;
            main.lock();
            try {
                movedBytes = gathering.end();
            } finally {
                main.taken = false;
                backed(region);
            }
            lanes.moved(movedBytes);
            event.commit(sizeBytes, movedBytes, region.heldBytes - heldBytes);
        }
    }

    /** Gives so much memory back, as far as it is free: behind the last block in use, and then in whole units from anywhere. */
    void giveBack(final long bytes) {
        final Part region = region();
        if (region != null) {
            final long heldBytes = region.heldBytes;
            giveBackTail(region, bytes);
            final long restBytes = bytes - (heldBytes - region.heldBytes);
            if (restBytes > 0 && isMoving(region)) {
                giveBackUnits(region, restBytes);
            }
        }
    }

    private void giveBackTail(final Part region, final long bytes) {
        final GrowableRegion growable = Objects.requireNonNull(region.growable);
        final long unitBytes = growable.unitBytes();
        final long usedEnd = withdrawUnused(region);
        long end = region.taken.address() + growable.endBytes();
        final long heldBytes = region.heldBytes;
        for (long left = bytes; left > 0 && end - unitBytes >= usedEnd; ) {
            end -= unitBytes;
            left -= growable.hasMemory(end) ? unitBytes : 0;
        }
        final PoolEvents.RegionGivenBackEvent event = events.beginRegionGivenBack();
        try {
            growable.decommit(end - region.taken.address());
        } finally {
            final long givenBytes = heldBytes - growable.committedBytes();
            if (givenBytes > 0) {
                event.commit(new Region(region.taken.address() + growable.endBytes(), givenBytes));
            }
            backed(region);
        }
    }

    private void giveBackUnits(final Part region, final long bytes) {
        final GrowableRegion growable = Objects.requireNonNull(region.growable);
        final long unitBytes = growable.unitBytes();
        if (growable.committedBytes() == 0) {
            return;
        }
        final long units = Math.min((bytes + unitBytes - 1) / unitBytes, growable.committedBytes() / unitBytes);
        final RetiredUnits retired = new RetiredUnits(region, units, 0);
        main.lock();
        try {
            if (retired.add(new Region(region.taken.endAddress(), unitBytes)) == 0) {
                return;
            }
        } finally {
            main.taken = false;
        }
        final int count = retired.count();
        try {
            growable.giveBack(retired.addresses(), count);
        } finally {
            main.lock();
            try {
                retired.settle();
            } finally {
                main.taken = false;
                backed(region);
            }
            tellGivenBack(growable, retired.addresses(), count);
        }
    }

    /** An event for each row of units. */
    private void tellGivenBack(final GrowableRegion growable, final long[] addresses, final int count) {
        final long unitBytes = growable.unitBytes();
        for (int i = 0, end; i < count; i = end) {
            end = i + 1;
            if (!growable.hasMemory(addresses[i])) {
                while (end < count
                        && addresses[end] == addresses[end - 1] + unitBytes
                        && !growable.hasMemory(addresses[end])) {
                    end++;
                }
                events.beginRegionGivenBack().commit(new Region(addresses[i], (end - i) * unitBytes));
            }
        }
    }

    private static Region part(final Part of, final long fromBytes, final long toBytes) {
        return new Region(of.taken.address() + fromBytes, toBytes - fromBytes);
    }

    /** From now on nobody is handed memory behind the last block in use; its end. Who looks for some waits to grow. */
    private long withdrawUnused(final Part region) {
        main.lock();
        try {
            final long end = region.usedEnd();
            region.withdrawBehind(end);
            return end;
        } finally {
            main.taken = false;
        }
    }

    private void backed(final Part region) {
        final GrowableRegion growable = Objects.requireNonNull(region.growable);
        final long committedBytes = growable.committedBytes();
        final long end = region.taken.address() + growable.endBytes();
        main.lock();
        try {
            lanes.held(committedBytes - region.heldBytes);
            region.holes.endAt(end);
            region.back(committedBytes, end);
        } finally {
            main.taken = false;
        }
    }
}
