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
    private final long granules;
    private final byte[] @Nullable [] pages;

    BlockStarts(final long address, final long sizeBytes, final long granuleBytes) {
        this.address = address;
        granuleLog2 = Long.numberOfTrailingZeros(granuleBytes);
        granules = sizeBytes >>> granuleLog2;
        pages = new byte[(int) ((granules + PAGE_MASK) >>> PAGE_LOG2)][];
    }

    /** A block in use starts here from now on. Makes the page it needs first: if the host has no memory for it, nothing changes. */
    void set(final long start, final long sizeBytes) {
        final long granule = (start - address) >>> granuleLog2;
        final int index = (int) (granule >>> PAGE_LOG2);
        byte[] page = pages[index];
        if (page == null) {
            page = new byte[1 << PAGE_LOG2];
            // Release: whoever finds the page finds it empty.
            PAGES.setRelease(pages, index, page);
        }
        // Release: who frees it sees what its allocation wrote.
        BYTES.setRelease(page, (int) granule & PAGE_MASK, (byte) (1 + log2(sizeBytes >>> granuleLog2)));
    }

    /** The block in use that starts here has another size from now on, unless it was ended meanwhile. */
    void resize(final long start, final long sizeBytes) {
        final byte[] page = page(start);
        if (page != null) {
            final int index = (int) ((start - address) >>> granuleLog2) & PAGE_MASK;
            final byte before = (byte) BYTES.getAcquire(page, index);
            if (before != NONE) {
                BYTES.compareAndSet(page, index, before, (byte) (1 + log2(sizeBytes >>> granuleLog2)));
            }
        }
    }

    /** Ends the block in use that starts here; its size, to within a factor of two, or 0 if there is none, for any address. */
    long clear(final long start) {
        final byte[] page = page(start);
        if (page == null) {
            return 0;
        }
        final int index = (int) ((start - address) >>> granuleLog2) & PAGE_MASK;
        final byte before = (byte) BYTES.getAcquire(page, index);
        return before != NONE && BYTES.compareAndSet(page, index, before, NONE) ? 1L << (before - 1 + granuleLog2) : 0;
    }

    /** For any address. */
    boolean contains(final long start) {
        final byte[] page = page(start);
        return page != null
                && (byte) BYTES.getAcquire(page, (int) ((start - address) >>> granuleLog2) & PAGE_MASK) != NONE;
    }

    /** Null if the address isn't a granule's of the segment, or no block has started near it. */
    private byte @Nullable [] page(final long start) {
        final long offset = start - address;
        final long granule = offset >>> granuleLog2;
        if (granule << granuleLog2 != offset || granule >= granules) {
            return null;
        }
        // Acquire; pairs with the release in set.
        return (byte[]) PAGES.getAcquire(pages, (int) (granule >>> PAGE_LOG2));
    }

    private static int log2(final long granules) {
        return Long.SIZE - 1 - Long.numberOfLeadingZeros(granules);
    }
}
