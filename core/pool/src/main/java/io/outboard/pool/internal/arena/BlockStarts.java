package io.outboard.pool.internal.arena;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Where blocks in use start in a segment: one byte a granule, which also tells roughly how large the block is. A thread of another arena
 * ends a block here, at once and without the owner's lock, so that of two frees of one block the second is refused whichever threads
 * they are on, though the owner hears of the first only later.
 *
 * <pre>
 *   pages     [ null | page | null | page ]            one for 16,384 granules, made when the first block starts there
 *   page      0 0 0 13 0 0 0 0 9 ...                   0: no block in use starts here; else 1 + log2 of the block's granules
 * </pre>
 *
 * <p>Bytes and not bits: nothing else is written with one, so the owner sets it by a plain store. An atomic operation would wait
 * for the cache line, which the thread has that freed the last block here.
 *
 * <p>{@link #set} needs the lock of the segment's arena; the rest is safe for any number of threads. 16 KiB of host
 * memory for 4 MiB of addresses in which blocks start, with granules of 256 bytes.
 */
public final class BlockStarts {

    private static final VarHandle BYTES = MethodHandles.arrayElementVarHandle(byte[].class);
    private static final VarHandle PAGES = MethodHandles.arrayElementVarHandle(byte[][].class);

    private static final int PAGE_LOG2 = 14;
    private static final int PAGE_MASK = (1 << PAGE_LOG2) - 1;
    private static final byte NONE = 0;

    private final long address;
    private final int granuleLog2;
    private final byte[] @Nullable [] pages;

    BlockStarts(final long address, final long sizeBytes, final long granuleBytes) {
        this.address = address;
        granuleLog2 = Long.numberOfTrailingZeros(granuleBytes);
        pages = new byte[(int) (((sizeBytes >>> granuleLog2) + PAGE_MASK) >>> PAGE_LOG2)][];
    }

    /** A block in use starts here from now on. Makes the page it needs first: if the host has no memory for it, nothing changes. */
    void set(final long start, final long sizeBytes) {
        final int number = (int) ((start - address) >>> granuleLog2 >>> PAGE_LOG2);
        final int index = index(start);
        byte[] page = pages[number];
        if (page == null) {
            page = new byte[1 << PAGE_LOG2];
            // Release: whoever finds the page finds it empty.
            PAGES.setRelease(pages, number, page);
        }
        // Release: who frees it sees what its allocation wrote.
        BYTES.setRelease(page, index, sizeByte(sizeBytes));
    }

    /** The block in use that starts here has another size from now on, unless it was ended meanwhile. */
    void resize(final long start, final long sizeBytes) {
        replace(start, sizeByte(sizeBytes));
    }

    /** Ends the block in use that starts here; its size, to within a factor of two, or 0 if there is none, for any address. */
    long clear(final long start) {
        final int before = replace(start, NONE);
        return before == NONE ? 0 : 1L << (before - 1 + granuleLog2);
    }

    /** What stood for the block in use that starts there; {@link #NONE} if there is none, or another thread was faster. */
    private byte replace(final long start, final byte with) {
        final byte[] page = page(start);
        if (page == null) {
            return NONE;
        }
        final int index = index(start);
        final byte before = (byte) BYTES.getAcquire(page, index);
        return before != NONE && BYTES.compareAndSet(page, index, before, with) ? before : NONE;
    }

    /** For any address. */
    boolean contains(final long start) {
        final byte[] page = page(start);
        return page != null && (byte) BYTES.getAcquire(page, index(start)) != NONE;
    }

    /** Null if the address isn't a granule's of the segment, or no block has started near it. */
    private byte @Nullable [] page(final long start) {
        final long offset = start - address;
        final long granule = offset >>> granuleLog2;
        if (granule << granuleLog2 != offset || granule >>> PAGE_LOG2 >= pages.length) {
            return null;
        }
        // Acquire; pairs with the release in set.
        return (byte[]) PAGES.getAcquire(pages, (int) (granule >>> PAGE_LOG2));
    }

    /** In its page. */
    private int index(final long start) {
        return (int) ((start - address) >>> granuleLog2) & PAGE_MASK;
    }

    private byte sizeByte(final long sizeBytes) {
        return (byte) (Long.SIZE - Long.numberOfLeadingZeros(sizeBytes >>> granuleLog2));
    }
}
