package io.outboard.pool.internal.arena;

import io.outboard.pool.internal.guard.Fields;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * How far the device has come with what was freed: two numbers that only grow, one pool's. Blocks wait in batches. A batch that is
 * closed gets the next number; a mark of the device's work covers all numbers that were given before it was made; when it has
 * finished, so have they, whoever made it. So one mark serves every arena, and none hands anything over. The idea is that of grace
 * periods (McKenney and Slingwine, Read-Copy Update, 1998) and of epoch-based reclamation (Fraser, Practical Lock-Freedom, 2004), with
 * the device's work in place of readers.
 *
 * <pre>
 *   arena 1   free a, close: 4                            a is free: 4 &lt;= 4
 *   arena 2                      mark, covers 4 ------- finished: 4
 *   arena 1                        free b, close: 5       b waits for a later mark: its work may be behind that one
 * </pre>
 *
 * <p>Safe for any number of threads.
 */
public final class Progress {

    private static final VarHandle CLOSED = Fields.handle(MethodHandles.lookup(), "closed", long.class);

    /** The last number that was given. By {@link #CLOSED}, but for reads. */
    private volatile long closed;

    /** The last number whose work has finished. */
    private volatile long finished;

    /**
     * A batch is closed; its number. Whoever reads a number from {@link #closed} that isn't less, and marks the device's work then, marks
     * what was submitted before this call: the addition is a fence, and pairs with that read.
     */
    long close() {
        return (long) CLOSED.getAndAdd(this, 1L) + 1;
    }

    /** The last number that was given. To be read before the device is marked, which then covers it. */
    public long closed() {
        return closed;
    }

    /** The last number whose work has finished, and with it all before. */
    public long finished() {
        return finished;
    }

    /** The work before a mark that covers so far has finished. One thread at a time. */
    public void finish(final long number) {
        if (number > finished) {
            finished = number;
        }
    }
}
