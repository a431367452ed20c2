package io.outboard.pool;

/**
 * A steady device says every third time, or always if it is busy, that work hasn't finished. It makes no garbage
 * itself. Confined to one thread.
 */
class SteadyDevice implements DeviceWork {

    private static final int MOST_QUESTIONS = 10;

    /** The number of questions that were asked. */
    long answers;

    private final boolean busy;
    private long nextMark;
    private long awaited = NO_MARK;
    private long askedAbout = NO_MARK;
    private int times;

    SteadyDevice() {
        this(false);
    }

    /**
     * Creates a device. The work of a busy device only ends when a thread waits for it, or asks about it again and
     * again.
     */
    SteadyDevice(final boolean busy) {
        this.busy = busy;
    }

    @Override
    public boolean isCapturing() {
        return false;
    }

    @Override
    public long mark() {
        return nextMark++;
    }

    @Override
    public long mark(final long stream) {
        return nextMark++;
    }

    @Override
    public boolean isFinished(final long mark) {
        answers++;
        times = mark == askedAbout ? times + 1 : 1;
        askedAbout = mark;
        if (times >= MOST_QUESTIONS) {
            awaited = Math.max(awaited, mark);
        }
        return mark <= awaited || (!busy && answers % 3 != 0);
    }

    @Override
    public void await(final long mark) {
        awaited = Math.max(awaited, mark);
    }

    @Override
    public void release(final long mark) {}
}
