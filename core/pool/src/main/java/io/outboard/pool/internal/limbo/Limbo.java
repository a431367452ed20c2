package io.outboard.pool.internal.limbo;

import java.util.ArrayList;
import java.util.Objects;
import java.util.function.Supplier;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of an arena that were freed while the device may still be using them. Their strategies know them as retired: their
 * addresses aren't blocks' any more, their memory stays taken. They wait in batches, since one wait or one mark serves all that
 * were freed before it:
 *
 * <ol>
 *   <li>{@link #add} puts a block into an open batch: that of its stream, or the one for blocks that any stream may use.
 *   <li>A batch that has 64 blocks or many bytes, or at {@link #close}, notes its epoch, and waits behind those that were closed before.
 *   <li>{@link #nextReady} names the batches one by one whose epoch is over, since to release all at once would take long.
 * </ol>
 *
 * <p>External lock required: the arena's. Nothing is searched, nothing rehashed but the few streams, and batches are used again,
 * so there is no garbage once they are as many as the program needs. {@link #reserve} takes whatever host memory the next
 * {@link #add} needs, which then can't fail.
 *
 * <p>Public for the pool's other packages, not for applications.
 */
public final class Limbo {

    /** Stands for all streams; no stream has such a handle. */
    public static final long ALL_STREAMS = -1;

    private final StreamEpochs epochs;
    private final Supplier<Batch> factory;
    private final StreamQueue all;

    /** Of all streams but those that have ended. */
    private Long2ObjectHashMap<StreamQueue> byStream = new Long2ObjectHashMap<>();

    /** All, with those of ended streams in which blocks still wait. */
    private final ArrayList<StreamQueue> queues = new ArrayList<>();

    private final BatchChain unused = new BatchChain();

    /** These are larger. */
    private final BatchChain unusedOfStreams = new BatchChain();

    private long bytes;

    private long newestNoted;

    /** What came to limbo since {@link #forgetNew}, or since another epoch has begun. */
    private long newBytes;

    /** The queue of who freed last: most programs use one stream, or free many blocks in a row. */
    private StreamQueue last;

    /** Where {@link #use} found a block. */
    private int usedAgain;

    /** In which something was ready last. */
    private StreamQueue current;

    /** So many epochs had passed when nothing was ready. */
    private long dryAt = -1;

    public Limbo(final StreamEpochs epochs) {
        this(epochs, Batch::new);
    }

    /** For tests in which the host has no memory for a batch. */
    Limbo(final StreamEpochs epochs, final Supplier<Batch> factory) {
        this.epochs = epochs;
        this.factory = factory;
        all = new StreamQueue(ALL_STREAMS, epochs.all);
        queues.add(all);
        last = all;
        current = all;
    }

    /** Bytes that were added and not released. */
    public long bytes() {
        return bytes;
    }

    /** Bytes that were added since {@link #forgetNew}. */
    public long newBytes() {
        return newBytes;
    }

    public void forgetNew() {
        newBytes = 0;
    }

    // Filling

    /** Takes the host memory that the next {@link #add} for a stream needs. */
    public void reserve(final long stream) {
        final StreamQueue queue = last.stream == stream ? last : queue(stream);
        if (queue.open == null) {
            open(queue);
        }
        last = queue;
    }

    private void open(final StreamQueue queue) {
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

    private BatchChain unused(final StreamQueue queue) {
        return queue == all ? unused : unusedOfStreams;
    }

    /** Puts a block in, right after {@link #reserve}. True if that closed its batch: it has 64 blocks, or more bytes than this. */
    public boolean add(final int part, final long retired, final long sizeBytes, final long closedAbove) {
        final Batch batch = Objects.requireNonNull(last.open);
        batch.add(part, retired, sizeBytes);
        bytes += sizeBytes;
        newBytes += sizeBytes;
        if (batch.count < Batch.BLOCKS && batch.bytes <= closedAbove) {
            return false;
        }
        close(last, batch);
        return true;
    }

    private void close(final StreamQueue queue, final Batch batch) {
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
    public void close() {
        // Backwards: queues go.
        for (int i = queues.size() - 1; i >= 0; i--) {
            final StreamQueue queue = queues.get(i);
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
    public void endStream(final long stream) {
        final StreamQueue queue = byStream.get(stream);
        if (queue != null) {
            forget(queue);
            if (queue.open != null) {
                close(queue, queue.open);
            }
        }
    }

    private void forget(final StreamQueue queue) {
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
    public Batch use(final long sizeBytes, final long stream) {
        final StreamQueue queue = last.stream == stream ? last : byStream.get(stream);
        if (queue == null || queue.open == null || sizeBytes <= 0 || stream == ALL_STREAMS) {
            return null;
        }
        usedAgain = queue.open.find(sizeBytes);
        return usedAgain < 0 ? null : queue.open;
    }

    /** Where {@link #use} found a block. */
    public int usedAgain() {
        return usedAgain;
    }

    /** The block that {@link #use} found is in use again. */
    public void forget(final Batch batch) {
        bytes -= batch.sizes[usedAgain];
        newBytes -= batch.sizes[usedAgain];
        batch.bytes -= batch.sizes[usedAgain];
        if (usedAgain == batch.count - 1) {
            batch.count--;
        } else {
            batch.retired[usedAgain] = Batch.NONE;
        }
    }

    // Emptying

    /** The next batch whose last blocks are ready, and are to be released now, from the last on. Null if none is. */
    @Nullable
    public Batch nextReady() {
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
    public void lookAgain() {
        dryAt = -1;
    }

    public boolean hasReady() {
        return nextReady() != null;
    }

    /** The last blocks of the batch that {@link #nextReady} named were released. */
    public void released(final int blocks) {
        final Batch batch = Objects.requireNonNull(current.closed.first);
        for (int i = 0; i < blocks; i++) {
            bytes -= batch.sizes[--batch.count];
        }
        if (batch.count == 0) {
            current.closed.poll();
            unused(current).add(batch);
        }
    }

    /** Everything is gone. */
    public void clear() {
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
    public void forEach(final Visitor visitor) {
        for (final StreamQueue queue : queues) {
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
            if (batch.retired[i] != Batch.NONE) {
                visitor.visit(batch, i);
            }
        }
    }

    /** Sees a block in limbo. */
    public interface Visitor {
        void visit(Batch batch, int index);
    }

    private StreamQueue queue(final long stream) {
        if (stream == ALL_STREAMS) {
            return all;
        }
        final StreamQueue known = byStream.get(stream);
        if (known != null) {
            return known;
        }
        if (byStream.size() >= byStream.resizeThreshold()) {
            // Not left to the map: it puts the value in and raises its threshold before it asks for the larger table.
            final Long2ObjectHashMap<StreamQueue> larger =
                    new Long2ObjectHashMap<>(2 * byStream.capacity(), byStream.loadFactor());
            larger.putAll(byStream);
            byStream = larger;
        }
        final StreamQueue queue = new StreamQueue(stream, epochs.of(stream));
        queues.add(queue);
        byStream.put(stream, queue);
        return queue;
    }
}
