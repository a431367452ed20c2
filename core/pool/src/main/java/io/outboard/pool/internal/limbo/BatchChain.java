package io.outboard.pool.internal.limbo;

import org.jspecify.annotations.Nullable;

/** Batches one after another. External lock required: the arena's. */
final class BatchChain {

    @Nullable
    Batch first;

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
