package io.outboard.pool.internal.arena;

/**
 * Marks of a device's work that haven't finished, the oldest first, and the number of each; see {@link Progress}. One is added only if there
 * is room, and the oldest is looked at only if there is one. External lock required: that of who asks the device, but for {@link #isEmpty}.
 */
public final class Marks {

    private final long[] marks;
    private final long[] numbers;
    private volatile int count;

    public Marks(final int most) {
        marks = new long[most];
        numbers = new long[most];
    }

    /** Safe for any number of threads. */
    public boolean isEmpty() {
        return count == 0;
    }

    public boolean isFull() {
        return count == marks.length;
    }

    public void add(final long mark, final long number) {
        final int last = count;
        marks[last] = mark;
        numbers[last] = number;
        count = last + 1;
    }

    public long oldest() {
        return marks[0];
    }

    public long oldestNumber() {
        return numbers[0];
    }

    public void removeOldest() {
        final int left = count - 1;
        System.arraycopy(marks, 1, marks, 0, left);
        System.arraycopy(numbers, 1, numbers, 0, left);
        count = left;
    }
}
