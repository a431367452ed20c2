package io.outboard.pool;

import io.outboard.core.ByteSize;

/**
 * Pool statistics are the state of a pool, read without stopping it: each number was right at one moment of the
 * reading, not all at the same one.
 *
 * @param regions how many regions the pool holds
 * @param heldBytes size of these regions, in bytes
 * @param limitBytes most that the pool may hold, in bytes; {@link #NO_LIMIT} if only the device limits it
 * @param usedBytes bytes in blocks that are in use; limbo isn't
 * @param limboBytes bytes in blocks that were freed while the device may still be using them
 * @param peakUsedBytes most {@code usedBytes} that was seen so far. Where threads have arenas of their own, the arenas
 *     are added up whenever one of them has more in use than ever before, after each 1,024 of its allocations, and when
 *     statistics are read. Arenas are read one after the other, so a block that goes from one to another meanwhile may
 *     count twice or not at all
 * @param liveBlocks blocks in use
 * @param allocations blocks handed out so far
 * @param synchronizations how often the pool waited for the device to give limbo back, for all of its work or a part
 * @param mappings how often memory was taken, moved or given back so far: a program that is steady has none of that
 * @param movedBytes memory that moved so far to where a request needed it that no free block had room for
 * @param failures requests so far that ended with an exception since there was no memory, or no room in the tables
 * @param leaks buffers so far that were collected without having been closed; 0 if the {@link LeakLevel} is {@code OFF}
 */
public record PoolStatistics(
        int regions,
        long heldBytes,
        long limitBytes,
        long usedBytes,
        long limboBytes,
        long peakUsedBytes,
        long liveBlocks,
        long allocations,
        long synchronizations,
        long mappings,
        long movedBytes,
        long failures,
        long leaks) {

    /** The value that stands for no limit, as in {@link java.lang.management.MemoryUsage#getMax}. */
    public static final long NO_LIMIT = -1;

    /** {@return bytes neither in use nor in limbo, 0 or more though the numbers may be from different moments} */
    public long freeBytes() {
        return Math.max(0, heldBytes - usedBytes - limboBytes);
    }

    /** {@return the state as a person reads it, in one line} */
    @Override
    public String toString() {
        return regions + (regions == 1 ? " region, " : " regions, ") + ByteSize.exact(heldBytes)
                + (limitBytes == NO_LIMIT ? ", no limit" : " of at most " + ByteSize.exact(limitBytes))
                + ": in use " + ByteSize.exact(usedBytes) + " in " + liveBlocks
                + (liveBlocks == 1 ? " block" : " blocks") + " (at most " + ByteSize.exact(peakUsedBytes)
                + " so far), limbo " + ByteSize.exact(limboBytes) + ", free " + ByteSize.exact(freeBytes());
    }
}
