package io.outboard.pool.internal.limbo;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Epochs of the device's work on one stream, or on all: an epoch begins when somebody begins to wait for the work, or marks it,
 * and has passed when that work has finished. What is put into limbo notes which epoch was the last to begin; it is free to be
 * reused as soon as a later one has passed, whoever waited for that. So one wait serves every arena, and none hands anything over.
 * The idea is that of grace periods (McKenney and Slingwine, Read-Copy Update, 1998) and of epoch-based reclamation (Fraser,
 * Practical Lock-Freedom, 2004), with the device's work in place of readers.
 *
 * <pre>
 *   thread 1   free a, note 4                        a is free: 5 > 4
 *   thread 2               begin 5 ---- synchronise ---- pass 5
 *   thread 3                     free b, note 5      b waits for 6: the device may have been asked before
 * </pre>
 *
 * <p>Safe for any number of threads; marks are guarded by the recycler's lock.
 *
 * <p>Public for the pool's other packages, not for applications.
 */
public final class Epochs {

    private static final VarHandle NOTED;
    private static final VarHandle PASSED;

    static {
        try {
            NOTED = MethodHandles.lookup().findVarHandle(Epochs.class, "noted", long.class);
            PASSED = MethodHandles.lookup().findVarHandle(Epochs.class, "passed", long.class);
        } catch (final ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final StreamEpochs numbers;

    /** Whose work is marked: {@link Limbo#ALL_STREAMS} once the stream has ended. Guarded by the recycler's lock. */
    public long stream;

    /** The largest number that was noted; less than any before that. Grows only. */
    private volatile long noted = -1;

    private volatile long passed;

    /** The last that was marked. */
    private long marked;

    /** Epochs that were marked and haven't passed, the oldest first: number and mark, in a ring. */
    private long[] marks = new long[8];

    private int first;
    private int count;

    /** The last that is known to have finished. */
    private long finished;

    Epochs(final StreamEpochs numbers, final long stream) {
        this.numbers = numbers;
        this.stream = stream;
    }

    /** The number to be noted for what was freed by now. */
    long note() {
        // Who begins a later epoch than is read here must see what was submitted before: no reading may overtake that
        // writing.
        // Pairs with the atomic operation in begin.
        VarHandle.fullFence();
        final long last = numbers.begun();
        for (long before = noted; before < last; before = noted) {
            if (NOTED.compareAndSet(this, before, last)) {
                break;
            }
        }
        return last;
    }

    /** Whether what was noted with this number is free to be reused. */
    boolean isOver(final long noted) {
        return passed > noted;
    }

    /** Begins an epoch, before the device is asked: what was noted by now is covered. Its number. */
    public long begin() {
        return numbers.next();
    }

    /** What was noted by now is over when this epoch has passed, or a later one. */
    public long needed() {
        return noted + 1;
    }

    public boolean hasPassed(final long epoch) {
        return passed >= epoch;
    }

    /** All work that was submitted before the epoch began has finished. */
    public void pass(final long epoch) {
        for (long before = passed; before < epoch; before = passed) {
            if (PASSED.compareAndSet(this, before, epoch)) {
                numbers.passed();
                return;
            }
        }
    }

    // Marks

    /** Whether something was noted for which nothing is marked. */
    public boolean isAwaited() {
        return noted >= marked;
    }

    /** Takes the host memory that the next {@link #marked} needs. */
    public void reserveMark() {
        if (2 * count == marks.length) {
            grow();
        }
    }

    /** A mark tells the end of an epoch that has begun since {@link #reserveMark}. */
    public void marked(final long epoch, final long mark) {
        final int index = 2 * (first + count) & (marks.length - 1);
        marks[index] = epoch;
        marks[index + 1] = mark;
        count++;
        marked = epoch;
    }

    private void grow() {
        final long[] larger = new long[2 * marks.length];
        for (int i = 0; i < marks.length; i++) {
            larger[i] = marks[2 * first + i & (marks.length - 1)];
        }
        marks = larger;
        first = 0;
    }

    /** Those that haven't passed. */
    public int marks() {
        return count;
    }

    /** The number of the oldest that is marked, if there is any. */
    public long firstEpoch() {
        return marks[2 * first];
    }

    public long firstMark() {
        return marks[2 * first + 1];
    }

    /** The oldest that is marked has finished. It may pass then: here it doesn't yet, and its mark is forgotten. */
    public void firstFinished() {
        finished = firstEpoch();
        removeFirst();
    }

    /** The last that has finished passes, and all before it. */
    public void passFinished() {
        pass(finished);
    }

    public void removeFirst() {
        first = first + 1 & (marks.length / 2 - 1);
        count--;
    }
}
