package io.outboard.pool.internal.limbo;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The epochs of all work, and, where marks are ordered by stream, of each stream on which blocks were freed. Their numbers
 * are drawn from one sequence, so the least is the oldest.
 *
 * <p>Safe for any number of threads: the monitor guards which streams there are.
 *
 * <p>Public for the pool's other packages, not for applications.
 */
public final class StreamEpochs {

    private static final VarHandle BEGUN;
    private static final VarHandle PASSES;

    static {
        try {
            BEGUN = MethodHandles.lookup().findVarHandle(StreamEpochs.class, "begun", long.class);
            PASSES = MethodHandles.lookup().findVarHandle(StreamEpochs.class, "passes", long.class);
        } catch (final ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** In place of an epoch. */
    public static final long MARKED = 0;

    public final Epochs all = new Epochs(this, Limbo.ALL_STREAMS);
    private final Map<Long, Epochs> byStream = new HashMap<>();

    /** With those of ended streams that haven't passed. Replaced under the monitor, never changed. */
    private volatile Epochs[] each = {all};

    /** The last that has begun. */
    private volatile long begun;

    /** How many have passed: as long as it stays the same, nothing new is free. */
    private volatile long passes;

    long begun() {
        return begun;
    }

    long next() {
        return (long) BEGUN.getAndAdd(this, 1L) + 1;
    }

    long passes() {
        return passes;
    }

    void passed() {
        PASSES.getAndAdd(this, 1L);
    }

    /** All work of before this epoch has finished; or that of before the marks that are known to have, for {@link #MARKED}. */
    public void pass(final long epoch) {
        if (epoch != MARKED) {
            all.pass(epoch);
            return;
        }
        for (final Epochs epochs : each) {
            epochs.passFinished();
        }
    }

    public Epochs[] each() {
        return each;
    }

    /** Those of a stream, new ones if nothing was freed on it yet. */
    synchronized Epochs of(final long stream) {
        final Epochs known = byStream.get(stream);
        if (known != null) {
            return known;
        }
        final Epochs epochs = new Epochs(this, stream);
        final Epochs[] more = Arrays.copyOf(each, each.length + 1);
        more[each.length] = epochs;
        // In this order: should the host have no memory for the second, the first does no harm.
        each = more;
        byStream.put(stream, epochs);
        return epochs;
    }

    /** The stream ends, and its handle may be given to another: that one gets epochs of its own. */
    public synchronized @Nullable Epochs end(final long stream) {
        return byStream.remove(stream);
    }

    /** Nothing begins or passes here any more. */
    public synchronized void remove(final Epochs ended) {
        // Not a stream of Java's: to link its lambdas takes a millisecond, which would be some free's.
        final Epochs[] fewer = new Epochs[each.length - 1];
        int kept = 0;
        for (final Epochs epochs : each) {
            if (epochs != ended) {
                fewer[kept++] = epochs;
            }
        }
        each = fewer;
    }
}
