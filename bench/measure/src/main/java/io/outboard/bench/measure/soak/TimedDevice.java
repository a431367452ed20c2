package io.outboard.bench.measure.soak;

import io.outboard.pool.DeviceWork;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * A simulated device has streams that run kernels in real time, by arithmetic on a clock: a stream is the moment at
 * which the work launched on it will have ended, and a mark is such a moment, too.
 *
 * <pre>
 *   stream 1   |---kernel---|-----kernel-----|        ends[1]
 *   stream 2        |--kernel--|                      ends[2]
 *              ----------^--------------------------&gt; time
 *                   now: mark() = max(ends, now), isFinished(mark) = mark &lt;= now
 * </pre>
 *
 * <p>So the moment when a block may be handed out again is known exactly, and a test doesn't depend on a race between
 * threads to see a violation. Safe for any number of threads. No garbage.
 */
final class TimedDevice implements DeviceWork {

    private static final long FIRST_ID = 1000;

    private final SoakClock clock;
    private final AtomicLongArray ends;
    private final AtomicLong marksOut = new AtomicLong();
    private final AtomicLong kernels = new AtomicLong();

    /** Makes a device whose streams are numbered from 0, the default one. */
    TimedDevice(final SoakClock clock, final int streams) {
        this.clock = clock;
        this.ends = new AtomicLongArray(streams);
    }

    int streams() {
        return ends.length();
    }

    /**
     * Launches a kernel, unless the stream is too far behind: a real launch would wait then, and so would the soak.
     *
     * @param stream its number
     * @param kernelNs how long it runs
     * @param mostBehindNs how far the stream may be behind
     * @return when the kernel will have ended; 0 if it wasn't launched
     */
    long launch(final int stream, final long kernelNs, final long mostBehindNs) {
        while (true) {
            final long end = ends.get(stream);
            final long now = clock.nowNs();
            if (end - now > mostBehindNs) {
                return 0;
            }
            final long newEnd = Math.max(end, now) + kernelNs;
            if (ends.compareAndSet(stream, end, newEnd)) {
                kernels.incrementAndGet();
                return newEnd;
            }
        }
    }

    /** Returns how many kernels were launched. */
    long kernels() {
        return kernels.get();
    }

    /** Returns how many marks nobody has released. */
    long marksOut() {
        return marksOut.get();
    }

    private long lastEnd() {
        long last = 0;
        for (int i = 0; i < ends.length(); i++) {
            last = Math.max(last, ends.get(i));
        }
        return last;
    }

    /** Waits until all work launched so far has ended. */
    void finish() {
        clock.waitUntil(lastEnd());
    }

    @Override
    public boolean isCapturing() {
        return false;
    }

    @Override
    public long mark() {
        marksOut.incrementAndGet();
        return lastEnd();
    }

    @Override
    public long mark(final long stream) {
        marksOut.incrementAndGet();
        return ends.get((int) stream);
    }

    @Override
    public boolean isFinished(final long mark) {
        return mark <= clock.nowNs();
    }

    @Override
    public void await(final long mark) {
        clock.waitUntil(mark);
    }

    @Override
    public void release(final long mark) {
        marksOut.decrementAndGet();
    }

    /** Returns another number than the handle, so that code that takes one for the other is found. */
    @Override
    public long idOf(final long stream) {
        return FIRST_ID + stream;
    }
}
