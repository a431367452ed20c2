package io.outboard.pool.internal.arena;

/**
 * This class has the unfinished marks of a device's work, the oldest first, with the number of each; see {@link
 * Progress}. When there is one too many, the one whose neighbours are closest goes. So the others stay spread over all
 * that were made, and memory comes back little by little, however far behind the device is. Requires the lock of the
 * thread that asks the device, except for {@link #isEmpty}.
 */
public final class Marks {

    private final long[] marks;
    private final long[] numbers;
    private volatile int count;

    /** Makes room for {@code most} marks, at least 2, and one more until one of them is removed. */
    public Marks(final int most) {
        marks = new long[most + 1];
        numbers = new long[most + 1];
    }

    /** Returns whether there is no mark; safe for any number of threads. */
    public boolean isEmpty() {
        return count == 0;
    }

    /** Returns whether a mark must be removed before another is added. */
    public boolean isFull() {
        return count == marks.length;
    }

    /** Adds the youngest mark. */
    public void add(final long mark, final long number) {
        final int last = count;
        marks[last] = mark;
        numbers[last] = number;
        count = last + 1;
    }

    /** Returns the oldest mark, of which there is one. */
    public long oldest() {
        return marks[0];
    }

    public long oldestNumber() {
        return numbers[0];
    }

    /** Removes the oldest mark and returns it. */
    public long removeOldest() {
        return remove(0);
    }

    /**
     * Removes the mark whose neighbours' numbers are closest to each other, and returns it: what waited for it waits
     * for the next. There are three at least. The oldest stays, since a thread may wait for it, and so does the
     * youngest, since none is behind it.
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

    /** Returns the gap that there would be without a mark. */
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
