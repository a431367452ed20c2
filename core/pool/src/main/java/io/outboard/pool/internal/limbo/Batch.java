package io.outboard.pool.internal.limbo;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Blocks that wait together for the same work.
 *
 * <p>While it is open, those of one stream are also in lists by size class, the newest first, so that one to be used
 * again is found without a search.
 *
 * <p>Public for the pool's other packages, not for applications.
 */
public final class Batch {

    /** Blocks that wait together. */
    public static final int BLOCKS = 64;

    /** A block is used again for a smaller request if no more than this share of it is lost. */
    private static final int MOST_LOST_SHARE = 8;

    /** Classes in which a block may be that loses so little: the request's own, and those behind it. */
    private static final int CLASSES_LOOKED_AT = 3;

    /** Of sizes, eight in each power of two. */
    private static final int CLASSES = Long.SIZE * 8 + CLASSES_LOOKED_AT;

    /** In place of a block that is in use again. */
    static final long NONE = -1;

    final long[] retired = new long[BLOCKS];
    final long[] sizes = new long[BLOCKS];
    final int[] parts = new int[BLOCKS];
    int count;
    long bytes;

    /** Closed: it is over when a later epoch than this has passed. */
    long noted;

    /** In the list that it is in. */
    @Nullable
    Batch next;

    /** The newest block of each class, and the next one of its class for each block: indices from 1, 0 for none. */
    private byte @Nullable [] newest;

    private byte @Nullable [] older;

    /** For a batch of one stream. */
    void orderBySize() {
        if (newest == null || older == null) {
            older = new byte[BLOCKS];
            newest = new byte[CLASSES];
        }
    }

    void add(final int part, final long block, final long sizeBytes) {
        parts[count] = part;
        retired[count] = block;
        sizes[count] = sizeBytes;
        bytes += sizeBytes;
        if (newest != null && older != null) {
            final int sizeClass = sizeClass(sizeBytes);
            older[count] = newest[sizeClass];
            newest[sizeClass] = (byte) (count + 1);
        }
        count++;
    }

    /** Takes a block out that is large enough and not much larger; its index, or -1. */
    int find(final long sizeBytes) {
        final int first = sizeClass(sizeBytes);
        for (int sizeClass = first;
                newest != null && older != null && sizeClass < first + CLASSES_LOOKED_AT;
                sizeClass++) {
            final int index = newest[sizeClass] - 1;
            if (index >= 0) {
                final long lost = sizes[index] - sizeBytes;
                if (lost >= 0 && lost <= sizes[index] / MOST_LOST_SHARE) {
                    newest[sizeClass] = older[index];
                    return index;
                }
            }
        }
        return -1;
    }

    /** The first of the last blocks that are all in one part, but for so many at most. */
    public int lastRun(final int most) {
        int first = count - 1;
        while (first > 0 && count - first < most && parts[first - 1] == parts[first]) {
            first--;
        }
        return first;
    }

    /** Names the blocks to their strategies; {@link #count()} of them are there. */
    public long[] retired() {
        return retired;
    }

    public int count() {
        return count;
    }

    /** The number of the part that the last block is in. */
    public int lastPart() {
        return parts[count - 1];
    }

    /** Names a block to its strategy. */
    public long retired(final int index) {
        return retired[index];
    }

    /** As {@link #lastPart}, of any. */
    public int part(final int index) {
        return parts[index];
    }

    public long sizeBytes(final int index) {
        return sizes[index];
    }

    /** Nothing is added or used again from now on; what was leaves no holes. */
    void close() {
        int kept = 0;
        for (int i = 0; i < count; i++) {
            if (retired[i] != NONE) {
                retired[kept] = retired[i];
                sizes[kept] = sizes[i];
                parts[kept] = parts[i];
                kept++;
            }
        }
        count = kept;
        if (newest != null) {
            Arrays.fill(newest, (byte) 0);
        }
    }

    private static int sizeClass(final long sizeBytes) {
        final int log2 = Long.SIZE - 1 - Long.numberOfLeadingZeros(sizeBytes | 1);
        return (log2 << 3) + (int) ((sizeBytes >>> Math.max(0, log2 - 3)) & 7);
    }
}
