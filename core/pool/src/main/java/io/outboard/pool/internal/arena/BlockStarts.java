package io.outboard.pool.internal.arena;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * This class has the starts of blocks in use in a segment: one byte a granule, which also tells the block's size to
 * within a factor of two. A thread of another arena frees a block by clearing its byte, without the owner's lock. So of
 * two frees of one block the second is refused at once, on any thread, though the owner hears of the first only later.
 *
 * <pre>
 *   pages     [ null | page | null | page ]       one for 16,384 granules, made when the first block starts there
 *   page      0 0 0 13 0 0 0 0 9 ...              0: no block in use starts here; else 1 + log2 of the block's granules
 * </pre>
 *
 * <p>These are bytes and not bits, so that the owner sets one by a plain store. An atomic operation on shared bits
 * would wait for the cache line, which the thread has that freed the last block here.
 *
 * <p>{@link #set} needs the lock of the segment's arena; the rest is safe for any number of threads. Takes 16 KiB of
 * host memory for each 4 MiB of addresses in which blocks start, with granules of 256 bytes.
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

    /** Notes that a block in use starts here. If the host has no memory for the page that it needs, nothing changes. */
    void set(final long start, final long sizeBytes) {
        final int number = (int) ((start - address) >>> granuleLog2 >>> PAGE_LOG2);
        final int index = index(start);
        byte[] page = pages[number];
        if (page == null) {
            page = new byte[1 << PAGE_LOG2];
            // The release lets every thread that finds the page find it empty.
            PAGES.setRelease(pages, number, page);
        }
        // The release lets the thread that frees the block see what its allocation wrote.
        BYTES.setRelease(page, index, sizeByte(sizeBytes));
    }

    /** Notes another size of the block that starts here, unless another thread has freed it meanwhile. */
    void resize(final long start, final long sizeBytes) {
        replace(start, sizeByte(sizeBytes));
    }

    /**
     * Clears the start of a block in use, at any address; returns its size to within a factor of two, or 0 if there is
     * none.
     */
    long clear(final long start) {
        final int before = replace(start, NONE);
        return before == NONE ? 0 : 1L << (before - 1 + granuleLog2);
    }

    /** Returns the byte of the block that starts here; {@link #NONE} if there is none, or another thread was faster. */
    private byte replace(final long start, final byte with) {
        final byte[] page = page(start);
        if (page == null) {
            return NONE;
        }
        final int index = index(start);
        final byte before = (byte) BYTES.getAcquire(page, index);
        return before != NONE && BYTES.compareAndSet(page, index, before, with) ? before : NONE;
    }

    /** Returns whether a block in use starts at an address, which may be any. */
    boolean contains(final long start) {
        final byte[] page = page(start);
        return page != null && (byte) BYTES.getAcquire(page, index(start)) != NONE;
    }

    /** Returns the page of an address; null if it isn't a granule's of the segment, or no block has started near it. */
    private byte @Nullable [] page(final long start) {
        final long offset = start - address;
        final long granule = offset >>> granuleLog2;
        if (granule << granuleLog2 != offset || granule >>> PAGE_LOG2 >= pages.length) {
            return null;
        }
        // The acquire pairs with the release in set.
        return (byte[]) PAGES.getAcquire(pages, (int) (granule >>> PAGE_LOG2));
    }

    /** Returns the index of an address in its page. */
    private int index(final long start) {
        return (int) ((start - address) >>> granuleLog2) & PAGE_MASK;
    }

    private byte sizeByte(final long sizeBytes) {
        return (byte) (Long.SIZE - Long.numberOfLeadingZeros(sizeBytes >>> granuleLog2));
    }
}
