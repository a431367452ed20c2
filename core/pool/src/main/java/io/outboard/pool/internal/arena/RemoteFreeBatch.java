package io.outboard.pool.internal.arena;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Blocks of one arena that another thread has freed, on their way home. Confined to whoever has it: the sender's arena until it is
 * sent, then the arena that it was sent to.
 */
final class RemoteFreeBatch {

    /** One compare-and-set for so many frees. */
    static final int BLOCKS = 64;

    private final @Nullable Segment[] parts = new Segment[BLOCKS];
    final long[] addresses = new long[BLOCKS];
    int count;

    @Nullable
    RemoteFreeBatch next;

    Segment part(final int index) {
        return Objects.requireNonNull(parts[index]);
    }

    /** Forgets its part, too, which may be a chunk that is given back soon. */
    void removeLast() {
        parts[--count] = null;
    }

    /** True if it is full now. */
    boolean add(final Segment part, final long address) {
        parts[count] = part;
        addresses[count++] = address;
        return count == BLOCKS;
    }
}
