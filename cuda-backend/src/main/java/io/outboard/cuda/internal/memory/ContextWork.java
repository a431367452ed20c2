package io.outboard.cuda.internal.memory;

import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.pool.DeviceWork;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * This tells what has finished in one CUDA context, and in others whose work may use its memory.
 *
 * <p>A mark of all work is an event of the context itself ({@code cuCtxRecordEvent}): it covers every stream, known or
 * not, copies, graphs, and what destroyed streams had begun, and holds nothing up. With several contexts it is an event
 * in each, and is finished when all are. Where the driver or the JDK is too old, it is a ticket of a {@link
 * Synchronizer}.
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
 * <p>Every call goes to the driver and not to the runtime, whose last error is the program's. Safe for any number of
 * threads, none of which needs a context. Cost: 1 microsecond for a mark and its question, no garbage, and 64 events,
 * which are made at first.
 */
public final class ContextWork implements DeviceWork {

    private static final int MARKS_OF_ALL = 32;
    private static final int MARKS = 64;

    private static final long ALL_WORK = (1L << (MARKS_OF_ALL - 1)) - 1;

    /** This mark of all work is for {@link #awaitAll} alone: others come back only when somebody asks for memory. */
    private static final long BARRIER = ALL_WORK + 1;

    private static final long OF_STREAM = ~(ALL_WORK | BARRIER);
    private static final int NONE_UNUSED = Long.SIZE;

    /** A thread that waits asks after 5 microseconds, and then at intervals that grow to 100. */
    private static final long FIRST_PAUSE_NANOS = 5_000;

    private static final long LAST_PAUSE_NANOS = 100_000;

    private final CudaContext context;
    private final StreamCaptures captures;
    private final ContextMarks home;
    private final ContextMarks[] homeOnly;

    /** Bit i says that mark i isn't in use. */
    private final AtomicLong unused = new AtomicLong(~0L);

    private volatile boolean isClosed;

    /** This context comes first, and then the others. The array is replaced under the monitor, and never changed. */
    private volatile ContextMarks[] contexts;

    /** For each mark in use, the contexts in which it was recorded. Threads hand it on with the mark. */
    private final ContextMarks[][] recordedIn = new ContextMarks[MARKS][];

    /** This is null where contexts can be marked. */
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

    // What a pool asks

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
                // Its work must not be lost sight of.
                code = each.synchronize();
            }
            if (code == ContextMarks.CAPTURED) {
                return false;
            }
            check(each, "cuCtxRecordEvent", code);
        }
        return true;
    }

    /** Throws for this context. Another one that fails is broken or gone: it does no work, and must not keep memory. */
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

    /** {@inheritDoc} It asks again and again, so that a capture can begin, and keeps an interrupt for later. */
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

    /** {@inheritDoc} Captures that nobody announced are seen if their streams block, by the default stream. */
    @Override
    public boolean isCapturing() {
        return captures.any() || isCapturing(context.handle(), 0);
    }

    /** Answers whether a stream of a context is captured; stream 0 is that context's default one. */
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

    /** Asks the driver for a stream's number; where it can't tell, the handle has to do. */
    private long askId(final long stream) {
        final boolean entered = context.enter();
        try {
            final long[] id = CallScratch.get().handle;
            return context.calls().streamId(id, stream) == CudaCalls.SUCCESS ? id[0] : stream;
        } finally {
            context.leave(entered);
        }
    }

    /** {@inheritDoc} There is a mark for this alone. */
    @Override
    public void awaitAll() {
        long mark = markAll(ALL_WORK | BARRIER);
        while (mark == NO_MARK_LEFT && !isCapturing()) {
            // Another thread has the mark, and waits; this one's turn is next.
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

    // Contexts

    /** Has marks of all work cover another context from now on, which may use this one's memory. Idempotent. */
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

    /** Says that a context is gone, and so its work has finished. Nobody may be inside the guard of captures. */
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

    /** Does something, such as to end a context, while no thread of our own is in one. */
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
