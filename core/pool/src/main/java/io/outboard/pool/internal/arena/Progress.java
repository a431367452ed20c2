package io.outboard.pool.internal.arena;

import java.lang.invoke.VarHandle;

/**
 * How far the device has come with what was freed. Marks of its work have numbers, 1, 2 and so on. Blocks wait in batches: one that is
 * closed waits for the next mark, by its number; when that has finished, or a later one, the blocks are free, whoever made the mark. So one
 * mark serves every arena, none hands anything over, and to close a batch writes nothing that others read. Marks of one stream have
 * numbers, too, but free that stream's blocks alone ({@link StreamLimbo}). The idea is that of grace periods (McKenney and Slingwine,
 * Read-Copy Update, 1998) and of epoch-based reclamation (Fraser, Practical Lock-Freedom, 2004), with the device's work in place of
 * readers.
 *
 * <pre>
 *   arena 1   free a, close: 4                            a is free: 4 &lt;= 4
 *   arena 2                      mark 4 ------- finished: 4
 *   arena 1                        free b, close: 5       b waits for a later mark: its work may be behind that one
 * </pre>
 *
 * <p>Safe for any number of threads. Arenas read this at each batch, and it changes with each mark, up to 300,000 times a second with large
 * blocks.
 */
public final class Progress {

    /** The last mark that was begun. */
    private volatile long begun;

    /** The last mark of all work that has finished. */
    private volatile long finished;

    /** A batch is closed; the number of the mark that it waits for, which covers what was submitted before this call. */
    long close() {
        // Pairs with the fence in begin: either this sees that a mark was begun, and takes the next number, or the
        // device is marked after all that was submitted before this call.
        VarHandle.fullFence();
        return begun + 1;
    }

    /** The device is to be marked now; the mark's number. If it can't be marked then, the next mark serves as well. One thread at a time. */
    public long begin() {
        final long number = begun + 1;
        begun = number;
        VarHandle.fullFence();
        return number;
    }

    /** The last mark of all work that has finished, and with it all earlier ones. */
    public long finished() {
        return finished;
    }

    /** The work before a mark has finished. One thread at a time. */
    public void finish(final long number) {
        if (number > finished) {
            finished = number;
        }
    }
}
