package io.outboard.pool.internal.arena;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Blocks of one arena that threads of another have freed, on their way home. Confined to whoever has it: the sender's arena until it is
 * sent, then the arena that it was sent to.
 */
final class RemoteFreeBatch {

    /** One compare-and-set for so many frees. */
    static final int BLOCKS = 64;

    final @Nullable Segment[] segments = new Segment[BLOCKS];
    final long[] addresses = new long[BLOCKS];
    int count;

    /** Of the blocks, to within a factor of two. */
    long bytes;

    @Nullable
    RemoteFreeBatch next;

    Segment segment(final int index) {
        return Objects.requireNonNull(segments[index]);
    }

    void add(final Segment segment, final long address, final long sizeBytes) {
        segments[count] = segment;
        addresses[count++] = address;
        bytes += sizeBytes;
    }
}
