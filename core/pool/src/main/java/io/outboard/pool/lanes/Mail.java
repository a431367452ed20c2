package io.outboard.pool.lanes;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Parcels of a lane: those that it fills with blocks of others, one for each, and those that others have sent it, on a stack that
 * anybody may push on (as mimalloc's thread-delayed frees). External lock required, the lane's, but for {@link #receive} and
 * {@link #hasArrived}.
 */
final class Mail {

    private static final VarHandle INBOX;

    static {
        try {
            INBOX = MethodHandles.lookup().findVarHandle(Mail.class, "inbox", Parcel.class);
        } catch (final ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Lanes lanes;

    /** For each lane what was freed here and belongs there; null for none. */
    private final @Nullable Parcel[] outbox;

    /** What others have sent, the newest first. By {@link #INBOX}. */
    private volatile @Nullable Parcel inbox;

    /** Out of the inbox; none is empty. */
    private @Nullable Parcel unpacking;

    Mail(final Lanes lanes, final int mostLanes) {
        this.lanes = lanes;
        outbox = new Parcel[mostLanes];
    }

    // Sending

    /** Takes the host memory that {@link #add} needs for this owner. */
    void reserve(final Lane owner) {
        if (outbox[owner.number] == null) {
            outbox[owner.number] = lanes.parcels.take();
        }
    }

    /** A block is on its way; a parcel that is full is sent. */
    void add(final Lane owner, final Part chunk, final long address) {
        final Parcel parcel = Objects.requireNonNull(outbox[owner.number]);
        if (parcel.add(chunk, address)) {
            owner.mail.receive(parcel);
            outbox[owner.number] = null;
        }
    }

    /** Sends all that there is. */
    void post() {
        for (int i = 0; i < outbox.length; i++) {
            final Parcel parcel = outbox[i];
            if (parcel != null) {
                // In this order: what were sent twice would show at once, what is lost never.
                lanes.lane(i).mail.receive(parcel);
                outbox[i] = null;
            }
        }
    }

    // Receiving

    /** From any thread. */
    void receive(final Parcel parcel) {
        Parcel first;
        do {
            first = (Parcel) INBOX.getOpaque(this);
            parcel.next = first;
            // Release; pairs with the acquire in arrived.
        } while (!INBOX.weakCompareAndSetRelease(this, first, parcel));
    }

    /** Without the lock it may just have changed. */
    boolean hasArrived() {
        return inbox != null || unpacking != null;
    }

    /** A parcel from which the last block is to be taken now, then {@link #taken}; null if there is none. */
    @Nullable
    Parcel arrived() {
        while (unpacking == null || unpacking.count == 0) {
            if (unpacking != null) {
                // It was sent before there was anything in it.
                next(unpacking);
            } else if (inbox == null) {
                return null;
            } else {
                // Acquire; pairs with the release in receive.
                unpacking = (Parcel) INBOX.getAndSetAcquire(this, null);
            }
        }
        return unpacking;
    }

    /** The last block was taken from what {@link #arrived} gave. */
    void taken(final Parcel parcel) {
        parcel.removeLast();
        if (parcel.count == 0) {
            next(parcel);
        }
    }

    private void next(final Parcel parcel) {
        unpacking = parcel.next;
        lanes.parcels.give(parcel);
    }

    // The whole

    void clear() {
        inbox = null;
        unpacking = null;
        Arrays.fill(outbox, null);
    }

    /** Shows what is on its way to another lane, or has arrived here. */
    void forEach(final LongConsumer visitor) {
        for (final Parcel parcel : outbox) {
            show(parcel, visitor);
        }
        show(unpacking, visitor);
        show(inbox, visitor);
    }

    private static void show(final @Nullable Parcel first, final LongConsumer visitor) {
        for (Parcel parcel = first; parcel != null; parcel = parcel.next) {
            for (int i = 0; i < parcel.count; i++) {
                visitor.accept(parcel.addresses[i]);
            }
        }
    }
}
