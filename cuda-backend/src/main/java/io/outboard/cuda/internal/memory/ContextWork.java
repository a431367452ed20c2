package io.outboard.cuda.internal.memory;

import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.pool.DeviceWork;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * This class tells what has finished in one CUDA context, and in other contexts whose work may use its memory.
 *
 * <p>A mark of all work is an event of the context itself ({@code cuCtxRecordEvent}): the event covers every stream,
 * known or not, copies, graphs, and the unfinished work of destroyed streams, and delays none of them. With several
 * contexts a mark is an event in each context, and is finished when all events are. Where the driver or the JDK is too
 * old, a mark is a ticket of a {@link Synchronizer}.
 *
 * <pre>
 *   mark   0 to 30    of all work: event of that number in each context that was there; 31 the same, for barriers
 *         32 to 63    of one stream: event of that number in this context
 *         64 ...      ticket 0 ...
 * </pre>
 *
 * <p>While a stream is captured into a graph, nothing is marked, asked or waited for: {@link StreamCaptures} guards the
 * moment at which an announced capture begins, and nobody stays inside that guard for longer than a question takes,
 * except to synchronise.
 *
 * <p>Every call goes to the driver and not to the runtime, whose last error belongs to the program. Safe for any number
 * of threads, none of which needs a context. Cost: 1 microsecond for a mark and its question, no garbage, and 64
 * events, which are made by the constructor.
 */
public final class ContextWork implements DeviceWork {

    private static final int MARKS_OF_ALL = 32;
    private static final int MARKS = 64;

    private static final long ALL_WORK = (1L << (MARKS_OF_ALL - 1)) - 1;

    /**
     * The mark of all work that only {@link #awaitAll} uses, because the other marks are released only when somebody
     * asks for memory.
     */
    private static final long BARRIER = ALL_WORK + 1;

    private static final long OF_STREAM = ~(ALL_WORK | BARRIER);
    private static final int NONE_UNUSED = Long.SIZE;

    /** The first interval at which a waiting thread asks; the intervals grow to 100 microseconds. */
    private static final long FIRST_PAUSE_NANOS = 5_000;

    private static final long LAST_PAUSE_NANOS = 100_000;

    private final CudaContext context;
    private final StreamCaptures captures;
    private final ContextMarks home;
    private final ContextMarks[] homeOnly;

    /** The marks that aren't in use, as a bit for each mark. */
    private final AtomicLong unused = new AtomicLong(~0L);

    private volatile boolean isClosed;

    /** The contexts whose work is marked, this one first. The array is replaced under the monitor and never changed. */
    private volatile ContextMarks[] contexts;

    /** For each mark in use, the contexts in which it was recorded. A thread hands on the entry with the mark. */
    private final ContextMarks[][] recordedIn = new ContextMarks[MARKS][];

    /** The substitute for marks of contexts; null where contexts can be marked. */
    private final @Nullable Synchronizer synchronizer;

    private final long defaultStreamId;

    /** Makes the events, or throws a {@link CudaFailureException}. */
    public ContextWork(final CudaContext context) {
        this.context = context;
        captures = context.captures();
        home = new ContextMarks(context, MARKS);
        homeOnly = new ContextMarks[] {home};
        contexts = homeOnly;
        synchronizer = context.calls().recordsContexts() ? null : new Synchronizer(() -> contexts, captures);
        defaultStreamId = askId(0);
    }

    // The methods below are what a pool asks.

    @Override
    public long mark() {
        return markAll(ALL_WORK);
    }

    private long markAll(final long kind) {
        if (synchronizer != null) {
            return captures.any() ? NO_MARK : MARKS + synchronizer.mark();
        }
        return mark(kind, 0);
    }

    /**
     * {@inheritDoc}
     *
     * @param stream {@inheritDoc}; the handle of a thread's own default stream is that of the calling thread
     */
    @Override
    public long mark(final long stream) {
        return mark(OF_STREAM, stream);
    }

    private long mark(final long kind, final long stream) {
        final int mark = claim(kind);
        if (mark == NONE_UNUSED) {
            return isClosed ? NO_MARK : NO_MARK_LEFT;
        }
        if (!captures.enter()) {
            release(mark);
            return NO_MARK;
        }
        boolean marked = false;
        try {
            marked = kind == OF_STREAM ? recordStream(mark, stream) : recordAll(mark);
            return marked ? mark : NO_MARK;
        } finally {
            captures.leave();
            if (!marked) {
                release(mark);
            }
        }
    }

    private int claim(final long kind) {
        while (true) {
            final long now = unused.get();
            final int mark = Long.numberOfTrailingZeros(now & kind);
            if (mark == NONE_UNUSED || unused.compareAndSet(now, now & ~(1L << mark))) {
                return mark;
            }
        }
    }

    private boolean recordStream(final int mark, final long stream) {
        recordedIn[mark] = homeOnly;
        final int code = home.record(mark, stream);
        check(home, "cuEventRecord", code == ContextMarks.CAPTURED ? CudaCalls.SUCCESS : code);
        return code != ContextMarks.CAPTURED;
    }

    private boolean recordAll(final int mark) {
        final ContextMarks[] all = contexts;
        recordedIn[mark] = all;
        for (final ContextMarks each : all) {
            int code = each.record(mark);
            if (code != CudaCalls.SUCCESS && code != ContextMarks.CAPTURED && each != home) {
                // The context's work must be covered, even without an event.
                code = each.synchronize();
            }
            if (code == ContextMarks.CAPTURED) {
                return false;
            }
            check(each, "cuCtxRecordEvent", code);
        }
        return true;
    }

