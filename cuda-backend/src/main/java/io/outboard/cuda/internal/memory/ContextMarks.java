package io.outboard.cuda.internal.memory;

import io.outboard.cuda.driver.CudaFailureException;
import jcuda.runtime.cudaError;

/**
 * The events by which the work of one context is marked. All are made at once, early: beside threads that launch
 * without pause, the driver takes milliseconds to make one, or never returns, while it records and queries in
 * microseconds (H100, driver 580, 2026-11-22).
 *
 * <p>Callers are inside the guard of {@link StreamCaptures}. Captures that nobody announced are seen where they show on
 * the default stream. Answers are codes, or {@link #CAPTURED}. Safe for any number of threads, as long as each event is
 * one mark's. They make no garbage.
 */
// A scope is used by being open.
@SuppressWarnings("try")
final class ContextMarks {

    /** This answer says that a stream is being captured, so nothing was done. It is none of CUDA's codes. */
    static final int CAPTURED = -1;

    /** This answer says that work isn't finished. */
    static final int RUNNING = cudaError.cudaErrorNotReady;

    /** A call that captures nothing, so that it makes no garbage. */
    private interface Call {
        int make(ContextMarks in, int mark, long stream);
    }

    private final CudaContext context;
    private final CudaCalls calls;
    private final long[] events;

    /** The context is gone: its work has finished, and it has no events. */
    private volatile boolean ended;

    /** Makes the events; {@link CudaFailureException} if that fails. */
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

    /** Asks whether all streams that block have finished; of others that tells nothing. */
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

    /** Destroys the events; the driver keeps those of unfinished work until that is done. */
    void destroyEvents() {
        try (ContextScope scope = new ContextScope(calls, context.handle())) {
            for (final long event : events) {
                calls.destroyEvent(event);
            }
        }
    }
}
