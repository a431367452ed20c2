package io.outboard.pool.internal.growth;

import io.outboard.pool.internal.arena.Segment;
import java.util.Arrays;

/**
 * Where a block may be between two blocks in use if holes there have memory again: where the least is missing.
 *
 * <pre>{@code
 *   | used | free | hole | free | used | hole | used |
 *          ^--------------------^
 * }</pre>
 *
 * <p>O(blocks). The arena's lock is held.
 */
final class HoleSearch {

    static final long NOWHERE = -1;

    private static final int FIRST_SEGMENTS = 64;

    private final Segment region;
    private final long sizeBytes;
    private final long alignmentBytes;

    /** The free blocks and holes without a block in use between them that are looked at: begins, and the last end. */
    private long[] begins = new long[FIRST_SEGMENTS];

    private boolean[] isHole = new boolean[FIRST_SEGMENTS];

    /** How many bytes are missing before each. */
    private long[] missingBefore = new long[FIRST_SEGMENTS + 1];

    private int segments;
    private long end;

    /** Of a place that is looked at, the segments that its ends are in. */
    private int first;

    private int last;

    private long bestAddress = NOWHERE;
    private long bestBytes = Long.MAX_VALUE;

    HoleSearch(final Segment region, final long sizeBytes, final long alignmentBytes) {
        this.region = region;
        this.sizeBytes = sizeBytes;
        this.alignmentBytes = Math.max(alignmentBytes, region.strategy.granuleBytes());
    }

    /** An address before the end of memory, or {@link #NOWHERE}. */
    long find(final long endOfMemory) {
        region.strategy.forEachUndivided((address, blockBytes, free) -> {
            final boolean hole = !free && region.holes.startAt(address);
            if ((free || hole) && address < endOfMemory) {
                add(address, hole);
                end = Math.min(address + blockBytes, endOfMemory);
                missingBefore[segments] = missingBefore[segments - 1] + (hole ? end - address : 0);
            } else {
                lookAtRun();
            }
        });
        lookAtRun();
        return bestAddress;
    }

    private void add(final long address, final boolean hole) {
        if (segments == begins.length) {
            begins = Arrays.copyOf(begins, 2 * segments);
            isHole = Arrays.copyOf(isHole, 2 * segments);
            missingBefore = Arrays.copyOf(missingBefore, 2 * segments + 1);
        }
        begins[segments] = address;
        isHole[segments] = hole;
        segments++;
    }

    /** The block may begin where one of the free blocks or holes does, or end where the last one does. In order of address. */
    private void lookAtRun() {
        final long latest = (end - sizeBytes) & -alignmentBytes;
        if (segments > 0 && end - begins[0] >= sizeBytes && latest >= begins[0]) {
            first = 0;
            last = 0;
            for (int i = 0; i < segments && begins[i] <= latest; i++) {
                final long address = (begins[i] + alignmentBytes - 1) & -alignmentBytes;
                if (address < latest) {
                    lookAt(address);
                }
            }
            lookAt(latest);
        }
        segments = 0;
    }

    private void lookAt(final long address) {
        first = segmentOf(address, first);
        last = segmentOf(address + sizeBytes - 1, last);
        final long bytes = missingUpTo(address + sizeBytes, last) - missingUpTo(address, first);
        if (bytes > 0 && bytes <= bestBytes) {
            bestBytes = bytes;
            bestAddress = address;
        }
    }

    private int segmentOf(final long address, final int from) {
        int segment = from;
        while (segment + 1 < segments && begins[segment + 1] <= address) {
            segment++;
        }
        return segment;
    }

    private long missingUpTo(final long address, final int segment) {
        return missingBefore[segment] + (isHole[segment] ? address - begins[segment] : 0);
    }
}
