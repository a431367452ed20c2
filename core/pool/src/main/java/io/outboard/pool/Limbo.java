package io.outboard.pool;

import io.outboard.core.Strategy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.function.Supplier;
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
 * When the host has no memory for more, {@link OutOfMemoryError}, and nothing has changed: a block that were in limbo, but
 * in no batch, would never come back. So each method does all that may fail first.
 */
final class Limbo {

    /** Stands for all streams; no stream has such a handle. */
    static final long ALL_STREAMS = -1;

    /** Blocks that wait together. */
    static final int BATCH_BLOCKS = 64;

    /** A block is used again for a smaller request if no more than this share of it is lost. */
    private static final int MOST_LOST_SHARE = 8;

    /** Classes in which a block may be that loses so little: the request's own, and those behind it. */
    private static final int CLASSES_LOOKED_AT = 3;

    /** Of sizes, eight in each power of two. */
    private static final int CLASSES = Long.SIZE * 8 + CLASSES_LOOKED_AT;

    /** In place of the address of a block that is in use again. */
    private static final long NONE = -1;

    /**
     * Blocks that wait together for the same work.
     *
     * <p>While it is open, those of one stream are also in lists by size class, the newest first, so that one to be used
     * again is found without a search.
     */
    static final class Batch {

        final long[] addresses = new long[BATCH_BLOCKS];
        final long[] sizes = new long[BATCH_BLOCKS];
        long stream;
        int count;

        /** What the device was told to watch for, or {@link DeviceWork#NO_MARK}. */
        long mark;

        /** The newest block of each class, and the next one of its class for each block: indices from 1, 0 for none. */
        private final byte[] newest = new byte[CLASSES];

        private final byte[] older = new byte[BATCH_BLOCKS];

        private void add(final long address, final long sizeBytes) {
            addresses[count] = address;
            sizes[count] = sizeBytes;
            if (stream != ALL_STREAMS) {
                final int sizeClass = sizeClass(sizeBytes);
                older[count] = newest[sizeClass];
                newest[sizeClass] = (byte) (count + 1);
            }
            count++;
        }

        /** Takes a block out that is large enough and not much larger; its index, or -1. */
        private int take(final long sizeBytes) {
            final int first = sizeClass(sizeBytes);
            for (int sizeClass = first; sizeClass < first + CLASSES_LOOKED_AT; sizeClass++) {
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

        /** Nothing is added or taken from now on; what was taken leaves no holes. */
        private void close() {
            int kept = 0;
            for (int i = 0; i < count; i++) {
                if (addresses[i] != NONE) {
                    addresses[kept] = addresses[i];
                    sizes[kept] = sizes[i];
                    kept++;
                }
            }
            count = kept;
            if (stream != ALL_STREAMS) {
                Arrays.fill(newest, (byte) 0);
            }
        }

        private static int sizeClass(final long sizeBytes) {
            final int log2 = Long.SIZE - 1 - Long.numberOfLeadingZeros(sizeBytes | 1);
            return (log2 << 3) + (int) ((sizeBytes >>> Math.max(0, log2 - 3)) & 7);
        }
    }

    private final Supplier<Batch> factory;
    private LongHashSet addresses = new LongHashSet();

    /** Filled by the next blocks that are freed; each of its batches has room for one more. */
    private Long2ObjectHashMap<Batch> open = new Long2ObjectHashMap<>();

    /** Both lists have room for all batches there are. Not the default capacity, which is made only when it is used. */
    private final ArrayList<Batch> full = new ArrayList<>(1);

    private final ArrayList<Batch> unused = new ArrayList<>(1);
    private int batches;
    private long bytes;

    /** The open batch of the stream that freed last: most programs use one stream, or free many blocks in a row. */
    private Batch last;

    Limbo() {
        this(Batch::new);
    }

    /** For tests in which the host has no memory for a batch. */
    Limbo(final Supplier<Batch> factory) {
        this.factory = factory;
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
        final Batch batch = last.stream == stream ? last : open(stream);
        if (batch.count == BATCH_BLOCKS - 1) {
            reserveBatch();
        }
        if (addresses.size() >= addresses.resizeThreshold()) {
            growAddresses();
        }
        if (!addresses.add(address)) {
            return false;
        }
        last = batch;
        batch.add(address, sizeBytes);
        bytes += sizeBytes;
        if (batch.count == BATCH_BLOCKS) {
            batch.close();
            full.add(batch);
            last = openReserved(stream);
        }
        return true;
    }

    /**
     * A block that was freed on this stream, is large enough and not much larger: out of limbo, or {@code NO_SPACE}. Of each
     * size class only the block freed last is looked at.
     */
    long reuse(final long sizeBytes, final long stream) {
        final Batch batch = last.stream == stream ? last : open.get(stream);
        if (batch == null || sizeBytes <= 0 || stream == ALL_STREAMS) {
            return Strategy.NO_SPACE;
        }
        final int index = batch.take(sizeBytes);
        if (index < 0) {
            return Strategy.NO_SPACE;
        }
        final long address = batch.addresses[index];
        remove(address, batch.sizes[index]);
        if (index == batch.count - 1) {
            batch.count--;
        } else {
            batch.addresses[index] = NONE;
        }
        return address;
    }

    /** Moves batches from here to {@code taken}: the full ones, or all with a block in them. */
    @SuppressWarnings("NonApiType") // Room in it has to be made beforehand, which a List can't be asked for.
    void takeBatches(final boolean all, final ArrayList<Batch> taken) {
        if (all) {
            reserveBatch();
        }
        taken.ensureCapacity(taken.size() + full.size() + open.size());
        // One by one, since addAll would make garbage.
        for (int i = 0; i < full.size(); i++) {
            taken.add(full.get(i));
        }
        full.clear();
        if (all) {
            // Empty ones too, so that none stays behind for a stream that doesn't exist any more.
            for (final Batch batch : open.values()) {
                batch.close();
                (batch.count == 0 ? unused : taken).add(batch);
            }
            open.clear();
            last = openReserved(ALL_STREAMS);
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
        final Batch batch = open.get(stream);
        if (batch != null) {
            return batch;
        }
        reserveBatch();
        if (open.size() >= open.resizeThreshold()) {
            final Long2ObjectHashMap<Batch> larger = new Long2ObjectHashMap<>(2 * open.capacity(), open.loadFactor());
            larger.putAll(open);
            open = larger;
        }
        return openReserved(stream);
    }

    /** Takes the place of the stream's batch, if it has one. */
    private Batch openReserved(final long stream) {
        final Batch batch = unused.remove(unused.size() - 1);
        batch.stream = stream;
        batch.mark = DeviceWork.NO_MARK;
        open.put(stream, batch);
        return batch;
    }

    private void reserveBatch() {
        if (unused.isEmpty()) {
            full.ensureCapacity(batches + 1);
            unused.ensureCapacity(batches + 1);
            unused.add(factory.get());
            batches++;
        }
    }

    /**
     * Not left to the set, nor to the map of open batches: they put the value in and raise their threshold before they ask
     * for the larger table, and without that fill up until a search doesn't end.
     */
    private void growAddresses() {
        final LongHashSet larger = new LongHashSet(2 * addresses.capacity(), addresses.loadFactor());
        larger.addAll(addresses);
        addresses = larger;
    }
}
