package io.outboard.pool;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A device whose streams a test advances by hand. Work is known by its number in its stream, from 1; a stream finishes
 * its work in order, and exists from its first mention to {@link #endStream}; {@link #beginStream} gives its handle to
 * another one, as drivers do. Waiting finishes what is waited for: so does asking about one mark again and again.
 *
 * <p>It is strict: to mark or number a stream that has ended, and to use a mark that was released throw. Thread-safety:
 * safe for any number of threads.
 */
public final class SimulatedDevice implements DeviceWork {

    private static final class Stream {
        private final long id;
        private long submitted;
        private long finished;
        private boolean ended;

        Stream(final long id) {
            this.id = id;
        }
    }

    /** Who asks so often about a mark waits for it. */
    private static final int MOST_QUESTIONS = 10;

    private final Map<Long, Stream> streams = new TreeMap<>();
    /** By number, without those that have ended with all their work. */
    private final Map<Long, Stream> all = new HashMap<>();

    private long nextStream;
    private final Map<Long, Map<Stream, Long>> marks = new HashMap<>();

    /** How often each was asked about. */
    private final Map<Long, Integer> questions = new HashMap<>();

    private int mostMarks = Integer.MAX_VALUE;
    private long nextMark;
    private boolean capturing;
    private long calls;
    private long synchronizations;
    private long marksOfStreams;
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
        return ++existing(stream).submitted;
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
        all.values().forEach(stream -> stream.finished = stream.submitted);
    }

    /**
     * Ends a stream, whose work goes on.
     *
     * @param stream its handle
     */
    public synchronized void endStream(final long stream) {
        known(stream).ended = true;
    }

    /**
     * Begins a stream whose handle one had that has ended. What was said of the handle is from now on said of this one.
     *
     * @param stream its handle
     */
    public synchronized void beginStream(final long stream) {
        if (!known(stream).ended) {
            throw new IllegalStateException("stream=" + stream + " must have ended for another to have its handle");
        }
        streams.put(stream, newStream());
    }

    /**
     * What {@link #idOf} answers, but for the test.
     *
     * @param stream handle of a stream
     * @return its number
     */
    public synchronized long numberOf(final long stream) {
        return known(stream).id;
    }

    /**
     * The state of all streams.
     *
     * @return for the number of each, also of those that have ended, how much work was submitted to it
     */
    public synchronized Map<Long, Long> work() {
        final Map<Long, Long> numbers = new HashMap<>();
        all.forEach((id, stream) -> numbers.put(id, stream.submitted));
        return numbers;
    }

    /**
     * Whether work has finished.
     *
     * @param work some of what {@link #work} said
     * @return true if all of it has
     */
    public synchronized boolean haveFinished(final Map<Long, Long> work) {
        return work.entrySet().stream().allMatch(entry -> {
            final Stream stream = all.get(entry.getKey());
            return stream == null || stream.finished >= entry.getValue();
        });
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
     * Limits the marks that may be in use at once, as a device does whose events are made ahead.
     *
     * @param most how many
     */
    public synchronized void mostMarks(final int most) {
        mostMarks = most;
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
     * How often the pool asked about all streams.
     *
     * @return marks of all work that were made
     */
    public synchronized long synchronizations() {
        return synchronizations;
    }

    /**
     * How often the pool asked about one stream.
     *
     * @return marks of one stream that were made
     */
    public synchronized long marksOfStreams() {
        return marksOfStreams;
    }

    /**
     * How often the pool waited for a mark.
     *
     * @return calls of {@link #await} that didn't fail, and marks that were asked about so often that somebody waits
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
    public synchronized boolean isCapturing() {
        call();
        return capturing;
    }

    @Override
    public synchronized long mark() {
        call();
        final Map<Stream, Long> work = new HashMap<>();
        all.values().removeIf(stream -> stream.ended && stream.finished == stream.submitted);
        all.values().forEach(stream -> work.put(stream, stream.submitted));
        final long mark = put(work);
        synchronizations += mark < 0 ? 0 : 1;
        return mark;
    }

    @Override
    public synchronized long mark(final long stream) {
        call();
        final Stream known = existing(stream);
        final long mark = put(Map.of(known, known.submitted));
        marksOfStreams += mark < 0 ? 0 : 1;
        return mark;
    }

    @Override
    public synchronized boolean isFinished(final long mark) {
        call();
        if (capturing || isOver(mark)) {
            return !capturing;
        }
        if (questions.merge(mark, 1, Integer::sum) < MOST_QUESTIONS) {
            return false;
        }
        finish(mark);
        questions.clear();
        return true;
    }

    private boolean isOver(final long mark) {
        return work(mark).entrySet().stream().allMatch(entry -> entry.getKey().finished >= entry.getValue());
    }

    private void finish(final long mark) {
        awaits++;
        work(mark).forEach((stream, number) -> stream.finished = Math.max(stream.finished, number));
    }

    @Override
    public synchronized void await(final long mark) {
        call();
        if (!capturing) {
            finish(mark);
        }
    }

    @Override
    public synchronized void release(final long mark) {
        work(mark);
        marks.remove(mark);
        questions.remove(mark);
        call();
    }

    @Override
    public synchronized long idOf(final long stream) {
        call();
        return existing(stream).id;
    }

    private Stream newStream() {
        final Stream stream = new Stream(nextStream++);
        all.put(stream.id, stream);
        return stream;
    }

    private Stream known(final long stream) {
        return streams.computeIfAbsent(stream, handle -> newStream());
    }

    private Stream existing(final long stream) {
        final Stream known = known(stream);
        if (known.ended) {
            throw new IllegalStateException("stream=" + stream + " must exist: it has ended");
        }
        return known;
    }

    private long put(final Map<Stream, Long> work) {
        if (capturing || marks.size() >= mostMarks) {
            return capturing ? NO_MARK : NO_MARK_LEFT;
        }
        marks.put(nextMark, work);
        return nextMark++;
    }

    private Map<Stream, Long> work(final long mark) {
        final Map<Stream, Long> work = marks.get(mark);
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
}
