package io.outboard.pool.internal.limbo;

import org.jspecify.annotations.Nullable;

/** The batches of what was freed on one stream, or for all. External lock required: the arena's. */
final class StreamQueue {

    final long stream;
    final Epochs epochs;

    /** Filled by the next blocks that are freed; null if there are none yet. */
    @Nullable
    Batch open;

    /** In the order of their epochs. */
    final BatchChain closed = new BatchChain();

    StreamQueue(final long stream, final Epochs epochs) {
        this.stream = stream;
        this.epochs = epochs;
    }

    /** The oldest of those that are closed if its work has finished, or null. */
    @Nullable
    Batch firstOver() {
        final Batch batch = closed.first;
        return batch != null && epochs.isOver(batch.noted) ? batch : null;
    }
}
