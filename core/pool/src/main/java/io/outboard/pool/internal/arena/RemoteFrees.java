package io.outboard.pool.internal.arena;

import io.outboard.pool.internal.guard.Fields;
import io.outboard.pool.internal.guard.SpinLock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Remote frees of an arena: the batches that it fills with blocks of others, one for each, and those that others have sent it, on a stack
 * that anybody may push on (as mimalloc's thread-delayed frees). External lock required, the arena's, but for {@link #receive} and
 * {@link #hasArrived}.
 */
final class RemoteFrees {

    /** A batch with so much is sent though it isn't full. By sizes rounded down to a power of two: twice that may wait in each. */
    static final long SENT_FROM_BYTES = 1L << 20;

    /** Of a batch: one compare-and-set for so many frees. */
    static final int BLOCKS = 64;

    /** Blocks of one arena that threads of another have freed. Confined to the sender's arena until it is sent, then to the other. */
    static final class Batch {

        final @Nullable Segment[] segments = new Segment[BLOCKS];
        final long[] addresses = new long[BLOCKS];
        int count;

        /** Of the blocks, to within a factor of two. */
        long bytes;

        @Nullable
        Batch next;

        void add(final Segment segment, final long address, final long sizeBytes) {
            segments[count] = segment;
            addresses[count++] = address;
            bytes += sizeBytes;
        }
    }

    /** Empty batches of all arenas: they are filled by one and emptied by another. Safe for any number of threads. */
    static final class Empty extends SpinLock {

        /** Of 1.3 KiB each. */
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

    private final Arenas arenas;

    /** For each arena what was freed here and belongs there; null for none. */
    private final @Nullable Batch[] outbox;

    /** What others have sent, the newest first. By {@link #INBOX}. */
    private volatile @Nullable Batch inbox;

    /** Out of the inbox. */
    private @Nullable Batch unpacking;

    RemoteFrees(final Arenas arenas, final int mostArenas) {
        this.arenas = arenas;
        outbox = new Batch[mostArenas];
    }

    // Sending

    /** One that has room for another block of this owner. Takes the host memory that it needs. */
    Batch batchFor(final Arena owner) {
        Batch batch = outbox[owner.number];
        if (batch == null) {
            batch = arenas.emptyBatches.take();
            outbox[owner.number] = batch;
        }
        return batch;
    }

    /** Sends what {@link #batchFor} gave if it is full, or has many bytes: that is the answer. */
    boolean sendIfDue(final Arena owner, final Batch batch) {
        final boolean due = batch.count == BLOCKS || batch.bytes >= SENT_FROM_BYTES;
        if (due) {
            send(owner, batch);
        }
        return due;
    }

    /** Sends all that there is. */
    void send() {
        for (int i = 0; i < outbox.length; i++) {
            final Batch batch = outbox[i];
            if (batch != null && batch.count > 0) {
                send(arenas.arena(i), batch);
            }
        }
    }

    private void send(final Arena owner, final Batch batch) {
        // In this order: what were sent twice would show at once, what is lost never.
        owner.remoteFrees.receive(batch);
        outbox[owner.number] = null;
    }

    // Receiving

    /** From any thread. */
    void receive(final Batch batch) {
        Batch first;
        do {
            first = (Batch) INBOX.getOpaque(this);
            batch.next = first;
            // Release; pairs with the acquire in arrived.
        } while (!INBOX.weakCompareAndSetRelease(this, first, batch));
    }

    /** Without the lock it may just have changed. */
    boolean hasArrived() {
        return inbox != null || unpacking != null;
    }

    /** A batch from which the last block is to be taken now, then {@link #taken}; null if there is none. */
    @Nullable
    Batch arrived() {
        if (unpacking == null && inbox != null) {
            // Acquire; pairs with the release in receive.
            unpacking = (Batch) INBOX.getAndSetAcquire(this, null);
        }
        return unpacking;
    }

    /** The last block was taken from what {@link #arrived} gave. */
    void taken(final Batch batch) {
        // Its segment is forgotten, too, which may be given back soon.
        batch.segments[--batch.count] = null;
        if (batch.count == 0) {
            unpacking = batch.next;
            arenas.emptyBatches.give(batch);
        }
    }

    // The whole

    void clear() {
        inbox = null;
        unpacking = null;
        Arrays.fill(outbox, null);
    }

    /** Shows what is on its way to another arena, or has arrived here. */
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
