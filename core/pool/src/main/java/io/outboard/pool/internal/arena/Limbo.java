package io.outboard.pool.internal.arena;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The limbo of an arena has the blocks that were freed while the device may still be using them, in batches that wait
 * for one mark each; see {@link Progress}. The arena extends this class, so that all that an operation needs lies in
 * one object.
 *
 * <pre>
 *   first: batch 4, ready since its work has finished -> batch 7 -> batch 9 -> open batch
 * </pre>
 *
 * <p>Batches are arrays, since blocks of an arena leave in the order in which they came. A list of entries, as a {@link
 * StreamLimbo} has it, takes 21 ns more of CPU an operation with blocks of 256 bytes to 1 MiB, and 100 ns more with
 * blocks of up to 4 KiB, of which 370,000 may wait (EPYC, 2026-11-28).
 *
 * <p>Requires the arena's lock, which is this object, except for {@link #limboBytes()} and {@link #wantsAsking}.
 */
abstract class Limbo extends ArenaCounters {

    /**
     * The ratio of limbo to what is in use from which a free asks the device. With a quarter of the slack as the only
     * bound, a program with 252 MiB in use in 21 blocks, and 636 MiB of slack, asked once in 52 operations (H100,
     * 2026-11-28).
     */
    private static final long ASKED_FACTOR = 4;

    /** A batch has blocks that wait for the same work. */
    static final class Batch {

        /**
         * The most blocks of a batch. That many make a batch cheap, and a batch with a single large block wastes
         * little.
         */
        static final int BLOCKS = 128;

        /** The name of each block in its segment's strategy. */
        final long[] retired = new long[BLOCKS];

        /** The id of each block's segment. */
        final int[] segments = new int[BLOCKS];

        /** Blocks before this index were released. */
        int from;

        int count;

        /** The number of the mark that the closed batch waits for. */
        private long number;

        /** The next batch; null for the open one. */
        @Nullable
        Batch next;
    }

    private final Progress progress;

    /** The open batch, which has room for a block once {@link #reserve} was called. */
    private Batch open = new Batch();

    /** The first of the closed batches, in the order of their numbers; the open one is the last. */
    Batch firstBatch = open;

    /** The number of the mark that the batch closed last waits for. */
    private long lastNumber;

    /** True if the first batch is closed and its work is known to have finished. */
    boolean isReady;

    /**
     * Empty batches for later. There is one from the start, so that an arena whose blocks don't go to limbo never makes
     * another.
     */
    private @Nullable Batch unused = new Batch();

    /** The bytes in the open batch. */
    private long openBytes;

    /** An open batch with more bytes is closed. {@link Arenas} writes this and the next three. */
    volatile long closedAbove = Long.MAX_VALUE;

    /** No free asks the device while limbo has no more bytes than this. */
    volatile long askedAbove = Long.MAX_VALUE;

    /** Bytes in use alone let no more bytes than this be in limbo. */
    volatile long mostByUse = Long.MAX_VALUE;

    /**
     * The most bytes that may be in limbo before a free asks the device if the arena holds twice as much that isn't in
     * use.
     */
    volatile long slackBytes = Long.MAX_VALUE;

    /** True after a free has closed a batch while there is much in limbo: the device should be asked. */
    private boolean wantsAsking;

    Limbo(final Breakage breakage, final Progress progress) {
        super(breakage);
        this.progress = progress;
    }

    /** Returns whether the device should be asked. The thread that learns it first asks. */
    public final boolean wantsAsking() {
        return wantsAsking;
    }

    /**
     * Takes the host memory that the next block in limbo needs, so that nothing fails afterwards: another batch, if
     * this one will be full.
     */
    final void reserve() {
        if (unused == null) {
            unused = new Batch();
        }
    }

    /** Adds a block that is counted already. {@link #reserve} was called. */
    final void addToLimbo(final int segmentId, final long block, final long sizeBytes) {
        final Batch batch = open;
        batch.retired[batch.count] = block;
        batch.segments[batch.count++] = segmentId;
        openBytes += sizeBytes;
        if (openBytes > closedAbove || batch.count == Batch.BLOCKS) {
            closeBatch();
            wantsAsking = !isReady && limboBytes() > enough();
        } else if (slackBytes == 0) {
            wantsAsking = !isReady;
        }
    }

    /**
     * Returns how many bytes in limbo make a question to the device worthwhile. Several frees for each block in use are
     * enough, however large the blocks are, but no more than half of what is free or can be had, since the device takes
     * its time to answer. Half of what is held unused may wait in any case.
     */
    private long enough() {
        final long used = usedBytes();
        final long unused = heldBytes() - used;
        final long byUse = ASKED_FACTOR * Math.min(used, mostByUse / ASKED_FACTOR);
        final long byRoom = (unused + roomBytes()) / 2;
        final long byHeld = Math.min(unused / 2, slackBytes);
        return Math.max(Math.max(askedAbove, byHeld), Math.min(byUse, byRoom));
    }

    abstract long heldBytes();

    /** Returns the bytes that the arena may still come to hold. */
    abstract long roomBytes();

    /** Closes the open batch if it has blocks. {@link #reserve} was called since the last one was closed. */
    private void closeBatch() {
        final Batch batch = open;
        final Batch empty = unused;
        if (batch.count > 0 && empty != null) {
            lastNumber = progress.close();
            batch.number = lastNumber;
            unused = empty.next;
            empty.next = null;
            batch.next = empty;
            open = empty;
            openBytes = 0;
        }
        lookForFinished();
    }

    /**
     * Closes the open batch; returns the number of the mark that all batches wait for: one that has finished, or 0, if
     * no batch waits.
     */
    final long closeAll() {
        reserve();
        closeBatch();
        return lastNumber;
    }

    /**
     * Notes that the device is asked, or was; returns the number of the oldest mark that a batch waits for, 0 if none
     * does. Closes the open batch if no other waits.
     */
    final long beginAsking() {
        wantsAsking = false;
        if (firstBatch == open) {
            closeAll();
        }
        lookForFinished();
        return firstBatch == open || isReady ? 0 : firstBatch.number;
    }

    final void lookForFinished() {
        isReady = firstBatch != open && firstBatch.number <= progress.finished();
    }

    /** Removes the first batch, of which all blocks were released. */
    final void removeFirst(final Batch batch) {
        firstBatch = Objects.requireNonNull(batch.next);
        batch.from = 0;
        batch.count = 0;
        batch.next = unused;
        unused = batch;
        lookForFinished();
    }

    final void forgetLimbo() {
        firstBatch = open;
        isReady = false;
        open.count = 0;
        openBytes = 0;
    }
}
