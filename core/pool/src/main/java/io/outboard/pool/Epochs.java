package io.outboard.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Epochs of the device's work on one stream, or on all: an epoch begins when somebody begins to wait for the work, or marks it,
 * and has passed when that work has finished. What is put into limbo notes which epoch was the last to begin; it is free to be
 * reused as soon as a later one has passed, whoever waited for that. So one wait serves every lane, and none hands anything over.
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
 */
final class Epochs {

    private static final VarHandle PASSED;

    static {
        try {
            PASSED = MethodHandles.lookup().findVarHandle(Epochs.class, "passed", long.class);
        } catch (final ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final StreamEpochs numbers;

    /** Whose work is marked: {@link Limbo#ALL_STREAMS} once the stream has ended. Guarded by the recycler's lock. */
    long stream;

    /** Whether something waits for an epoch that hasn't begun. */
    private volatile boolean awaited;

    private volatile long passed;

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
        // What was submitted before this is seen by who begins a later epoch than is read here: no reading may overtake
        // that
        // writing. Pairs with the atomic operation in begin.
        VarHandle.fullFence();
        // In this order: if begin comes between, it covers this, or is asked for once more.
        final long last = numbers.begun();
        if (!awaited) {
            awaited = true;
        }
        return last;
    }

    /** Whether what was noted with this number is free to be reused. */
    boolean isOver(final long noted) {
        return passed > noted;
    }

    /** Begins an epoch, before the device is asked: what was noted by now is covered. Its number. */
    long begin() {
        awaited = false;
        return numbers.next();
    }

    /** The device couldn't be asked: the epoch doesn't count. */
    void notBegun() {
        awaited = true;
    }

    boolean isAwaited() {
        return awaited;
    }

    /** What was noted by now is over when this epoch has passed: one that has begun, or the next. */
    long needed() {
        return awaited ? numbers.begun() + 1 : numbers.begun();
    }

    /** All work that was submitted before the epoch began has finished. */
    void pass(final long epoch) {
        for (long before = passed; before < epoch; before = passed) {
            if (PASSED.compareAndSet(this, before, epoch)) {
                numbers.passed();
                return;
            }
        }
    }

    // Marks

    /** Begins an epoch whose end a mark tells, which is none if the device can't be marked now. */
    void mark(final DeviceWork work) {
        if (2 * count == marks.length) {
            grow();
        }
        final long epoch = begin();
        long mark = DeviceWork.NO_MARK;
        try {
            mark = stream == Limbo.ALL_STREAMS ? work.mark() : work.mark(stream);
        } finally {
            if (mark == DeviceWork.NO_MARK) {
                notBegun();
            } else {
                final int index = 2 * (first + count) & (marks.length - 1);
                marks[index] = epoch;
                marks[index + 1] = mark;
                count++;
            }
        }
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
    int marks() {
        return count;
    }

    /** The number of the oldest that is marked, if there is any. */
    long firstEpoch() {
        return marks[2 * first];
    }

    long firstMark() {
        return marks[2 * first + 1];
    }

    /** Finds out which have finished. They may pass then: here they don't yet, and their marks are forgotten. */
    void ask(final DeviceWork work) {
        while (count > 0 && work.isFinished(firstMark())) {
            final long mark = firstMark();
            // First the epoch, so that it passes though the device may fail to forget the mark.
            finished = firstEpoch();
            removeFirst();
            work.release(mark);
        }
    }

    /** The last that has finished passes, and all before it. */
    void passFinished() {
        pass(finished);
    }

    void removeFirst() {
        first = first + 1 & (marks.length / 2 - 1);
        count--;
    }
}
