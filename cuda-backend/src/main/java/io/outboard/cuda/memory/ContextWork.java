package io.outboard.cuda.memory;

import io.outboard.pool.DeviceWork;
import java.util.HashMap;
import java.util.Map;
import jcuda.runtime.cudaError;

/**
 * What has finished in one CUDA context: found out by synchronising it, or by events on its streams.
 *
 * <pre>
 *   known streams     0 ---work---e          e: an event, recorded where work ends now
 *                     s1 --work-----e
 *                     s2 ----e
 *                             \ | |
 *   tail              --------wwwM-----     w: waits for such an event; M: the event that is the mark
 * </pre>
 *
 * <p>A mark of all work is one event on a stream of our own, the tail, which waits for the ends of all others. A stream
 * that is about to be destroyed leaves its end on the tail, since its work may go on afterwards; so later marks cover it.
 * Stream 0 waits for every blocking stream, known or not, the default streams of threads included, so an event there covers
 * them all. But it is a barrier, too: what any of them does later waits for what all of them did earlier. So stream 0 is asked
 * first, which is none, and nothing is recorded there if it has finished. Whether a program uses stream 0 can't be known, so as
 * long as a blocking stream works a mark of all work is a barrier among these, unless {@link #defaultStreamIsUnused} says that
 * the known ones are all. Non-blocking streams are never held up. What isn't covered: work on non-blocking streams that nobody
 * told of by {@link #add}.
 *
 * <p>While a stream is captured into a graph nothing is waited for, marked or asked; {@link StreamCaptures} guards the moment
 * at which a capture begins. A stream that ends meanwhile can't leave its end on the tail, so the next mark of all work waits
 * for the context first.
 *
 * <p>Every call has the context made current, and goes to the driver and not to the runtime, whose last error is the
 * program's. Safe for any number of threads: the monitor guards the streams, so that none is destroyed while an event is
 * recorded on it. A mark costs a call or two for all blocking streams and two for each
 * other known one; its events are used again, and neither marks nor questions make garbage.
 *
 * <p>Not for applications.
 */
// A scope is used by being open.
@SuppressWarnings("try")
public final class ContextWork implements DeviceWork {

    /** Is always there: to destroy it is an error, and changes nothing. */
    public static final long DEFAULT_STREAM = 0;

    private final CudaCalls calls;
    private final long context;
    private final StreamCaptures captures;
    private final boolean asksStreams;

    private final KnownStreams streams;

    /** Whether stream 0 stands for all blocking streams. */
    private boolean asksDefaultStream = true;

    /** Contexts with work that should be on the tail and isn't, and when that was noted last, as a number. */
    private final Map<Long, Long> owed = new HashMap<>();

    private long notes;

    private final WorkEvents events;

    /**
     * For the context.
     *
     * @param asksStreams whether to ask every known stream if it is being captured, as the default stream; none may then have
     *     been destroyed without {@link #remove}: the driver crashes
     */
    public ContextWork(
            final CudaCalls calls, final long context, final StreamCaptures captures, final boolean asksStreams) {
        this.calls = calls;
        this.context = context;
        this.captures = captures;
        this.asksStreams = asksStreams;
        streams = new KnownStreams(calls, context);
        events = new WorkEvents(calls, context);
    }

    // Streams

    public boolean knows(final long stream) {
        return streams.contains(stream);
    }

    public synchronized void add(final long stream) {
        streams.add(stream);
    }

    /** A stream is about to be destroyed, if it is one that is known. It is forgotten also if CUDA fails. */
    public void streamEnds(final long stream) {
        if (stream != DEFAULT_STREAM && knows(stream)) {
            try {
                cover(stream);
            } finally {
                remove(stream);
            }
        }
    }

    /** Forgets a stream that still exists. Its work so far must be on the tail by then. */
    public synchronized void remove(final long stream) {
        streams.remove(stream);
    }

    /** Lets all later marks of all work cover the work on a stream so far, whatever becomes of the stream. */
    public void cover(final long stream) {
        cover(stream, context);
    }

    /** The same for a stream of any context, 0 being that context's default stream. */
    public synchronized void cover(final long stream, final long home) {
        boolean covered = false;
        final boolean entered = captures.enter();
        try {
            if (entered) {
                events.append(stream, home);
                covered = true;
            }
        } finally {
            if (entered) {
                captures.leave();
            }
            if (!covered) {
                owed.put(home, ++notes);
            }
        }
    }

    /** Whether work in another context is still to be waited for. */
    public synchronized boolean owes(final long home) {
        return owed.containsKey(home);
    }

    /** A context is gone, and all work in it has finished. */
    public synchronized void contextEnded(final long gone) {
        owed.remove(gone);
    }

    /**
     * From now on marks cover the known streams only, each by an event of its own: a promise that nothing works on stream 0 or
     * on another blocking stream.
     */
    public synchronized void defaultStreamIsUnused() {
        asksDefaultStream = false;
    }

    // What a pool asks

    @Override
    public boolean synchronize() {
        // To settle may take long, so whether there is a capture is looked at again.
        if (!settle() || !captures.enter()) {
            return false;
        }
        try {
            synchronize(context);
            return true;
        } finally {
            captures.leave();
        }
    }

    /** {@inheritDoc} Takes a call or two for stream 0, which tells of all blocking streams, and for each other known one. */
    @Override
    public synchronized boolean isIdle() {
        if (!owed.isEmpty() || (!asksStreams && streams.someDoNotBlock()) || !captures.enter()) {
            return false;
        }
        try {
            final boolean entered = ContextScope.enter(calls, context);
            try {
                return areIdle(streams.all());
            } finally {
                ContextScope.leave(calls, entered);
            }
        } catch (final CudaFailureException e) {
            // Whoever waits is told.
            return false;
        } finally {
            captures.leave();
        }
    }

