package io.outboard.pool;

import java.util.Arrays;
import java.util.function.Function;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of a lane that were freed while the device may still be using them. Their strategies know them as retired: their
 * addresses aren't blocks' any more, their memory stays taken. They wait in batches, since one synchronisation or one mark
 * serves all that were freed before it:
 *
 * <ol>
 *   <li>{@link #add} puts a block into an open batch: that of its stream, or the one for blocks that any stream may use.
 *   <li>{@link #take} closes batches and hands them to the {@link Recycler}, which waits for the work, or marks it.
 *   <li>{@link #collect} brings batches back when the device has finished with it: it is ready.
 *   <li>{@link #nextReady} names the ready blocks one by one, since to release all at once would take long.
 * </ol>
 *
 * <p>External lock required: the lane's. Nothing is searched, nothing rehashed but the few streams, and batches are used again,
 * so there is no garbage once they are as many as the program needs. {@link #reserve} takes whatever host memory the next
 * {@link #add} needs, which then can't fail.
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

    /** In place of a block that is in use again. */
    private static final long NONE = -1;

    /**
     * Blocks that wait together for the same work.
     *
     * <p>While it is open, those of one stream are also in lists by size class, the newest first, so that one to be used
     * again is found without a search.
     */
    static final class Batch {

        /** Who gets it back. */
        final Lane lane;

        final long[] retired = new long[BATCH_BLOCKS];
        final long[] sizes = new long[BATCH_BLOCKS];
        final int[] parts = new int[BATCH_BLOCKS];
        long stream;
        int count;

        /** What the device was told to watch for, or {@link DeviceWork#NO_MARK}. */
        long mark;

        /** In the list that it is in. */
        @Nullable
        Batch next;

        /** The newest block of each class, and the next one of its class for each block: indices from 1, 0 for none. */
        private byte @Nullable [] newest;

        private byte @Nullable [] older;

        Batch(final Lane lane) {
            this.lane = lane;
        }

        private void orderBySize() {
            if (newest == null || older == null) {
                older = new byte[BATCH_BLOCKS];
                newest = new byte[CLASSES];
            }
        }

        private void add(final int part, final long block, final long sizeBytes) {
            parts[count] = part;
            retired[count] = block;
            sizes[count] = sizeBytes;
            if (stream != ALL_STREAMS && newest != null && older != null) {
                final int sizeClass = sizeClass(sizeBytes);
                older[count] = newest[sizeClass];
                newest[sizeClass] = (byte) (count + 1);
            }
            count++;
        }

        /** Takes a block out that is large enough and not much larger; its index, or -1. */
        private int find(final long sizeBytes) {
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

        /** Nothing is added or used again from now on; what was leaves no holes. */
        private void close() {
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
            if (stream != ALL_STREAMS && newest != null) {
                Arrays.fill(newest, (byte) 0);
            }
        }

        private static int sizeClass(final long sizeBytes) {
            final int log2 = Long.SIZE - 1 - Long.numberOfLeadingZeros(sizeBytes | 1);
            return (log2 << 3) + (int) ((sizeBytes >>> Math.max(0, log2 - 3)) & 7);
        }
    }

    /** Batches one after another. Confined to whoever owns it. */
    static final class Chain {

        @Nullable
        Batch first;

        private @Nullable Batch last;

        boolean isEmpty() {
            return first == null;
        }

        void add(final Batch batch) {
            batch.next = null;
            if (last == null) {
                first = batch;
            } else {
                last.next = batch;
            }
            last = batch;
        }

        void addAll(final Chain other) {
            for (Batch batch = other.poll(); batch != null; batch = other.poll()) {
                add(batch);
            }
        }

        @Nullable
        Batch poll() {
            final Batch batch = first;
            if (batch != null) {
                first = batch.next;
                batch.next = null;
                if (first == null) {
                    last = null;
                }
            }
            return batch;
        }

        /** Takes out the one behind {@code before}, or the first if that is null. */
        void removeAfter(final @Nullable Batch before, final Batch batch) {
            if (before == null) {
                first = batch.next;
            } else {
                before.next = batch.next;
            }
            if (last == batch) {
                last = before;
            }
            batch.next = null;
        }
    }

    private final Lane lane;
    private final Function<Lane, Batch> factory;

    /** Filled by the next blocks that are freed; each of its batches has room for one more. */
    private Long2ObjectHashMap<Batch> open = new Long2ObjectHashMap<>();

    private final Chain full = new Chain();
    private final Chain ready = new Chain();
    private final Chain unused = new Chain();
    private long bytes;

    /** The open batch of the stream that freed last: most programs use one stream, or free many blocks in a row. */
    private Batch last;

    Limbo(final Lane lane) {
        this(lane, Batch::new);
    }

    /** For tests in which the host has no memory for a batch. */
    Limbo(final Lane lane, final Function<Lane, Batch> factory) {
        this.lane = lane;
        this.factory = factory;
        last = open(ALL_STREAMS);
    }

    /** Bytes that were added and not released, those with the recycler included. */
    long bytes() {
        return bytes;
    }

    /** Whether a batch is full, so that {@link #take} is worth while. */
    boolean hasFull() {
        return !full.isEmpty();
    }

    boolean hasReady() {
        return !ready.isEmpty();
    }

    // Filling

    /** Takes the host memory that the next {@link #add} for a stream needs. */
    void reserve(final long stream) {
        final Batch batch = last.stream == stream ? last : open(stream);
        if (batch.count == BATCH_BLOCKS - 1) {
            reserveBatch();
        }
        if (stream != ALL_STREAMS) {
            batch.orderBySize();
        }
        last = batch;
    }

    /** Puts a block in, right after {@link #reserve}. */
    void add(final int part, final long retired, final long sizeBytes) {
        final Batch batch = last;
        batch.add(part, retired, sizeBytes);
        bytes += sizeBytes;
        if (batch.count == BATCH_BLOCKS) {
            batch.close();
            full.add(batch);
            last = openReserved(batch.stream);
        }
    }

    /**
     * A block that was freed on this stream, is large enough and not much larger: out of limbo. Of each size class only the
     * block freed last is looked at.
     *
     * @return null if there is none; else the block is at {@link #usedAgain} there
     */
    @Nullable
    Batch use(final long sizeBytes, final long stream) {
        final Batch batch = last.stream == stream ? last : open.get(stream);
        if (batch == null || sizeBytes <= 0 || stream == ALL_STREAMS) {
            return null;
        }
        usedAgain = batch.find(sizeBytes);
        return usedAgain < 0 ? null : batch;
    }

    /** Where {@link #use} found a block. */
    int usedAgain;

    /** The block that {@link #use} found is in use again. */
    void forget(final Batch batch) {
        bytes -= batch.sizes[usedAgain];
        if (usedAgain == batch.count - 1) {
            batch.count--;
        } else {
            batch.retired[usedAgain] = NONE;
        }
    }

    // Emptying

    /** Hands batches over: the full ones, or all with a block in them. Takes host memory first, if any is needed. */
    void take(final boolean all, final Chain taken) {
        if (all) {
            reserveBatch();
        }
        for (Batch batch = full.poll(); batch != null; batch = full.poll()) {
            taken.add(batch);
        }
        if (all) {
            // Empty ones too, so that none stays behind for a stream that doesn't exist any more.
            if (open.size() == 1) {
                takeOpen(last, taken);
            } else {
                for (final Batch batch : open.values()) {
                    takeOpen(batch, taken);
                }
            }
            open.clear();
            last = openReserved(ALL_STREAMS);
        }
    }

    private void takeOpen(final Batch batch, final Chain taken) {
        batch.close();
        (batch.count == 0 ? unused : taken).add(batch);
    }

    /** Takes batches back that the device couldn't be asked about. */
    void takeBack(final Chain chain) {
        full.addAll(chain);
    }

    /** The device has finished with these batches: takes its own from them, whose blocks are ready now. */
    void collect(final Chain finished) {
        Batch before = null;
        Batch batch = finished.first;
        while (batch != null) {
            final Batch next = batch.next;
            if (batch.lane == lane) {
                finished.removeAfter(before, batch);
                ready.add(batch);
            } else {
                before = batch;
            }
            batch = next;
        }
    }

    /** The next ready block, which is to be released now: the batch that has it last. Null if none is ready. */
    @Nullable
    Batch nextReady() {
        return ready.first;
    }

    /** The last block of the first ready batch was released. */
    void released() {
        final Batch batch = ready.first;
        if (batch != null) {
            bytes -= batch.sizes[--batch.count];
            if (batch.count == 0) {
                ready.poll();
                unused.add(batch);
            }
        }
    }

    /** Everything is gone. */
    void clear() {
        final Chain nobody = new Chain();
        take(true, nobody);
        while (ready.poll() != null) {
            // With their strategies.
        }
        bytes = 0;
    }

    /** Shows what is here and not with the recycler. */
    void forEach(final Visitor visitor) {
        for (final Batch batch : open.values()) {
            show(batch, visitor);
        }
        forEach(full, visitor);
        forEach(ready, visitor);
    }

    static void forEach(final Chain chain, final Visitor visitor) {
        for (Batch batch = chain.first; batch != null; batch = batch.next) {
            show(batch, visitor);
        }
    }

    private static void show(final Batch batch, final Visitor visitor) {
        for (int i = 0; i < batch.count; i++) {
            if (batch.retired[i] != NONE) {
                visitor.visit(batch, i);
            }
        }
    }

    /** Sees a block in limbo. */
    interface Visitor {
        void visit(Batch batch, int index);
    }

    private Batch open(final long stream) {
        final Batch batch = open.get(stream);
        if (batch != null) {
            return batch;
        }
        reserveBatch();
        if (open.size() >= open.resizeThreshold()) {
            // Not left to the map: it puts the value in and raises its threshold before it asks for the larger table.
            final Long2ObjectHashMap<Batch> larger = new Long2ObjectHashMap<>(2 * open.capacity(), open.loadFactor());
            larger.putAll(open);
            open = larger;
        }
        return openReserved(stream);
    }

    /** Takes the place of the stream's batch, if it has one. */
    private Batch openReserved(final long stream) {
        final Batch batch = unused.poll();
        if (batch == null) {
            throw new AssertionError("no batch was reserved");
        }
        batch.stream = stream;
        batch.mark = DeviceWork.NO_MARK;
        open.put(stream, batch);
        return batch;
    }

    private void reserveBatch() {
        if (unused.isEmpty()) {
            unused.add(factory.apply(lane));
        }
    }
}
