package io.outboard.pool;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.core.Region;
import java.util.Arrays;
import java.util.Objects;

/**
 * Memory for a block that no free block has room for, though all of them together have: whole units of free blocks move to
 * addresses side by side. These are some between two blocks in use, where free memory and holes are enough, or those behind the last
 * memory: where fewer units are missing, and in case of a tie not behind, since addresses come to an end as well.
 *
 * <pre>{@code
 *   | used | free | used | free | used | hole | free | used |        addresses
 *             A             B              C     D               E
 * }</pre>
 *
 * Here A and B move to C, where with D there is room then, or to E, and leave holes.
 *
 * <p>{@link #begin} and {@link #end} need the main lane's lock, {@link #move} mustn't have it, since the source works meanwhile. What is
 * on its way is retired, so nobody is handed it.
 */
final class Gathering {

    private static final int FIRST_SEGMENTS = 64;

    private final Part region;
    private final GrowableRegion growable;
    private final long unitBytes;
    private final long sizeBytes;
    private final long alignmentBytes;
    private final boolean moves;

    /** The free blocks and holes without a block in use between them that are looked at: begins, and the last end. */
    private long[] begins = new long[FIRST_SEGMENTS];

    /** How many of those before each are holes. */
    private int[] holesBefore = new int[FIRST_SEGMENTS + 1];

    private int segments;
    private long end;

    /** Of a place that is looked at, the segment that it begins in, and the first one behind it. */
    private int first;

    private int next;

    /** Where the block is to be, whether that is where addresses behind the last memory are needed, and units that are missing there. */
    private long bestAddress;

    private boolean isBehind;
    private long bestUnits;

    /** Addresses of units that are to have memory. */
    private long[] targets = {};

    /** Units whose memory moves there. */
    private RetiredUnits donors;

    private Gathering(final Part region, final long sizeBytes, final long alignmentBytes, final boolean moves) {
        this.region = region;
        this.moves = moves;
        this.sizeBytes = sizeBytes;
        this.alignmentBytes = Math.max(alignmentBytes, region.strategy.granuleBytes());
        growable = Objects.requireNonNull(region.growable);
        unitBytes = growable.unitBytes();
        donors = new RetiredUnits(region, 0, 0);
    }

    static Gathering of(final Part region, final long sizeBytes, final long alignmentBytes) {
        return new Gathering(region, sizeBytes, alignmentBytes, true);
    }

    /** Of memory of the device, which nothing needs to wait for, where none moves. */
    static Gathering onlyIntoHoles(final Part region, final long sizeBytes, final long alignmentBytes) {
        return new Gathering(region, sizeBytes, alignmentBytes, false);
    }

    /** Whether units can be retired there. */
    static boolean canServe(final Part region) {
        final long unitBytes = Objects.requireNonNull(region.growable).unitBytes();
        return region.strategy.granuleBytes() <= unitBytes && (region.taken.address() & (unitBytes - 1)) == 0;
    }

    /**
     * Finds where the block is to be, and units whose memory can move there.
     *
     * @param placedEnd where it would end behind the last memory; {@code Long.MAX_VALUE} if there aren't as many addresses
     * @param freeBytes in free blocks, at most
     * @param unusedBytes that limit and device still allow
     * @return false if there isn't enough; nothing changes
     */
    boolean begin(final long placedEnd, final long freeBytes, final long unusedBytes) {
        final long endOfMemory = region.taken.address() + growable.endBytes();
        // In any place the block needs as much as it has.
        final long mostBytes = freeBytes + unusedBytes;
        bestUnits = placedEnd == Long.MAX_VALUE ? Long.MAX_VALUE : unitsTo(placedEnd - endOfMemory);
        bestAddress = placedEnd - sizeBytes;
        isBehind = true;
        if (sizeBytes > mostBytes) {
            return false;
        }
        if (region.holes.count() > 0) {
            lookAtRuns(endOfMemory);
        }
        if (bestUnits > mostBytes / unitBytes || endOfMemory == region.taken.address()) {
            return false;
        }
        targets = new long[(int) bestUnits];
        donors = new RetiredUnits(region, moves ? bestUnits : 0, isBehind ? 0 : targets.length);
        listTargets(endOfMemory);
        if ((bestUnits - donors.add(new Region(bestAddress, sizeBytes))) * unitBytes > unusedBytes) {
            end();
            return false;
        }
        return true;
    }

    /**
     * Moves.
     *
     * @return false if the device has less than it said
     */
    boolean move() {
        int filled = 0;
        try {
            for (; filled < targets.length - donors.count(); filled++) {
                growable.fill(targets[filled], unitBytes);
            }
        } catch (final DeviceOutOfMemoryException e) {
            return false;
        }
        growable.move(donors.addresses(), Arrays.copyOfRange(targets, filled, targets.length), donors.count());
        return true;
    }

    /** Whatever failed: what has memory now is free, what hasn't any more is a hole. How much isn't where it was, in bytes. */
    long end() {
        for (final long target : targets) {
            if (growable.hasMemory(target)) {
                region.holes.fill(target);
            }
        }
        return donors.settle() * unitBytes;
    }

    private long unitsTo(final long bytes) {
        return (bytes + unitBytes - 1) / unitBytes;
    }

    private void listTargets(final long endOfMemory) {
        if (isBehind) {
            for (int i = 0; i < targets.length; i++) {
                targets[i] = endOfMemory + i * unitBytes;
            }
            return;
        }
        final int[] count = {0};
        region.holes.forEachIn(
                bestAddress - unitBytes + 1, bestAddress + sizeBytes, hole -> targets[count[0]++] = hole);
    }

    private void lookAtRuns(final long endOfMemory) {
        segments = 0;
        region.strategy.forEachUndivided((address, blockBytes, free) -> {
            final boolean hole = !free && region.holes.startAt(address);
            if ((free || hole) && address < endOfMemory) {
                add(address, hole);
                end = Math.min(address + blockBytes, endOfMemory);
            } else {
                lookAtRun();
            }
        });
        lookAtRun();
    }

    private void add(final long address, final boolean hole) {
        if (segments == begins.length) {
            begins = Arrays.copyOf(begins, 2 * segments);
            holesBefore = Arrays.copyOf(holesBefore, 2 * segments + 1);
        }
        begins[segments] = address;
        holesBefore[segments + 1] = holesBefore[segments] + (hole ? 1 : 0);
        segments++;
    }

    /** The block may begin where one of the free blocks or holes does, or end where the last one does. In order of address. */
    private void lookAtRun() {
        final long last = (end - sizeBytes) & -alignmentBytes;
        if (segments > 0 && end - begins[0] >= sizeBytes && last >= begins[0]) {
            first = 0;
            next = 0;
            for (int i = 0; i < segments && begins[i] <= last; i++) {
                final long address = (begins[i] + alignmentBytes - 1) & -alignmentBytes;
                if (address < last) {
                    lookAt(address);
                }
            }
            lookAt(last);
        }
        segments = 0;
    }

    private void lookAt(final long address) {
        while (first + 1 < segments && begins[first + 1] <= address) {
            first++;
        }
        while (next < segments && begins[next] < address + sizeBytes) {
            next++;
        }
        final int units = holesBefore[next] - holesBefore[first];
        if (units > 0 && units <= bestUnits) {
            bestUnits = units;
            bestAddress = address;
            isBehind = false;
        }
    }
}
