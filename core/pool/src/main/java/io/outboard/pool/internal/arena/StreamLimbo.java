package io.outboard.pool.internal.arena;

import io.outboard.pool.internal.guard.SpinLock;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Blocks that were freed on one stream, whoever freed them and whichever arena they are of: see {@link Streams}.
 *
 * <pre>
 *   oldest -> block, 4 -> block, 4 -> block, 9 -> block, open -> newest      in the order of their frees, with the marks they wait for
 *   size class 81 -> newest -> older -> ...                                   to be found by size
 * </pre>
 *
 * <p>Safe for any number of threads: the lock, which is this object, guards all that isn't public. It is taken with the lock of a block's
 * arena held where a block goes in or out, so that none is in between, and no other is taken under it. Some 90 bytes of host memory a block,
 * and 2 KiB.
 */
public final class StreamLimbo extends SpinLock {

    /** Instead of a size: that of any block that no work uses any more. */
    static final long FINISHED = 0;

    /** A block serves a smaller request if no more than this share of it is lost. */
    private static final int MOST_LOST_SHARE = 8;

    /** Classes in which a block may be that loses so little: the request's own, and those behind it. */
    private static final int CLASSES_LOOKED_AT = 3;

    /** Of sizes, eight in each power of two. */
    private static final int CLASSES = Long.SIZE * 8 + CLASSES_LOOKED_AT;

    /** An open batch with so many blocks is closed, and the stream's work marked. */
    private static final int MOST_OPEN = 64;

    /** So many empty ones are kept, so that streams make no garbage, and keep no more than 90 KiB of the host each. */
    private static final int MOST_UNUSED = 1024;

    /** Unfinished marks, spread over the stream's backlog. */
    private static final int MOST_MARKS = 4;

    static final class Block {

        @Nullable
        Segment segment;

        /** Names it to its strategy. */
        long retired;

        long bytes;

        /** 0 while its batch is open. */
        private long number;

        /** In the order of frees; see {@link StreamLimbo#ends}. */
        private Block earlier = this;

        private Block later = this;

        /** Of its size class. */
        private @Nullable Block older;

        private @Nullable Block newer;

        Segment segment() {
            return Objects.requireNonNull(segment);
        }
    }

    /** The last mark of this stream that has finished. Written by who asks the device. */
    public volatile long finished;

    /** Of this stream. Guarded by who asks the device. */
    public final Marks marks = new Marks(MOST_MARKS);

    final long id;
    private final Progress progress;
    private final @Nullable Block[] newest = new Block[CLASSES];

    /** Before the first and behind the last. */
    private final Block ends = new Block();

    /** For later, chained by {@link Block#older}, and how many. */
    private @Nullable Block unused;

    private int unusedBlocks;

    private int open;
    private long openBytes;

    /** Threads that are about to mark its work. */
    private int marking;

    /** Nothing is in it, and soon nobody finds it any more. */
    private volatile boolean forgotten;

    StreamLimbo(final long id, final Breakage breakage, final Progress progress) {
        super(breakage);
        this.id = id;
        this.progress = progress;
    }

    /** Its work was marked, or couldn't be, after {@link Streams#free} has answered it: it may be forgotten. */
    public void wasMarked() {
        lockAnyway();
        marking--;
        taken = false;
    }

    /** Closes the open batch; the last mark that any block waits for, 0 if none waits. */
    long close() {
        lock();
        try {
            closeBatch();
            return ends.earlier.number;
        } finally {
            taken = false;
        }
    }

    /** Whether nothing waits here, or for its marks. */
    boolean isIdle() {
        lockAnyway();
        try {
            return isEmpty();
        } finally {
            taken = false;
        }
    }

    /** Whether nothing comes here any more; for who has the lock, or is to find another. */
    boolean isForgotten() {
        return forgotten;
    }

    /** Whose block has been here longest; null if there is none. */
    @Nullable
    Arena ownerOfOldest() {
        lock();
        try {
            return ends.later == ends ? null : ends.later.segment().owner;
        } finally {
            taken = false;
        }
    }

