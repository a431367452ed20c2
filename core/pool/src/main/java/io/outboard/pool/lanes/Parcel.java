package io.outboard.pool.lanes;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Blocks of one lane that another thread has freed, on their way home. Confined to whoever has it: the sender's lane until it is
 * sent, then the lane that it was sent to.
 */
final class Parcel {

    /** One compare-and-set for so many frees. */
    static final int BLOCKS = 64;

    private final @Nullable Part[] parts = new Part[BLOCKS];
    final long[] addresses = new long[BLOCKS];
    int count;

    @Nullable
    Parcel next;

    Part part(final int index) {
        return Objects.requireNonNull(parts[index]);
    }

    /** Forgets its part, too, which may be a chunk that is given back soon. */
    void removeLast() {
        parts[--count] = null;
    }

    /** True if it is full now. */
    boolean add(final Part part, final long address) {
        parts[count] = part;
        addresses[count++] = address;
        return count == BLOCKS;
    }
}
