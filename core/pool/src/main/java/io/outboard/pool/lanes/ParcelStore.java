package io.outboard.pool.lanes;

import io.outboard.pool.guard.SpinLock;
import org.jspecify.annotations.Nullable;

/** Parcels that are empty, for those who need one: they are filled by one thread and emptied by another. Safe for any number. */
final class ParcelStore {

    /** Kept for later, of 1.3 KiB each. */
    private static final int MOST_KEPT = 1024;

    private final SpinLock lock = new SpinLock();

    /** Guarded by the lock. */
    private @Nullable Parcel first;

    private int count;

    Parcel take() {
        lock.lock();
        try {
            final Parcel parcel = first;
            if (parcel != null) {
                first = parcel.next;
                parcel.next = null;
                count--;
                return parcel;
            }
        } finally {
            lock.taken = false;
        }
        return new Parcel();
    }

    void give(final Parcel parcel) {
        lock.lock();
        try {
            parcel.next = null;
            if (count < MOST_KEPT) {
                parcel.next = first;
                first = parcel;
                count++;
            }
        } finally {
            lock.taken = false;
        }
    }
}
