package io.outboard.pool.internal.arena;

import io.outboard.pool.internal.guard.Fields;
import io.outboard.pool.internal.guard.SpinLock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The remote frees of an arena are the batches that it fills with blocks of other arenas, one for each, and a stack of
 * those that other arenas have sent, on which any thread may push (as mimalloc's thread-delayed frees). Requires the
 * arena's lock, except for {@link #receive} and {@link #hasArrived}.
 */
final class RemoteFrees {

    /**
     * The number of bytes from which a batch is sent though it isn't full. Sizes are rounded down to a power of two, so
     * up to twice as much may wait in each.
     */
    static final long SENT_FROM_BYTES = 1L << 20;

    /** The number of blocks of a full batch, which take one compare-and-set for all of them. */
    static final int BLOCKS = 64;

    /**
     * A batch has blocks of one arena that threads of another have freed. The sender's lock guards it until it is sent,
     * then the receiver's.
     */
    static final class Batch {

        /** The id of each block's segment in the receiver's arena. */
        final int[] segments = new int[BLOCKS];

        final long[] addresses = new long[BLOCKS];
        int count;

        /** The bytes of all blocks, to within a factor of two. */
        long bytes;

        @Nullable
        Batch next;

        void add(final int segmentId, final long address, final long sizeBytes) {
            segments[count] = segmentId;
            addresses[count++] = address;
            bytes += sizeBytes;
        }
    }

    /**
     * This class has the empty batches of all arenas, since one arena fills them and another empties them. Safe for any
     * number of threads.
     */
    static final class Empty extends SpinLock {

        /** The most batches that are kept, of 0.9 KiB each. */
        private static final int MOST_KEPT = 1024;

        private @Nullable Batch first;
        private int count;

        Batch take() {
            lock();
            try {
                final Batch batch = first;
                if (batch != null) {
                    first = batch.next;
                    batch.next = null;
                    count--;
                    return batch;
                }
            } finally {
                taken = false;
            }
            return new Batch();
        }

        void give(final Batch batch) {
            lock();
            try {
                batch.bytes = 0;
                if (count < MOST_KEPT) {
                    batch.next = first;
                    first = batch;
                    count++;
                }
            } finally {
                taken = false;
            }
        }
    }

    private static final VarHandle INBOX = Fields.handle(MethodHandles.lookup(), "inbox", Batch.class);

    /** The arena's number. */
    private final int number;

    private final Empty emptyBatches;

    /** For each other arena the batch of its blocks that were freed here, or null. */
    private final @Nullable Batch[] outbox;

    /** The batches that others have sent, the newest first. Written by {@link #INBOX}. */
    private volatile @Nullable Batch inbox;

    /** The batches that were taken out of the inbox. */
    private @Nullable Batch unpacking;

    RemoteFrees(final int number, final int mostArenas, final Empty emptyBatches) {
        this.number = number;
        this.emptyBatches = emptyBatches;
        outbox = new Batch[mostArenas];
    }

    // Sending

    /** Returns a batch that has room for another block of the receiver. Takes the host memory that it needs. */
    Batch batchFor(final RemoteFrees receiver) {
        Batch batch = outbox[receiver.number];
        if (batch == null) {
            batch = emptyBatches.take();
            outbox[receiver.number] = batch;
        }
        return batch;
    }

    /** Sends the batch that {@link #batchFor} returned if it is full or has many bytes; returns whether it did. */
    boolean sendIfDue(final RemoteFrees receiver, final Batch batch) {
        final boolean due = batch.count == BLOCKS || batch.bytes >= SENT_FROM_BYTES;
        if (due) {
            send(receiver);
        }
        return due;
    }

    /** Returns whether blocks wait here to be sent to the arena with a number. */
    boolean holdsFor(final int receiver) {
        final Batch batch = outbox[receiver];
        return batch != null && batch.count > 0;
    }

    /** Sends the receiver's batch, which isn't empty. */
    void send(final RemoteFrees receiver) {
        // In this order an error shows at once, since a batch would be sent twice; the other way it would be lost.
        receiver.receive(Objects.requireNonNull(outbox[receiver.number]));
        outbox[receiver.number] = null;
    }

    // Receiving

    /** Receives a batch, on any thread. */
    void receive(final Batch batch) {
        Batch first;
        do {
            first = (Batch) INBOX.getOpaque(this);
            batch.next = first;
            // The release pairs with the acquire in arrived.
        } while (!INBOX.weakCompareAndSetRelease(this, first, batch));
    }

    /** Returns whether a batch has arrived. Without the lock this may just have changed. */
    boolean hasArrived() {
        return inbox != null || unpacking != null;
    }

    /**
     * Returns a batch whose last block must be taken now, before a call of {@link #taken}; null if there is none.
     */
    @Nullable
    Batch arrived() {
        if (unpacking == null && inbox != null) {
            // The acquire pairs with the release in receive.
            unpacking = (Batch) INBOX.getAndSetAcquire(this, null);
        }
        return unpacking;
    }

    /** Tells that the last block was taken from the batch that {@link #arrived} returned. */
    void taken(final Batch batch) {
        if (--batch.count == 0) {
            unpacking = batch.next;
            emptyBatches.give(batch);
        }
    }

    // The whole

    void clear() {
        inbox = null;
        unpacking = null;
        Arrays.fill(outbox, null);
    }

    /** Shows the addresses of blocks in batches that wait here to be sent, or have arrived. */
    void forEach(final LongConsumer visitor) {
        for (final Batch batch : outbox) {
            show(batch, visitor);
        }
        show(unpacking, visitor);
        show(inbox, visitor);
    }

    private static void show(final @Nullable Batch first, final LongConsumer visitor) {
        for (Batch batch = first; batch != null; batch = batch.next) {
            for (int i = 0; i < batch.count; i++) {
                visitor.accept(batch.addresses[i]);
            }
        }
    }
}
