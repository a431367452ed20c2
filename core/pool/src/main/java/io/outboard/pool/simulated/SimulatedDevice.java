package io.outboard.pool.simulated;

import io.outboard.pool.DeviceWork;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A simulated device has streams that a test advances by hand. Work is known by its number in its stream, from 1. A
 * stream finishes its work in order, and exists from its first mention until {@link #endStream}; {@link #beginStream}
 * gives its handle to another stream, as drivers do. Waiting for a mark finishes its work, and so does asking about the
 * mark again and again.
 *
 * <p>The device is strict: it throws if a stream that has ended is marked or numbered, or if a released mark is used.
 * Thread-safety: safe for any number of threads.
 */
public final class SimulatedDevice implements DeviceWork {

    private static final class Stream {
        private final long id;
        private long submitted;
        private long finished;
        private boolean ended;

        /** What is to run when work finishes, by the work's number, where there is something. */
        private final Map<Long, Runnable> actions = new HashMap<>();

        Stream(final long id) {
            this.id = id;
        }

        /** Finishes work up to a number, which counts as finished when its action runs: an action may ask for others. */
        void finishTo(final long number) {
            finished = actions.isEmpty() ? Math.max(finished, number) : finished;
            while (finished < number) {
                finished++;
                final Runnable action = actions.remove(finished);
                if (action != null) {
                    action.run();
                }
            }
        }
    }

    /** The number of questions about one mark that count as waiting for it. */
    private static final int MOST_QUESTIONS = 10;

    private final Map<Long, Stream> streams = new TreeMap<>();
    /** The streams by number, without those that have ended with all their work. */
    private final Map<Long, Stream> all = new HashMap<>();

    private long nextStream;
    private final Map<Long, Map<Stream, Long>> marks = new HashMap<>();

    /** How often each mark was asked about. */
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

    /** Creates a device without streams. */
    public SimulatedDevice() {}

    /**
     * Submits work.
     *
     * @param stream the stream's handle; the stream begins to exist
     * @return the work's number in its stream
     */
    public synchronized long submit(final long stream) {
        return ++existing(stream).submitted;
    }

    /**
     * Submits work that does something when it finishes, on the thread that finishes it, under this object's monitor.
     *
     * @param stream the stream's handle; the stream begins to exist
     * @param action what to do; it must not throw
     * @return the work's number in its stream
     */
    public synchronized long submit(final long stream, final Runnable action) {
        final Stream known = existing(stream);
        known.actions.put(known.submitted + 1, action);
        return ++known.submitted;
    }

    /**
     * Finishes the work that a stream is at, if there is any.
     *
     * @param stream the stream's handle
     */
    public synchronized void finishNext(final long stream) {
        final Stream known = streams.get(stream);
        if (known != null && known.finished < known.submitted) {
            known.finishTo(known.finished + 1);
        }
    }

    /**
     * Finishes a stream's work up to a piece of it.
     *
     * @param stream the stream's handle
     * @param number the work's number there
     */
    public synchronized void finish(final long stream, final long number) {
        final Stream known = known(stream);
        known.finishTo(Math.min(number, known.submitted));
    }

    /** Finishes all work. */
    public synchronized void finishAll() {
        // Actions may submit work, to new streams, too.
        List.copyOf(all.values()).forEach(stream -> stream.finishTo(stream.submitted));
    }

    /**
     * Ends a stream, whose work goes on.
     *
     * @param stream the stream's handle
     */
    public synchronized void endStream(final long stream) {
        known(stream).ended = true;
    }

    /**
     * Begins a stream with the handle of a stream that has ended. From now on, the handle means the new stream.
     *
     * @param stream the handle
     */
    public synchronized void beginStream(final long stream) {
        if (!known(stream).ended) {
            throw new IllegalStateException("stream=" + stream + " must have ended for another to have its handle");
        }
        streams.put(stream, newStream());
    }

    /**
     * Returns what {@link #idOf} returns, for tests.
     *
     * @param stream the stream's handle
     * @return the stream's number
     */
    public synchronized long numberOf(final long stream) {
        return known(stream).id;
    }

    /**
     * Returns how much work was submitted to each stream.
     *
     * @return the amount of work by the stream's number, including streams that have ended
     */
    public synchronized Map<Long, Long> work() {
        final Map<Long, Long> numbers = new HashMap<>();
        all.forEach((id, stream) -> numbers.put(id, stream.submitted));
        return numbers;
    }

    /**
     * Tells whether work has finished.
     *
     * @param work what {@link #work} returned, or a part of it
     * @return true if all of it has
     */
    public synchronized boolean haveFinished(final Map<Long, Long> work) {
        return work.entrySet().stream().allMatch(entry -> {
            final Stream stream = all.get(entry.getKey());
            return stream == null || stream.finished >= entry.getValue();
        });
    }

    /**
     * Tells whether work has finished.
     *
     * @param stream the work's stream
     * @param number the work's number there, 0 for none
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
     * Limits the marks that may be in use at once, like a device whose events are made ahead of need.
     *
     * @param most the most marks
     */
    public synchronized void mostMarks(final int most) {
        mostMarks = most;
    }

    /**
     * Makes one call fail, and change nothing; but {@link #release} still forgets its mark.
     *
     * @param call which call from now on, from 1; calls of test methods don't count
     * @param newFailure makes the exception to throw
     */
    public synchronized void failAt(final long call, final Supplier<RuntimeException> newFailure) {
        failingCall = calls + call;
        failure = newFailure;
    }

    /** Lets no call fail from now on. */
    public synchronized void failNone() {
        failingCall = Long.MAX_VALUE;
    }

    /**
     * Returns how often the pool called, {@link #call} included.
     *
     * @return the number of calls, including failed ones
     */
    public synchronized long calls() {
        return calls;
    }

    /**
     * Returns how often the pool asked about all streams.
     *
     * @return the number of marks of all work that were made
     */
    public synchronized long synchronizations() {
        return synchronizations;
    }

    /**
     * Returns how often the pool asked about one stream.
     *
     * @return the number of marks of one stream that were made
     */
    public synchronized long marksOfStreams() {
        return marksOfStreams;
    }

    /**
     * Returns how often the pool waited for a mark.
     *
     * @return calls of {@link #await} that didn't fail, and marks asked about so often that it counts as a wait
     */
    public synchronized long awaits() {
        return awaits;
    }

    /**
     * Returns how many marks weren't released.
     *
     * @return how many
     */
    public synchronized int marksOut() {
        return marks.size();
    }

    @Override
    public synchronized boolean isCapturing() {
        call();
        return capturing;
    }

    @Override
    public synchronized long mark() {
        call();
        // In the order of streams, so that actions run in the same order each time.
        final Map<Stream, Long> work = new LinkedHashMap<>();
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
        work(mark).forEach(Stream::finishTo);
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

    /** Counts a call, which {@link #failAt} may let fail; for calls of the device's that don't go through this class. */
    public synchronized void call() {
        if (++calls == failingCall && failure != null) {
            throw failure.get();
        }
    }
}
