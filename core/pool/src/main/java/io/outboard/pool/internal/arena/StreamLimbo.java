package io.outboard.pool.internal.arena;

import io.outboard.pool.internal.guard.SpinLock;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The limbo of a stream has the blocks that were freed on the stream, by any thread and of any arena; see {@link
 * Streams}.
 *
 * <pre>
 *   oldest -> block, 4 -> block, 4 -> block, 9 -> block, open -> newest   in the order of frees, with their marks
 *   size class 81 -> newest -> older -> ...                                to be found by size
 * </pre>
 *
 * <p>Safe for any number of threads: the lock, which is this object, guards all that isn't public. A thread that puts a
 * block in or takes it out holds the lock of the block's arena, too, so that no block is in between; no other lock is
 * taken under this one. Takes some 90 bytes of host memory a block, and 2 KiB.
 */
public final class StreamLimbo extends SpinLock {

    /** The value that stands, in place of a size, for any block that no work uses any more. */
    static final long FINISHED = 0;

    /** A block serves a smaller request if no more than this share of the block is lost. */
    private static final int MOST_LOST_SHARE = 8;

    /** The number of size classes that may have a block with so little loss: the request's own, and those above it. */
    private static final int CLASSES_LOOKED_AT = 3;

    /** There are eight size classes in each power of two. */
    private static final int CLASSES = Long.SIZE * 8 + CLASSES_LOOKED_AT;

    /** The number of blocks at which an open batch is closed, and the stream's work marked. */
    private static final int MOST_OPEN = 64;

    /**
     * The most empty entries that are kept, so that streams make no garbage and keep no more than 90 KiB of the host
     * each.
     */
    private static final int MOST_UNUSED = 1024;

    /** The most unfinished marks, which are spread over the stream's backlog. */
    private static final int MOST_MARKS = 4;

    static final class Block {

        @Nullable
        Segment segment;

        /** The name of the retired block in its segment's strategy. */
        long retired;

        long bytes;

        /** The number of the mark that the block waits for; 0 while its batch is open. */
        private long number;

        /** The neighbours in the order of frees; see {@link StreamLimbo#ends}. */
        private Block earlier = this;

        private Block later = this;

        /** The neighbours in the size class. */
        private @Nullable Block older;

        private @Nullable Block newer;

        Segment segment() {
            return Objects.requireNonNull(segment);
        }
    }

    /** The last mark of this stream that has finished. The thread that asks the device writes it. */
    public volatile long finished;

    /** The marks of this stream, guarded by the lock of the thread that asks the device. */
    public final Marks marks = new Marks(MOST_MARKS);

    final long id;
    private final Progress progress;
    private final @Nullable Block[] newest = new Block[CLASSES];

    /** The end of the list in both directions: before the oldest block and after the newest. */
    private final Block ends = new Block();

    /** Unused entries, chained by {@link Block#older}. */
    private @Nullable Block unused;

    private int unusedBlocks;

    private int open;
    private long openBytes;

    /** How many threads are about to mark the stream's work. */
    private int marking;

    /** True once nothing is in here and no thread will find it any more. */
    private volatile boolean forgotten;

    StreamLimbo(final long id, final Breakage breakage, final Progress progress) {
        super(breakage);
        this.id = id;
        this.progress = progress;
    }

    /**
     * Tells that the stream's work was marked, or couldn't be, after {@link Streams#free} had returned this: it may be
     * forgotten.
     */
    public void wasMarked() {
        lockAnyway();
        marking--;
        taken = false;
    }

    /** Closes the open batch; returns the number of the last mark that a block waits for, 0 if none waits. */
    long close() {
        lock();
        try {
            closeBatch();
            return ends.earlier.number;
        } finally {
            taken = false;
        }
    }

    /** Returns whether no block waits here, and no mark is unfinished. */
    boolean isIdle() {
        lockAnyway();
        try {
            return isEmpty();
        } finally {
            taken = false;
        }
    }

    /** Returns whether this was forgotten; a thread with the lock looks for another then. */
    boolean isForgotten() {
        return forgotten;
    }

    /** Returns the arena of the oldest block; null if there is none. */
    @Nullable
    Arena ownerOfOldest() {
        lock();
        try {
            return ends.later == ends ? null : ends.later.segment().owner;
        } finally {
            taken = false;
        }
    }

    /** Forgets this if it {@link #isIdle}: nothing comes here any more. */
    boolean forget() {
        lockAnyway();
        try {
            forgotten = isEmpty();
            return forgotten;
        } finally {
            taken = false;
        }
    }

    /** Shows the addresses of blocks that wait, in one segment or in any. */
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

    /**
     * Retires a block whose arena's lock is held. Returns true if that closed the open batch: then {@link #wasMarked}
     * must be called.
     */
    boolean retire(final Segment segment, final long address, final long mostBytes) {
        final Block block = unused == null ? new Block() : unused;
        // This throws if no block in use starts there. Nothing takes host memory from here on.
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

    /**
     * Finds a block that is large enough and not much larger, or for {@link #FINISHED} the oldest that no work uses;
     * null if there is none.
     */
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

    /** Removes a block that isn't in limbo any more. */
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
        // An unused entry keeps no other alive.
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
