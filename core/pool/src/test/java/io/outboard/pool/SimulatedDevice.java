package io.outboard.pool;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A device whose streams a test advances by hand. Work is known by its number in its stream, from 1; a stream finishes its
 * work in order, and exists from its first mention to {@link #endStream}. Waiting finishes what is waited for.
 *
 * <p>It is strict: to synchronise or mark while a stream is captured, to mark a stream that has ended, and to use a mark
 * that was released throw. Thread-safety: safe for any number of threads.
 */
public final class SimulatedDevice implements DeviceWork {

    private static final class Stream {
        private long submitted;
        private long finished;
        private boolean ended;
    }

    private final Map<Long, Stream> streams = new TreeMap<>();
    private final Map<Long, Map<Long, Long>> marks = new HashMap<>();
    private long nextMark;
    private boolean capturing;
    private long calls;
    private long synchronizations;
    private long awaits;
    private long failingCall = Long.MAX_VALUE;
    private @Nullable Supplier<RuntimeException> failure;

    /** A device without streams. */
    public SimulatedDevice() {}

    // For the test

    /**
     * Submits work.
     *
     * @param stream handle of the stream, which begins to exist
     * @return the work's number in its stream
     */
    public synchronized long submit(final long stream) {
        final Stream known = streams.computeIfAbsent(stream, handle -> new Stream());
        if (known.ended) {
            throw new IllegalStateException("stream=" + stream + " must exist: it has ended");
        }
        return ++known.submitted;
    }

    /**
     * Finishes the work that a stream is at, if there is any.
     *
     * @param stream its handle
     */
    public synchronized void finishNext(final long stream) {
        final Stream known = streams.get(stream);
        if (known != null && known.finished < known.submitted) {
            known.finished++;
        }
    }

    /** Finishes all work. */
    public synchronized void finishAll() {
        streams.values().forEach(stream -> stream.finished = stream.submitted);
    }

    /**
     * Ends a stream, whose work goes on.
     *
     * @param stream its handle
     */
    public synchronized void endStream(final long stream) {
        streams.computeIfAbsent(stream, handle -> new Stream()).ended = true;
    }

    /**
     * The state of all streams.
     *
     * @return for each, how much work was submitted to it
     */
    public synchronized Map<Long, Long> submitted() {
        final Map<Long, Long> numbers = new HashMap<>();
        streams.forEach((handle, stream) -> numbers.put(handle, stream.submitted));
        return numbers;
    }

    /**
     * Whether work has finished.
     *
     * @param stream its stream
     * @param number its number there, 0 for none
     * @return true if it has
     */
    public synchronized boolean hasFinished(final long stream, final long number) {
        final Stream known = streams.get(stream);
        return number == 0 || (known != null && known.finished >= number);
    }

    /**
     * Begins or ends a capture.
     *
     * @param newCapturing whether a stream is captured from now on
     */
    public synchronized void capturing(final boolean newCapturing) {
        capturing = newCapturing;
    }

    /**
     * Makes one call fail, and change nothing, but that {@link #release} forgets its mark all the same.
     *
     * @param call which of those from now on, from 1; the ones for the test don't count
     * @param newFailure makes what it throws
     */
    public synchronized void failAt(final long call, final Supplier<RuntimeException> newFailure) {
        failingCall = calls + call;
        failure = newFailure;
    }

    /**
     * How often the pool called.
     *
     * @return calls, failed ones included
     */
    public synchronized long calls() {
        return calls;
    }

    /**
     * How often the pool waited for all streams.
     *
     * @return calls of {@link #synchronize} that didn't fail
     */
    public synchronized long synchronizations() {
        return synchronizations;
    }

    /**
     * How often the pool waited for a mark.
     *
     * @return calls of {@link #await} that didn't fail
     */
    public synchronized long awaits() {
        return awaits;
    }

    /**
     * Marks that weren't released.
     *
     * @return how many
     */
    public synchronized int marksOut() {
        return marks.size();
    }

    // For the pool

    @Override
    public synchronized boolean synchronize() {
        call();
        checkNotCapturing();
        synchronizations++;
        finishAll();
        return true;
    }

    /** Always, since its {@link #synchronize} finishes all work itself. */
    @Override
    public boolean isIdle() {
        return true;
    }

    @Override
    public synchronized boolean isCapturing() {
        call();
        return capturing;
    }

    @Override
    public synchronized long mark() {
        call();
        checkNotCapturing();
        return put(submitted());
    }

    @Override
    public synchronized long mark(final long stream) {
        call();
        checkNotCapturing();
        final Stream known = streams.computeIfAbsent(stream, handle -> new Stream());
        if (known.ended) {
            throw new IllegalStateException("stream=" + stream + " must exist to be marked: it has ended");
        }
        return put(Map.of(stream, known.submitted));
    }

    @Override
    public synchronized boolean isFinished(final long mark) {
        call();
        return work(mark).entrySet().stream().allMatch(entry -> hasFinished(entry.getKey(), entry.getValue()));
    }

    @Override
    public synchronized void await(final long mark) {
        call();
        awaits++;
        work(mark).forEach((handle, number) -> {
            final Stream stream = streams.get(handle);
            if (stream != null) {
                stream.finished = Math.max(stream.finished, number);
            }
        });
    }

    @Override
    public synchronized void release(final long mark) {
        work(mark);
        marks.remove(mark);
        call();
    }

    private long put(final Map<Long, Long> work) {
        marks.put(nextMark, work);
        return nextMark++;
    }

    private Map<Long, Long> work(final long mark) {
        final Map<Long, Long> work = marks.get(mark);
        if (work == null) {
            throw new IllegalStateException("mark=" + mark + " must be one that wasn't released");
        }
        return work;
    }

    private void call() {
        if (++calls == failingCall && failure != null) {
            throw failure.get();
        }
    }

    private void checkNotCapturing() {
        if (capturing) {
            throw new IllegalStateException("a stream is captured: synchronising or marking breaks the capture");
        }
    }
}