    /** As {@link #isIdle}; if so, nothing comes here any more. */
    boolean forget() {
        lockAnyway();
        try {
            forgotten = isEmpty();
            return forgotten;
        } finally {
            taken = false;
        }
    }

    /** Shows the addresses of what waits in a segment, or in any. */
    void forEach(final @Nullable Segment segment, final LongConsumer visitor) {
        lockAnyway();
        try {
            for (Block block = ends.later; block != ends; block = block.later) {
                if (segment == null || block.segment == segment) {
                    visitor.accept(block.segment().strategy.retiredAddress(block.retired));
                }
            }
        } finally {
            taken = false;
        }
    }

    // The lock is held

    private boolean isEmpty() {
        return ends.later == ends && marking == 0 && marks.isEmpty();
    }

    /** Frees a block whose arena's lock is held. True if that closed the open batch: then {@link #wasMarked} is to be called. */
    boolean retire(final Segment segment, final long address, final long mostBytes) {
        final Block block = unused == null ? new Block() : unused;
        // Throws if no block in use starts there. Nothing takes host memory from here on.
        segment.owner.retire(segment, address, block);
        final int sizeClass = sizeClass(block.bytes);
        unused = block.older;
        unusedBlocks -= Math.min(unusedBlocks, 1);
        block.number = 0;
        block.later = ends;
        block.earlier = ends.earlier;
        block.earlier.later = block;
        ends.earlier = block;
        block.newer = null;
        block.older = newest[sizeClass];
        if (block.older != null) {
            block.older.newer = block;
        }
        newest[sizeClass] = block;
        open++;
        openBytes += block.bytes;
        if (open < MOST_OPEN && openBytes <= mostBytes) {
            return false;
        }
        closeBatch();
        marking++;
        return true;
    }

    private void closeBatch() {
        if (open > 0) {
            final long number = progress.close();
            for (Block block = ends.earlier; block.number == 0 && block != ends; block = block.earlier) {
                block.number = number;
            }
            open = 0;
            openBytes = 0;
        }
    }

    /** One that is large enough and not much larger, or the oldest if it is {@link #FINISHED}; null if there is none. */
    @Nullable
    Block find(final long sizeBytes) {
        if (sizeBytes == FINISHED) {
            final Block oldest = ends.later;
            return oldest.number != 0 && oldest.number <= Math.max(progress.finished(), finished) ? oldest : null;
        }
        final int own = sizeClass(sizeBytes);
        for (int i = own; i < own + CLASSES_LOOKED_AT; i++) {
            for (Block block = newest[i]; block != null; block = block.older) {
                final long lost = block.bytes - sizeBytes;
                if (lost >= 0 && lost <= block.bytes / MOST_LOST_SHARE) {
                    return block;
                }
            }
        }
        return null;
    }

    /** It isn't in limbo any more. */
    void remove(final Block block) {
        final int sizeClass = sizeClass(block.bytes);
        block.earlier.later = block.later;
        block.later.earlier = block.earlier;
        if (block.newer == null) {
            newest[sizeClass] = block.older;
        } else {
            block.newer.older = block.older;
        }
        if (block.older != null) {
            block.older.newer = block.newer;
        }
        if (block.number == 0) {
            open--;
            openBytes -= block.bytes;
        }
        block.segment = null;
        // One that is kept keeps no other.
        block.earlier = block;
        block.later = block;
        block.newer = null;
        if (unusedBlocks < MOST_UNUSED) {
            block.older = unused;
            unused = block;
            unusedBlocks++;
        }
    }

    private static int sizeClass(final long sizeBytes) {
        final int log2 = Long.SIZE - 1 - Long.numberOfLeadingZeros(sizeBytes | 1);
        return (log2 << 3) + (int) ((sizeBytes >>> Math.max(0, log2 - 3)) & 7);
    }
}
