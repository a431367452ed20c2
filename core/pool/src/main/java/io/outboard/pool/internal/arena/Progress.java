package io.outboard.pool.internal.arena;

import java.lang.invoke.VarHandle;

/**
 * This class knows how far the device has come with what was freed. Marks of its work have numbers, 1, 2 and so on. A
 * batch of freed blocks that is closed waits for the next mark, by its number. Once that mark or a later one has
 * finished, the blocks are free, whichever thread made the mark. So one mark serves every arena, no arena hands
 * anything over, and closing a batch writes nothing that others read. Marks of one stream have numbers, too, but free
 * that stream's blocks alone ({@link StreamLimbo}). The idea is that of grace periods (McKenney and Slingwine,
 * Read-Copy Update, 1998) and of epoch-based reclamation (Fraser, Practical Lock-Freedom, 2004), with the device's work
 * in place of readers.
 *
 * <pre>
 *   arena 1   free a, close: 4                            a is free: 4 &lt;= 4
 *   arena 2                      mark 4 ------- finished: 4
 *   arena 1                        free b, close: 5       b waits for a later mark: its work may be behind that one
 * </pre>
 *
 * <p>Safe for any number of threads. Arenas read this at each batch, and it changes with each mark, up to 300,000 times
 * a second with large blocks.
 */
public final class Progress {

    /** The last mark that was begun. */
    private volatile long begun;

    /** The last mark of all work that has finished. */
    private volatile long finished;

    /**
     * Closes a batch; returns the number of the mark that it waits for, which covers what was submitted before this
     * call.
     */
    long close() {
        // This pairs with the fence in begin: either this thread sees that a mark was begun, and takes the next number,
        // or the device is marked after all that was submitted before this call.
        VarHandle.fullFence();
        return begun + 1;
    }

    /**
     * Begins a mark; returns its number. If the device can't be marked then, the next mark serves as well. One thread
     * at a time calls this.
     */
    public long begin() {
        final long number = begun + 1;
        begun = number;
        VarHandle.fullFence();
        return number;
    }

    /** Returns the number of the last mark of all work that has finished, and with it all earlier ones. */
    public long finished() {
        return finished;
    }

    /** Tells that the work before a mark has finished. One thread at a time calls this. */
    public void finish(final long number) {
        if (number > finished) {
            finished = number;
        }
    }
}