    /** Whether it is told of captures before they begin, and needn't ask. */
    @Override
    public boolean isGuarded() {
        return !asksStreams;
    }

    private boolean areIdle(final long[] known) {
        for (final long stream : known) {
            // To ask a captured stream, or stream 0 while a blocking one is captured, breaks the capture.
            if (!streams.isBlocking(stream)
                    && (streams.isCapturing(stream) || calls.queryStream(stream) != CudaCalls.SUCCESS)) {
                return false;
            }
        }
        return events.isTailIdle();
    }

    /**
     * {@inheritDoc} Captures on streams that block are seen even where the stream isn't known: the driver tells it of the
     * default stream, which is then unusable.
     */
    @Override
    public synchronized boolean isCapturing() {
        if (captures.any()) {
            return true;
        }
        final boolean entered = ContextScope.enter(calls, context);
        try {
            if (!asksStreams) {
                return streams.isCapturing(DEFAULT_STREAM);
            }
            for (final long stream : streams.all()) {
                if (streams.isCapturing(stream)) {
                    return true;
                }
            }
            return false;
        } finally {
            ContextScope.leave(calls, entered);
        }
    }

    /** Whether a stream of a context is captured; both exist. */
    public boolean isCapturing(final long stream, final long home) {
        try (ContextScope scope = new ContextScope(calls, home)) {
            return streams.isCapturing(stream);
        }
    }

    @Override
    public long mark() {
        while (settle()) {
            synchronized (this) {
                // Unless something is owed again.
                if (owed.isEmpty()) {
                    return markSettled();
                }
            }
        }
        return NO_MARK;
    }

    private long markSettled() {
        // An event on a captured stream would become part of the graph, and one on stream 0 would end the capture.
        if (!captures.enter()) {
            return NO_MARK;
        }
        try {
            final boolean entered = ContextScope.enter(calls, context);
            try {
                appendAll(streams.all());
                return events.mark();
            } finally {
                ContextScope.leave(calls, entered);
            }
        } finally {
            captures.leave();
        }
    }

    private void appendAll(final long[] known) {
        // Cheaper than to record, and no barrier among those streams.
        final boolean blockingWork = !asksDefaultStream || calls.queryStream(DEFAULT_STREAM) != CudaCalls.SUCCESS;
        for (final long stream : known) {
            final boolean covered = stream == DEFAULT_STREAM
                    ? !asksDefaultStream || !blockingWork
                    : streams.isBlocking(stream) && asksDefaultStream;
            if (!covered) {
                events.append(stream);
            }
        }
    }

    @Override
    public long mark(final long stream) {
        synchronized (this) {
            if (knows(stream)) {
                if (!captures.enter()) {
                    return NO_MARK;
                }
                try {
                    final boolean entered = ContextScope.enter(calls, context);
                    try {
                        return events.mark(stream);
                    } finally {
                        ContextScope.leave(calls, entered);
                    }
                } finally {
                    captures.leave();
                }
            }
        }
        // It is destroyed, and what it did is on the tail.
        return mark();
    }

    /** {@inheritDoc} While a stream is captured the answer is no. */
    @Override
    public boolean isFinished(final long mark) {
        if (!captures.enter()) {
            return false;
        }
        try {
            final boolean entered = ContextScope.enter(calls, context);
            try {
                final int code = calls.queryEvent(mark);
                if (code != cudaError.cudaErrorNotReady) {
                    check("cuEventQuery", code);
                }
                return code == CudaCalls.SUCCESS;
            } finally {
                ContextScope.leave(calls, entered);
            }
        } finally {
            captures.leave();
        }
    }

    /** {@inheritDoc} Not while a stream is captured. */
    @Override
    public void await(final long mark) {
        if (!captures.enter()) {
            return;
        }
        try {
            final boolean entered = ContextScope.enter(calls, context);
            try {
                check("cuEventSynchronize", calls.awaitEvent(mark));
            } finally {
                ContextScope.leave(calls, entered);
            }
        } finally {
            captures.leave();
        }
    }

    @Override
    public synchronized void release(final long mark) {
        events.release(mark);
    }

    /**
     * Waits for the work that is owed: without the monitor, since it may take as long as the work.
     *
     * @return false if it couldn't, since a stream is being captured
     */
    private boolean settle() {
        final Map<Long, Long> due;
        synchronized (this) {
            if (owed.isEmpty()) {
                return !captures.any();
            }
            due = new HashMap<>(owed);
        }
        for (final Map.Entry<Long, Long> each : due.entrySet()) {
            if (!captures.enter()) {
                return false;
            }
            try {
                synchronize(each.getKey());
            } catch (final CudaFailureException e) {
                // Another context that failed or is gone does no more work.
                if (each.getKey() == context || captures.any()) {
                    throw e;
                }
            } finally {
                captures.leave();
            }
            synchronized (this) {
                owed.remove(each.getKey(), each.getValue());
            }
        }
        return true;
    }

    private void synchronize(final long home) {
        final boolean entered = ContextScope.enter(calls, home);
        try {
            check("cuCtxSynchronize", calls.synchronize());
        } finally {
            ContextScope.leave(calls, entered);
        }
    }

    private void check(final String call, final int code) {
        ContextScope.check(calls, call, code);
    }
}
