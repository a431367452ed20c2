package io.outboard.pool;

import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A busy device has some streams, each with a queue of kernels, and nobody knows when a kernel ends: a thread ends a
 * random number of them at random moments. A kernel is known by its number in its stream, from 1. Handles of streams
 * are 0, 1, 2 and so on, and their numbers differ. Safe for any number of threads, also virtual ones, since nothing
 * waits in a monitor.
 */
final class BusyDevice implements DeviceWork {

    /** The first number of a stream. Numbers of streams differ from their handles. */
    private static final long FIRST_ID = 1000;

    private final AtomicLongArray launched;
    private final AtomicLongArray finished;
    private final long mostBehind;
    private final long pauseNs;
    private final Map<Long, long[]> marks = new ConcurrentHashMap<>();
    private final AtomicLong nextMark = new AtomicLong();
    private final AtomicReference<Throwable> wrongUse = new AtomicReference<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition progress = lock.newCondition();
    private final Thread thread;
    private volatile boolean closed;

    /**
     * Starts the device.
     *
     * @param streams how many streams it has
     * @param mostBehind the most unfinished kernels that a stream may have
     * @param pauseNs the longest time between two moments at which kernels end, in nanoseconds
     */
    BusyDevice(final int streams, final long mostBehind, final long pauseNs) {
        launched = new AtomicLongArray(streams);
        finished = new AtomicLongArray(streams);
        this.mostBehind = mostBehind;
        this.pauseNs = pauseNs;
        thread = new Thread(this::work, "busy device");
        thread.setDaemon(true);
        thread.start();
    }

    private void work() {
        final SplittableRandom random = new SplittableRandom(7);
        while (!closed) {
            for (int stream = 0; stream < finished.length(); stream++) {
                final long left = launched.get(stream) - finished.get(stream);
                if (left > 0 && random.nextInt(3) == 0) {
                    finished.addAndGet(stream, 1 + random.nextLong(left));
                }
            }
            tellProgress();
            LockSupport.parkNanos(1 + random.nextLong(pauseNs));
        }
    }

    private void tellProgress() {
        lock.lock();
        try {
            progress.signalAll();
        } finally {
            lock.unlock();
        }
    }

    int streams() {
        return launched.length();
    }

    /** Returns the new kernel's number, or 0 if the stream has so many unfinished kernels that a launch would wait. */
    long launch(final int stream) {
        return launched.get(stream) - finished.get(stream) >= mostBehind ? 0 : launched.incrementAndGet(stream);
    }

    /** Returns what was launched on each stream. */
    long[] allWork() {
        final long[] numbers = new long[launched.length()];
        for (int stream = 0; stream < numbers.length; stream++) {
            numbers[stream] = launched.get(stream);
        }
        return numbers;
    }

    /** Returns what was launched on one stream. */
    long[] workOf(final int stream) {
        final long[] numbers = new long[launched.length()];
        numbers[stream] = launched.get(stream);
        return numbers;
    }

    /** Returns whether at least {@code numbers} kernels have ended, stream by stream. */
    boolean haveEnded(final long[] numbers) {
        for (int stream = 0; stream < numbers.length; stream++) {
            if (finished.get(stream) < numbers[stream]) {
                return false;
            }
        }
        return true;
    }

    int marksOut() {
        return marks.size();
    }

    /** Returns how many marks were made. */
    long marksMade() {
        return nextMark.get();
    }

    /** Returns what the pool did that it must not do; null if nothing. */
    @Nullable
    Throwable wrongUse() {
        return wrongUse.get();
    }

    /** Waits until all kernels have ended, and ends the thread. */
    void close() throws InterruptedException {
        waitFor(allWork());
        closed = true;
        thread.join();
    }

    private void waitFor(final long[] numbers) {
        lock.lock();
        try {
            while (!haveEnded(numbers)) {
                progress.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean isCapturing() {
        return false;
    }

    @Override
    public long mark() {
        return put(allWork());
    }

    @Override
    public long mark(final long stream) {
        return put(workOf((int) stream));
    }

    private long put(final long[] numbers) {
        final long mark = nextMark.getAndIncrement();
        marks.put(mark, numbers);
        return mark;
    }

    @Override
    public boolean isFinished(final long mark) {
        return haveEnded(marked(mark));
    }

    @Override
    public void await(final long mark) {
        waitFor(marked(mark));
    }

    @Override
    public void release(final long mark) {
        marked(mark);
        marks.remove(mark);
    }

    @Override
    public long idOf(final long stream) {
        if (stream < 0 || stream >= launched.length()) {
            throw wrong("stream=" + stream + " must exist");
        }
        return FIRST_ID + stream;
    }

    private long[] marked(final long mark) {
        final long[] numbers = marks.get(mark);
        if (numbers == null) {
            throw wrong("mark=" + mark + " must be one that wasn't released");
        }
        return numbers;
    }

    private RuntimeException wrong(final String message) {
        final RuntimeException wrong = new IllegalStateException(message);
        wrongUse.compareAndSet(null, wrong);
        return wrong;
    }
}
