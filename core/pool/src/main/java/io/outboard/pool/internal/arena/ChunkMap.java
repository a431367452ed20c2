package io.outboard.pool.internal.arena;

import org.jspecify.annotations.Nullable;

/**
 * Finds the chunk that an address is in, by two array look-ups: chunks are multiples of {@link #UNIT_BYTES} and start at
 * such.
 *
 * <pre>
 *   address   | 0 (16 bits) | top (12) | low (16) | within a unit (20) |
 * </pre>
 *
 * <p>Written under the monitor, read without a lock: whoever was handed a block of a chunk finds it, since it was put here
 * before; for any other address the answer may be out of date. A quarter of a MiB of host memory for each 64 GiB of addresses
 * in which there is a chunk.
 */
final class ChunkMap {

    static final int UNIT_LOG2 = 20;
    static final long UNIT_BYTES = 1L << UNIT_LOG2;

    private static final int LOW_LOG2 = 16;
    private static final int TOP_LOG2 = 12;

    /** Higher addresses have no chunks. */
    private static final int ADDRESS_LOG2 = UNIT_LOG2 + LOW_LOG2 + TOP_LOG2;

    private volatile @Nullable Segment @Nullable [] @Nullable [] top;

    /** The chunk, or null; any address. */
    @Nullable
    Segment find(final long address) {
        final @Nullable Segment[] @Nullable [] all = top;
        if (all == null || address >>> ADDRESS_LOG2 != 0) {
            return null;
        }
        final @Nullable Segment[] low = all[(int) (address >>> (UNIT_LOG2 + LOW_LOG2))];
        return low == null ? null : low[(int) (address >>> UNIT_LOG2) & ((1 << LOW_LOG2) - 1)];
    }

    static boolean reaches(final long endAddress) {
        return endAddress >>> ADDRESS_LOG2 == 0;
    }

    /** Takes the host memory that {@link #put} needs for addresses from here to there. */
    synchronized void reserve(final long address, final long endAddress) {
        @Nullable Segment[] @Nullable [] all = top;
        if (all == null) {
            all = new @Nullable Segment[1 << TOP_LOG2][];
        }
        for (long unit = address; unit < endAddress; unit += UNIT_BYTES) {
            final int index = (int) (unit >>> (UNIT_LOG2 + LOW_LOG2));
            if (all[index] == null) {
                all[index] = new Segment[1 << LOW_LOG2];
            }
        }
        top = all;
    }

    /** From now on its addresses are the chunk's; of none, if it is null. */
    @SuppressWarnings("NullAway") // Where nothing is reserved, nothing is put.
    synchronized void put(final long address, final long endAddress, final @Nullable Segment chunk) {
        for (long unit = address; unit < endAddress; unit += UNIT_BYTES) {
            top[(int) (unit >>> (UNIT_LOG2 + LOW_LOG2))][(int) (unit >>> UNIT_LOG2) & ((1 << LOW_LOG2) - 1)] = chunk;
        }
    }
}
