package io.outboard.cuda.internal.memory;

import io.outboard.cuda.driver.CudaFailureException;
import jcuda.runtime.cudaError;

/**
 * This class has the events by which the work of one context is marked. All events are made early, at once: while other
 * threads launch without pause, the driver takes milliseconds to make an event, or never returns, although it records
 * and queries events in microseconds (H100, driver 580, 2026-11-22).
 *
 * <p>Callers are inside the guard of {@link StreamCaptures}. Captures that nobody announced are seen if they show on
 * the default stream. Methods return codes, or {@link #CAPTURED}, and make no garbage. Safe for any number of threads,
 * as long as each event belongs to one mark at a time.
 */
// A scope takes effect while it is open, so its variable is never read.
@SuppressWarnings("try")
final class ContextMarks {

    /** The answer that a stream is being captured, so nothing was done; CUDA has no such code. */
    static final int CAPTURED = -1;

    /** The answer that work isn't finished. */
    static final int RUNNING = cudaError.cudaErrorNotReady;

    /** This interface is a call whose lambda captures nothing, and so makes no garbage. */
    private interface Call {
        int make(ContextMarks in, int mark, long stream);
    }

    private final CudaContext context;
    private final CudaCalls calls;
    private final long[] events;

    /** Tells whether the context is gone; its work has then finished, and the events no longer exist. */
    private volatile boolean ended;

    /** Makes the events, or throws a {@link CudaFailureException}. */
    ContextMarks(final CudaContext context, final int count) {
        this.context = context;
        events = new long[count];
        calls = context.calls();
        final long[] created = new long[1];
        try (ContextScope scope = new ContextScope(calls, context.handle())) {
            for (int i = 0; i < count; i++) {
                CudaFailures.check("cuEventCreate", StreamCaptures.relaxed(calls, () -> calls.createEvent(created)));
                events[i] = created[0];
            }
        }
    }

    long context() {
        return context.handle();
    }

    void end() {
        ended = true;
    }

    /** Marks all work of the context so far. */
    int record(final int mark) {
        return ask((in, of, unused) -> in.calls.recordContext(in.events[of], in.context()), mark, 0);
    }

    /** Marks the work of one stream so far. */
    int record(final int mark, final long stream) {
        return ask((in, of, from) -> in.calls.recordEvent(in.events[of], from), mark, stream);
    }

    int query(final int mark) {
        return ask((in, of, unused) -> in.calls.queryEvent(in.events[of]), mark, 0);
    }

    /** Asks whether all blocking streams have finished; the answer says nothing about other streams. */
    int queryDefaultStream() {
        return ask((in, unused, of) -> in.calls.queryStream(of), 0, 0);
    }

    int synchronize() {
        return ask((in, unused, unusedToo) -> in.calls.synchronize(), 0, 0);
    }

    private int ask(final Call call, final int mark, final long stream) {
        if (ended) {
            return CudaCalls.SUCCESS;
        }
        try {
            final boolean entered = context.enter();
            try {
                if (context.isCapturing(0) || (stream != 0 && context.isCapturing(stream))) {
                    return CAPTURED;
                }
                final int code = call.make(this, mark, stream);
                return CudaContext.isOfCapture(code) ? CAPTURED : code;
            } finally {
                context.leave(entered);
            }
        } catch (final CudaFailureException e) {
            return e.code();
        }
    }

    /** Destroys the events; the driver keeps an event of unfinished work until the work is done. */
    void destroyEvents() {
        try (ContextScope scope = new ContextScope(calls, context.handle())) {
            for (final long event : events) {
                calls.destroyEvent(event);
            }
        }
    }
}
