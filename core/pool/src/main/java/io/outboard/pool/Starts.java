package io.outboard.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Where blocks in use start in a chunk: one bit a granule. A thread that doesn't own the chunk ends a block here, at once and
 * without the owner's lock, so that of two frees of one block the second is refused whichever threads they are on, though
 * the owner hears of the first only later.
 *
 * <p>Safe for any number of threads. 32 host bytes for 64 KiB of the chunk with granules of 256 bytes.
 */
final class Starts {

    private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);

    private final long address;
    private final long sizeBytes;
    private final int granuleLog2;
    private final long[] words;

    Starts(final long address, final long sizeBytes, final long granuleBytes) {
        this.address = address;
        this.sizeBytes = sizeBytes;
        granuleLog2 = Long.numberOfTrailingZeros(granuleBytes);
        words = new long[(int) (((sizeBytes >>> granuleLog2) + Long.SIZE - 1) >>> 6)];
    }

    /** A block in use starts here from now on. Release: who frees it sees what its allocation wrote. */
    void set(final long start) {
        final long granule = (start - address) >>> granuleLog2;
        WORDS.getAndBitwiseOrRelease(words, (int) (granule >>> 6), 1L << granule);
    }

    /** Ends the block in use that starts here; false if there is none, for any address in the chunk. */
    boolean clear(final long start) {
        final long offset = start - address;
        final long granule = offset >>> granuleLog2;
        if (granule << granuleLog2 != offset) {
            return false;
        }
        final long bit = 1L << granule;
        return ((long) WORDS.getAndBitwiseAnd(words, (int) (granule >>> 6), ~bit) & bit) != 0;
    }

    boolean contains(final long start) {
        final long offset = start - address;
        final long granule = offset >>> granuleLog2;
        return offset >= 0
                && offset < sizeBytes
                && granule << granuleLog2 == offset
                && (((long) WORDS.getAcquire(words, (int) (granule >>> 6)) >>> granule) & 1) != 0;
    }
}
