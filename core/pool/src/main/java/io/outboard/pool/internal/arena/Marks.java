package io.outboard.pool.internal.arena;

/**
 * Marks of a device's work that haven't finished, the oldest first, and the number of each; see {@link Progress}. When there is one too many,
 * the one whose neighbours are closest goes. So the others stay spread over all that were made, and memory comes back little by little,
 * however far behind the device is. External lock required: that of who asks the device, but for {@link #isEmpty}.
 */
public final class Marks {

    private final long[] marks;
    private final long[] numbers;
    private volatile int count;

    /** For so many, at least 2, and one more until one of them is removed. */
    public Marks(final int most) {
        marks = new long[most + 1];
        numbers = new long[most + 1];
    }

    /** Safe for any number of threads. */
    public boolean isEmpty() {
        return count == 0;
    }

    /** One of them is to be removed before another is added. */
    public boolean isFull() {
        return count == marks.length;
    }

    /** The youngest from now on. */
    public void add(final long mark, final long number) {
        final int last = count;
        marks[last] = mark;
        numbers[last] = number;
        count = last + 1;
    }

    /** There is one. */
    public long oldest() {
        return marks[0];
    }

    public long oldestNumber() {
        return numbers[0];
    }

    /** Removes it, and answers it. */
    public long removeOldest() {
        return remove(0);
    }

    /**
     * Removes the one whose neighbours' numbers are closest to each other, and answers it: what waits for it waits for the next. There are
     * three at least; the oldest stays, since somebody may wait for it, and so does the youngest, since nothing is behind that.
     */
    public long removeClosest() {
        int closest = 1;
        for (int i = 2; i < count - 1; i++) {
            if (gap(i) < gap(closest)) {
                closest = i;
            }
        }
        return remove(closest);
    }

    /** That there would be without it. */
    private long gap(final int index) {
        return numbers[index + 1] - numbers[index - 1];
    }

    private long remove(final int index) {
        final long mark = marks[index];
        final int left = count - 1;
        System.arraycopy(marks, index + 1, marks, index, left - index);
        System.arraycopy(numbers, index + 1, numbers, index, left - index);
        count = left;
        return mark;
    }
}
