package io.outboard.pool.internal.arena;

import io.outboard.pool.internal.guard.Fields;
import io.outboard.pool.internal.guard.SpinLock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An arena's blocks that were freed while the device may still be using them, in batches that wait for one mark each; see
 * {@link Progress}. The arena extends this, so that all that an operation needs lies in one object.
 *
 * <pre>
 *   first: batch 4, ready since its work has finished -> batch 7 -> batch 9 -> open batch
 * </pre>
 *
 * <p>External lock required, the arena's, which is this object, but for {@link #limboBytes()} and {@link #wantsAsking}.
 */
abstract class Limbo extends SpinLock {

    private static final VarHandle LIMBO = Fields.handle(MethodHandles.lookup(), "limboBytes", long.class);

    /**
     * So many times what is in use may be in limbo before a free asks the device. With a quarter of the slack alone, a program with 252 MiB in
     * use in 21 blocks, and 636 MiB of slack, asked once in 52 operations (H100, 2026-11-28).
     */
    private static final long ASKED_FACTOR = 4;

    /** Blocks that wait together for the same work. */
    static final class Batch {

        /** As many as make a batch cheap, and few enough that one with a single large block is no waste. */
        static final int BLOCKS = 128;

        /** What names each to the strategy of its segment. */
        final long[] retired = new long[BLOCKS];

        /** The id of each one's segment. */
        final int[] segments = new int[BLOCKS];

        /** Those before it were released. */
        int from;

        int count;

        /** Of the mark that it waits for once it is closed. */
        private long number;

        /** Null of the open one. */
        @Nullable
        Batch next;
    }

    private final Progress progress;

    /** Has room for a block once {@link #reserve} was called. */
    private Batch open = new Batch();

    /** Closed batches, in the order of their numbers, and then the open one. */
    Batch firstBatch = open;

    /** Of the mark that the last one closed waits for. */
    private long lastNumber;

    /** The first of them is closed, and its work is known to have finished. */
    boolean isReady;

    /** Empty ones, for later. There is one from the start, so that an arena whose blocks don't go to limbo never makes another. */
    private @Nullable Batch unused = new Batch();

    /** In the open batch. */
    private long openBytes;

    /** In all of them, and on its way in and out of those of a stream. Written by {@link #LIMBO}. */
    private long limboBytes;

    /** An open batch with more bytes is closed. Written by {@link Arenas}, as the next. */
    volatile long closedAbove = Long.MAX_VALUE;

    /** With no more than this in limbo the device isn't asked. */
    volatile long askedAbove = Long.MAX_VALUE;

    /** However much is in use, it lets no more than this be in limbo. */
    volatile long mostByUse = Long.MAX_VALUE;

    /** So much may be in limbo before the device is asked if the arena holds twice as much that isn't in use. */
    volatile long slackBytes = Long.MAX_VALUE;

    /** A free has closed a batch, and there is much in limbo: the device had better be asked. */
    private boolean wantsAsking;

    Limbo(final Breakage breakage, final Progress progress) {
        super(breakage);
        this.progress = progress;
    }

    public final long limboBytes() {
        return (long) LIMBO.getOpaque(this);
    }

    /** So much more is in limbo, or less. */
    final void countLimbo(final long moreBytes) {
        LIMBO.setOpaque(this, limboBytes + moreBytes);
    }

    /** Whether the device had better be asked: whoever learns it first asks. */
    public final boolean wantsAsking() {
        return wantsAsking;
    }

    /** Takes the host memory that a block needs which goes to limbo, so that then nothing fails: another batch, if this one will be full. */
    final void reserve() {
        if (unused == null) {
            unused = new Batch();
        }
    }

    /** A block that is counted already. {@link #reserve} was called. */
    final void addToLimbo(final Segment segment, final long block, final long sizeBytes) {
        final Batch batch = open;
        batch.retired[batch.count] = block;
        batch.segments[batch.count++] = segment.id;
        openBytes += sizeBytes;
        if (openBytes > closedAbove || batch.count == Batch.BLOCKS) {
            closeBatch();
            wantsAsking = !isReady && limboBytes > enough();
        } else if (slackBytes == 0) {
            wantsAsking = !isReady;
        }
    }

    /**
     * So much in limbo, in bytes, that the device had better be asked: by what is in use, so that a question comes after several frees for each
     * block in use, however large these are, but no more than half of what is or can be free, since the device takes its time to answer. Half of
     * what is held unused may wait in any case.
     */
    private long enough() {
        final long used = usedBytes();
        final long unused = heldBytes() - used;
        final long byUse = ASKED_FACTOR * Math.min(used, mostByUse / ASKED_FACTOR);
        final long byRoom = (unused + roomBytes()) / 2;
        final long byHeld = Math.min(unused / 2, slackBytes);
        return Math.max(Math.max(askedAbove, byHeld), Math.min(byUse, byRoom));
    }

    abstract long usedBytes();

    abstract long heldBytes();

    /** What it may come to hold, besides. */
    abstract long roomBytes();

    /** {@link #reserve} was called since the last batch was closed. */
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

    /** Closes the open batch; the mark that covers all of them, one that has finished, or 0, if there are none. */
    final long closeAll() {
        reserve();
        closeBatch();
        return lastNumber;
    }

    /** Somebody asks, or has asked; the oldest mark that batches wait for, 0 for none. Closes the open batch if no other waits. */
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

    /** All of it was released. */
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
        LIMBO.setOpaque(this, 0L);
    }
}
