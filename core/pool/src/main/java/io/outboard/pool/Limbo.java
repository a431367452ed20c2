package io.outboard.pool;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Supplier;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of a lane that were freed while the device may still be using them. Their strategies know them as retired: their
 * addresses aren't blocks' any more, their memory stays taken. They wait in batches, since one wait or one mark serves all that
 * were freed before it:
 *
 * <ol>
 *   <li>{@link #add} puts a block into an open batch: that of its stream, or the one for blocks that any stream may use.
 *   <li>A batch that is full, or at {@link #close}, notes its epoch, and waits behind those that were closed before.
 *   <li>{@link #nextReady} names the blocks one by one whose epoch is over, since to release all at once would take long.
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

        final long[] retired = new long[BATCH_BLOCKS];
        final long[] sizes = new long[BATCH_BLOCKS];
        final int[] parts = new int[BATCH_BLOCKS];
        int count;
        private long bytes;

        /** Closed: it is over when a later epoch than this has passed. */
        private long noted;

        /** In the list that it is in. */
        @Nullable
        Batch next;

        /** The newest block of each class, and the next one of its class for each block: indices from 1, 0 for none. */
        private byte @Nullable [] newest;

        private byte @Nullable [] older;

        /** For a batch of one stream. */
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
            bytes += sizeBytes;
            if (newest != null && older != null) {
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
            if (newest != null) {
                Arrays.fill(newest, (byte) 0);
            }
        }

        private static int sizeClass(final long sizeBytes) {
            final int log2 = Long.SIZE - 1 - Long.numberOfLeadingZeros(sizeBytes | 1);
            return (log2 << 3) + (int) ((sizeBytes >>> Math.max(0, log2 - 3)) & 7);
        }
    }

    /** Batches one after another. */
    private static final class Chain {

        private @Nullable Batch first;
        private @Nullable Batch last;

        void add(final Batch batch) {
            batch.next = null;
            if (last == null) {
                first = batch;
            } else {
                last.next = batch;
            }
            last = batch;
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
    }

    /** What was freed on one stream, or for all. */
    private static final class Queue {

        private final long stream;
        private final Epochs epochs;

        /** Filled by the next blocks that are freed; null if there are none yet. */
        private @Nullable Batch open;

        /** In the order of their epochs. */
        private final Chain closed = new Chain();

        Queue(final long stream, final Epochs epochs) {
            this.stream = stream;
            this.epochs = epochs;
        }

        private @Nullable Batch firstOver() {
            final Batch batch = closed.first;
            return batch != null && epochs.isOver(batch.noted) ? batch : null;
        }
    }

    private final StreamEpochs epochs;
    private final Supplier<Batch> factory;
    private final Queue all;

    /** Of all streams but those that have ended. */
    private Long2ObjectHashMap<Queue> byStream = new Long2ObjectHashMap<>();

    /** All, with those of ended streams in which blocks still wait. */
    private final ArrayList<Queue> queues = new ArrayList<>();

    private final Chain unused = new Chain();

    /** These are larger. */
    private final Chain unusedOfStreams = new Chain();

    private long bytes;

    private long newestNoted;

    /** What came to limbo since {@link #forgetNew}, or since another epoch has begun. */
    private long newBytes;

    /** The queue of who freed last: most programs use one stream, or free many blocks in a row. */
    private Queue last;

    /** In which something was ready last. */
    private Queue current;

    /** So many epochs had passed when nothing was ready. */
    private long dryAt = -1;

    Limbo(final StreamEpochs epochs) {
        this(epochs, Batch::new);
    }

    /** For tests in which the host has no memory for a batch. */
    Limbo(final StreamEpochs epochs, final Supplier<Batch> factory) {
        this.epochs = epochs;
        this.factory = factory;
        all = new Queue(ALL_STREAMS, epochs.all);
        queues.add(all);
        last = all;
        current = all;
    }

    /** Bytes that were added and not released. */
    long bytes() {
        return bytes;
    }

    /** Bytes that were added since {@link #forgetNew}. */
    long newBytes() {
        return newBytes;
    }

    void forgetNew() {
        newBytes = 0;
    }

    // Filling

    /** Takes the host memory that the next {@link #add} for a stream needs. */
    void reserve(final long stream) {
        final Queue queue = last.stream == stream ? last : queue(stream);
        if (queue.open == null) {
            open(queue);
        }
        last = queue;
    }

    private void open(final Queue queue) {
        Batch batch = unused(queue).poll();
        if (batch == null) {
            batch = factory.get();
            if (queue != all) {
                batch.orderBySize();
            }
        }
        batch.bytes = 0;
        queue.open = batch;
    }

    private Chain unused(final Queue queue) {
        return queue == all ? unused : unusedOfStreams;
    }

    /** Puts a block in, right after {@link #reserve}. True if that closed a batch. */
    boolean add(final int part, final long retired, final long sizeBytes) {
        final Batch batch = Objects.requireNonNull(last.open);
        batch.add(part, retired, sizeBytes);
        bytes += sizeBytes;
        newBytes += sizeBytes;
        if (batch.count < BATCH_BLOCKS) {
            return false;
        }
        close(last, batch);
        return true;
    }

    private void close(final Queue queue, final Batch batch) {
        queue.open = null;
        batch.close();
        if (batch.count == 0) {
            unused(queue).add(batch);
        } else {
            batch.noted = queue.epochs.note();
            if (batch.noted != newestNoted) {
                // An epoch has begun since, which covers what was new then.
                newestNoted = batch.noted;
                newBytes = batch.bytes;
            }
            queue.closed.add(batch);
        }
    }

    /** Closes every batch with a block in it: those are free after the next epoch. */
    void close() {
        // Backwards: queues go.
        for (int i = queues.size() - 1; i >= 0; i--) {
            final Queue queue = queues.get(i);
            if (queue.open != null) {
                close(queue, queue.open);
            } else if (queue != all && queue.closed.first == null) {
                // Of a stream that may not exist any more.
                forget(queue);
                queues.remove(i);
            }
        }
    }

    /** The stream ends. Its blocks wait for the epochs that it had; who gets its handle gets a queue of its own. */
    void endStream(final long stream) {
        final Queue queue = byStream.get(stream);
        if (queue != null) {
            forget(queue);
            if (queue.open != null) {
                close(queue, queue.open);
            }
        }
    }

    private void forget(final Queue queue) {
        if (byStream.get(queue.stream) == queue) {
            byStream.remove(queue.stream);
        }
        if (last == queue) {
            last = all;
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
        final Queue queue = last.stream == stream ? last : byStream.get(stream);
        if (queue == null || queue.open == null || sizeBytes <= 0 || stream == ALL_STREAMS) {
            return null;
        }
        usedAgain = queue.open.find(sizeBytes);
        return usedAgain < 0 ? null : queue.open;
    }

    /** Where {@link #use} found a block. */
    int usedAgain;

    /** The block that {@link #use} found is in use again. */
    void forget(final Batch batch) {
        bytes -= batch.sizes[usedAgain];
        newBytes -= batch.sizes[usedAgain];
        batch.bytes -= batch.sizes[usedAgain];
        if (usedAgain == batch.count - 1) {
            batch.count--;
        } else {
            batch.retired[usedAgain] = NONE;
        }
    }

    // Emptying

    /** The next block that is ready, which is to be released now: the batch that has it last. Null if none is ready. */
    @Nullable
    Batch nextReady() {
        if (epochs.passes() == dryAt) {
            return null;
        }
        final Batch batch = current.firstOver();
        return batch == null ? findReady() : batch;
    }

    private @Nullable Batch findReady() {
        // Before the queues are looked at: who passes meanwhile is seen the next time.
        final long passes = epochs.passes();
        for (int i = queues.size() - 1; i >= 0; i--) {
            final Batch batch = queues.get(i).firstOver();
            if (batch != null) {
                current = queues.get(i);
                return batch;
            }
        }
        dryAt = passes;
        return null;
    }

    /** Whoever passes an epoch counts it a moment later; who needs memory mustn't miss what is over meanwhile. */
    void lookAgain() {
        dryAt = -1;
    }

    boolean hasReady() {
        return nextReady() != null;
    }

    /** The last block of the batch that {@link #nextReady} named was released. */
    void released() {
        final Batch batch = Objects.requireNonNull(current.closed.first);
        bytes -= batch.sizes[--batch.count];
        if (batch.count == 0) {
            current.closed.poll();
            unused(current).add(batch);
        }
    }

    /** Everything is gone. */
    void clear() {
        byStream.clear();
        queues.clear();
        queues.add(all);
        while (all.closed.poll() != null) {
            // With their strategies.
        }
        all.open = null;
        last = all;
        current = all;
        bytes = 0;
        newBytes = 0;
    }

    /** Shows everything. */
    void forEach(final Visitor visitor) {
        for (final Queue queue : queues) {
            if (queue.open != null) {
                show(queue.open, visitor);
            }
            for (Batch batch = queue.closed.first; batch != null; batch = batch.next) {
                show(batch, visitor);
            }
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

    private Queue queue(final long stream) {
        if (stream == ALL_STREAMS) {
            return all;
        }
        final Queue known = byStream.get(stream);
        if (known != null) {
            return known;
        }
        if (byStream.size() >= byStream.resizeThreshold()) {
            // Not left to the map: it puts the value in and raises its threshold before it asks for the larger table.
            final Long2ObjectHashMap<Queue> larger =
                    new Long2ObjectHashMap<>(2 * byStream.capacity(), byStream.loadFactor());
            larger.putAll(byStream);
            byStream = larger;
        }
        final Queue queue = new Queue(stream, epochs.of(stream));
        queues.add(queue);
        byStream.put(stream, queue);
        return queue;
    }
}