    /**
     * Throws if a call failed in this context. Another context whose call failed is broken or gone, so it does no work,
     * and must not keep memory from being reused.
     */
    private void check(final ContextMarks where, final String call, final int code) {
        if (where == home) {
            CudaFailures.check(call, code);
        } else if (code != CudaCalls.SUCCESS) {
            contextEnded(where.context());
        }
    }

    @Override
    public boolean isFinished(final long mark) {
        return ask(mark) == CudaCalls.SUCCESS;
    }

    /** Answers a code of {@link ContextMarks}. */
    private int ask(final long mark) {
        if (synchronizer != null && mark >= MARKS) {
            return synchronizer.ask(mark - MARKS);
        }
        if (!captures.enter()) {
            return ContextMarks.CAPTURED;
        }
        try {
            for (final ContextMarks each : recordedIn[(int) mark]) {
                final int code = each.query((int) mark);
                if (code == ContextMarks.RUNNING || code == ContextMarks.CAPTURED) {
                    return code;
                }
                check(each, "cuEventQuery", code);
            }
            return CudaCalls.SUCCESS;
        } finally {
            captures.leave();
        }
    }

    /**
     * {@inheritDoc} The method asks again and again instead of waiting in the driver, so that a capture can begin, and
     * restores an interrupt at its end.
     */
    @Override
    public void await(final long mark) {
        boolean interrupted = false;
        long pauseNanos = FIRST_PAUSE_NANOS;
        try {
            while (ask(mark) == ContextMarks.RUNNING) {
                LockSupport.parkNanos(this, pauseNanos);
                pauseNanos = Math.min(2 * pauseNanos, LAST_PAUSE_NANOS);
                interrupted |= Thread.interrupted();
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public void release(final long mark) {
        if (mark < MARKS) {
            unused.accumulateAndGet(1L << mark, (now, released) -> now | released);
        }
    }

    /** {@inheritDoc} Captures that nobody announced are seen on the default stream, if they are of blocking streams. */
    @Override
    public boolean isCapturing() {
        return captures.any() || isCapturing(context.handle(), 0);
    }

    /** Answers whether a stream of a context is captured; stream 0 is that context's default stream. */
    public boolean isCapturing(final long home, final long stream) {
        final CudaContext itsContext = context.other(home);
        final boolean entered = itsContext.enter();
        try {
            return itsContext.isCapturing(stream);
        } finally {
            itsContext.leave(entered);
        }
    }

    @Override
    public long idOf(final long stream) {
        return stream == 0 ? defaultStreamId : askId(stream);
    }

    /** Asks the driver for a stream's number; where the driver can't tell the number, the handle stands for it. */
    private long askId(final long stream) {
        final boolean entered = context.enter();
        try {
            final long[] id = CallScratch.get().handle;
            return context.calls().streamId(id, stream) == CudaCalls.SUCCESS ? id[0] : stream;
        } finally {
            context.leave(entered);
        }
    }

    /** {@inheritDoc} One mark is reserved for this method. */
    @Override
    public void awaitAll() {
        long mark = markAll(ALL_WORK | BARRIER);
        while (mark == NO_MARK_LEFT && !isCapturing()) {
            // Another thread has the reserved mark and waits; this thread takes the mark afterwards.
            LockSupport.parkNanos(this, FIRST_PAUSE_NANOS);
            mark = markAll(ALL_WORK | BARRIER);
        }
        if (mark >= 0) {
            try {
                await(mark);
            } finally {
                release(mark);
            }
        }
    }

    // The methods below are about contexts.

    /** Makes marks of all work cover another context, too, whose work may use this context's memory. Idempotent. */
    public void add(final long other) {
        if (covers(other)) {
            return;
        }
        synchronized (this) {
            if (!covers(other)) {
                final ContextMarks[] more = Arrays.copyOf(contexts, contexts.length + 1);
                more[more.length - 1] = new ContextMarks(context.other(other), synchronizer == null ? MARKS_OF_ALL : 0);
                contexts = more;
            }
        }
    }

    /** Answers whether marks of all work cover a context; they always cover this one. */
    public boolean covers(final long handle) {
        for (final ContextMarks each : contexts) {
            if (each.context() == handle) {
                return true;
            }
        }
        return false;
    }

    /** Says that a context is gone, so its work has finished. Nobody may be inside the guard of captures. */
    public synchronized void contextEnded(final long handle) {
        if (handle == context.handle() && synchronizer != null) {
            synchronizer.end();
        }
        for (final ContextMarks each : contexts) {
            if (each.context() == handle) {
                each.end();
            }
        }
        contexts = Arrays.stream(contexts)
                .filter(each -> each == home || each.context() != handle)
                .toArray(ContextMarks[]::new);
    }

    /** Runs an action, such as the end of a context, while no thread of our own is in a context. */
    public void whileThreadsRest(final Runnable action) {
        if (synchronizer == null) {
            action.run();
        } else {
            synchronizer.whileResting(action);
        }
    }

    /** Destroys the events, unless a mark is in use. From then on nothing can be marked. */
    public synchronized void close() {
        if (unused.compareAndSet(~0L, 0)) {
            isClosed = true;
            for (final ContextMarks each : contexts) {
                each.destroyEvents();
            }
        }
    }
}
