package io.outboard.pool.internal.arena;

import io.outboard.pool.internal.guard.SpinLock;
import org.jspecify.annotations.Nullable;

/** Empty batches, for those who need one: they are filled by one thread and emptied by another. Safe for any number of threads. */
final class RemoteFreeBatches extends SpinLock {

    /** Kept for later, of 1.3 KiB each. */
    private static final int MOST_KEPT = 1024;

    /** Guarded by the lock. */
    private @Nullable RemoteFreeBatch first;

    private int count;

    RemoteFreeBatch take() {
        lock();
        try {
            final RemoteFreeBatch batch = first;
            if (batch != null) {
                first = batch.next;
                batch.next = null;
                count--;
                return batch;
            }
        } finally {
            taken = false;
        }
        return new RemoteFreeBatch();
    }

    void give(final RemoteFreeBatch batch) {
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
