package io.outboard.pool.internal.arena;

import io.outboard.pool.internal.guard.Fields;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
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

    private static final VarHandle INBOX = Fields.handle(MethodHandles.lookup(), "inbox", RemoteFreeBatch.class);

    private final Arenas arenas;

    /** For each arena what was freed here and belongs there; null for none. */
    private final @Nullable RemoteFreeBatch[] outbox;

    /** What others have sent, the newest first. By {@link #INBOX}. */
    private volatile @Nullable RemoteFreeBatch inbox;

    /** Out of the inbox. */
    private @Nullable RemoteFreeBatch unpacking;

    RemoteFrees(final Arenas arenas, final int mostArenas) {
        this.arenas = arenas;
        outbox = new RemoteFreeBatch[mostArenas];
    }

    // Sending

    /** Takes the host memory that {@link #add} needs for this owner. */
    void reserve(final Arena owner) {
        if (outbox[owner.number] == null) {
            outbox[owner.number] = arenas.batches.take();
        }
    }

    /** A block is on its way; a batch that is full, or has many bytes, is sent, and that is the answer. */
    boolean add(final Arena owner, final Segment segment, final long address, final long sizeBytes) {
        final RemoteFreeBatch batch = Objects.requireNonNull(outbox[owner.number]);
        batch.add(segment, address, sizeBytes);
        if (batch.count == RemoteFreeBatch.BLOCKS || batch.bytes >= SENT_FROM_BYTES) {
            owner.remoteFrees.receive(batch);
            outbox[owner.number] = null;
            return true;
        }
        return false;
    }

    /** Sends all that there is. */
    void send() {
        for (int i = 0; i < outbox.length; i++) {
            final RemoteFreeBatch batch = outbox[i];
            if (batch != null && batch.count > 0) {
                // In this order: what were sent twice would show at once, what is lost never.
                arenas.arena(i).remoteFrees.receive(batch);
                outbox[i] = null;
            }
        }
    }

    // Receiving

    /** From any thread. */
    void receive(final RemoteFreeBatch batch) {
        RemoteFreeBatch first;
        do {
            first = (RemoteFreeBatch) INBOX.getOpaque(this);
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
    RemoteFreeBatch arrived() {
        if (unpacking == null && inbox != null) {
            // Acquire; pairs with the release in receive.
            unpacking = (RemoteFreeBatch) INBOX.getAndSetAcquire(this, null);
        }
        return unpacking;
    }

    /** The last block was taken from what {@link #arrived} gave. */
    void taken(final RemoteFreeBatch batch) {
        // Its segment is forgotten, too, which may be given back soon.
        batch.segments[--batch.count] = null;
        if (batch.count == 0) {
            unpacking = batch.next;
            arenas.batches.give(batch);
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
        for (final RemoteFreeBatch batch : outbox) {
            show(batch, visitor);
        }
        show(unpacking, visitor);
        show(inbox, visitor);
    }

    private static void show(final @Nullable RemoteFreeBatch first, final LongConsumer visitor) {
        for (RemoteFreeBatch batch = first; batch != null; batch = batch.next) {
            for (int i = 0; i < batch.count; i++) {
                visitor.accept(batch.addresses[i]);
            }
        }
    }
}
