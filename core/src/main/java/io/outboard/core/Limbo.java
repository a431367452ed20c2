package io.outboard.core;

import java.util.ArrayList;
import java.util.List;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.collections.LongHashSet;

/**
 * The blocks of a pool that were freed while the device may still be using them. They stay in use for their strategy, and
 * come back in batches, since one synchronisation or one mark serves all that were freed before it:
 *
 * <ol>
 *   <li>{@link #add} puts a block into an open batch: that of its stream, or the one for blocks that any stream may use.
 *   <li>{@link #takeBatches} closes batches. Their owner waits for the work, or marks it, and asks later.
 *   <li>{@link #remove} ends a block's wait, when its owner frees it for good.
 * </ol>
 *
 * <p>External lock required. Batches are used again, so there is no garbage once they are as many as the program needs.
 */
final class Limbo {

    /** Stands for all streams; no stream has such a handle. */
    static final long ALL_STREAMS = -1;

    /** Blocks of a stream that a request on the same stream looks at, at most: a batch. */
    static final int BATCH_BLOCKS = 64;

    /** A block is used again for a smaller request if no more than this share of it is lost. */
    private static final int MOST_LOST_SHARE = 8;

    /** Blocks that wait together for the same work. */
    static final class Batch {

        final long[] addresses = new long[BATCH_BLOCKS];
        final long[] sizes = new long[BATCH_BLOCKS];
        long stream;
        int count;

        /** What the device was told to watch for, or {@link #UNMARKED}. */
        long mark;

        static final long UNMARKED = -1;
    }

    private final LongHashSet addresses = new LongHashSet();
    private final Long2ObjectHashMap<Batch> open = new Long2ObjectHashMap<>();
    private final List<Batch> full = new ArrayList<>();
    private final List<Batch> unused = new ArrayList<>();
    private long bytes;

    /** The batch of the stream that freed last: most programs use one stream, or free many blocks in a row. */
    private Batch last;

    Limbo() {
        last = open(ALL_STREAMS);
    }

    /** Bytes in limbo. */
    long bytes() {
        return bytes;
    }

    boolean contains(final long address) {
        return addresses.contains(address);
    }

    /** Whether a batch is full, so that {@link #takeBatches} is worth while. */
    boolean hasFullBatch() {
        return !full.isEmpty();
    }

    /** Puts a block in. False if it is here already. */
    boolean add(final long address, final long sizeBytes, final long stream) {
        if (!addresses.add(address)) {
            return false;
        }
        final Batch batch = last.stream == stream ? last : open(stream);
        last = batch;
        batch.addresses[batch.count] = address;
        batch.sizes[batch.count] = sizeBytes;
        bytes += sizeBytes;
        if (++batch.count == BATCH_BLOCKS) {
            full.add(batch);
            open.remove(stream);
            last = open(stream);
        }
        return true;
    }

    /** A block that was freed on this stream, is large enough and not much larger: out of limbo, or {@code NO_SPACE}. */
    long reuse(final long sizeBytes, final long stream) {
        final Batch batch = last.stream == stream ? last : open.get(stream);
        if (batch != null) {
            for (int i = batch.count - 1; i >= 0; i--) {
                final long lost = batch.sizes[i] - sizeBytes;
                if (lost >= 0 && lost <= batch.sizes[i] / MOST_LOST_SHARE) {
                    final long address = batch.addresses[i];
                    remove(address, batch.sizes[i]);
                    batch.count--;
                    batch.addresses[i] = batch.addresses[batch.count];
                    batch.sizes[i] = batch.sizes[batch.count];
                    return address;
                }
            }
        }
        return Strategy.NO_SPACE;
    }

    /** Moves batches from here to {@code taken}: the full ones, or all with a block in them. */
    void takeBatches(final boolean all, final List<Batch> taken) {
        // One by one, since addAll would make garbage.
        for (int i = 0; i < full.size(); i++) {
            taken.add(full.get(i));
        }
        full.clear();
        if (all) {
            // Empty ones too, so that none stays behind for a stream that doesn't exist any more.
            for (final Batch batch : open.values()) {
                (batch.count == 0 ? unused : taken).add(batch);
            }
            open.clear();
            last = open(ALL_STREAMS);
        }
    }

    /** Ends the wait of a block of a batch that was taken. */
    void remove(final long address, final long sizeBytes) {
        addresses.remove(address);
        bytes -= sizeBytes;
    }

    /** Takes a batch back whose blocks have all been removed. */
    void recycle(final Batch batch) {
        batch.count = 0;
        unused.add(batch);
    }

    private Batch open(final long stream) {
        Batch batch = open.get(stream);
        if (batch == null) {
            batch = unused.isEmpty() ? new Batch() : unused.remove(unused.size() - 1);
            batch.stream = stream;
            batch.mark = Batch.UNMARKED;
            open.put(stream, batch);
        }
        return batch;
    }
}
