package io.outboard.pool.internal.arena;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Where blocks in use start in a chunk: one byte a granule. A thread that doesn't own the chunk ends a block here, at once and
 * without the owner's lock, so that of two frees of one block the second is refused whichever threads they are on, though
 * the owner hears of the first only later.
 *
 * <p>Bytes and not bits: nothing else is written with one, so the owner sets it by a plain store. An atomic operation would wait
 * for the cache line, which the thread has that freed the last block here.
 *
 * <p>Safe for any number of threads. 256 host bytes for 64 KiB of the chunk with granules of 256 bytes.
 *
 * <p>Public for the pool's other packages, not for applications.
 */
public final class BlockStarts {

    private static final VarHandle BYTES = MethodHandles.arrayElementVarHandle(byte[].class);

    private static final byte NONE = 0;
    private static final byte START = 1;

    private final long address;
    private final int granuleLog2;
    private final byte[] starts;

    BlockStarts(final long address, final long sizeBytes, final long granuleBytes) {
        this.address = address;
        granuleLog2 = Long.numberOfTrailingZeros(granuleBytes);
        starts = new byte[(int) (sizeBytes >>> granuleLog2)];
    }

    /** A block in use starts here from now on. Release: who frees it sees what its allocation wrote. */
    void set(final long start) {
        BYTES.setRelease(starts, (int) ((start - address) >>> granuleLog2), START);
    }

    /** Ends the block in use that starts here; false if there is none, for any address in the chunk. */
    boolean clear(final long start) {
        final long granule = granule(start);
        return granule >= 0 && BYTES.compareAndSet(starts, (int) granule, START, NONE);
    }

    boolean contains(final long start) {
        final long granule = granule(start);
        return granule >= 0 && (byte) BYTES.getAcquire(starts, (int) granule) == START;
    }

    /** -1 if the address isn't a granule's. */
    private long granule(final long start) {
        final long offset = start - address;
        final long granule = offset >>> granuleLog2;
        return granule << granuleLog2 == offset && granule < starts.length ? granule : -1;
    }
}
