package io.outboard.cuda.memory;

import jcuda.runtime.cudaError;

/**
 * The events by which the work of one context is marked. All are made at once, early: beside threads that launch without pause to make one
 * takes milliseconds, or never returns, while to record and to query takes microseconds (H100, driver 580, 2026-11-22).
 *
 * <p>Whoever asks is inside {@link StreamCaptures}' guard. Captures that nobody announced are seen where they show on the default stream.
 * Answers are codes, or {@link #CAPTURED}. Safe for any number of threads, as long as each event is one mark's. Makes no garbage.
 */
// A scope is used by being open.
@SuppressWarnings("try")
final class ContextMarks {

    /** A stream is being captured, so nothing was done. None of CUDA's codes. */
    static final int CAPTURED = -1;

    /** What a question is answered with while there is work. */
    static final int RUNNING = cudaError.cudaErrorNotReady;

    /** Captures nothing, so that it makes no garbage. */
    private interface Question {
        int ask(CudaCalls calls, long event, long handle);
    }

    private final CudaContext context;
    private final long[] events;

    /** Its work has finished, and its events are gone. */
    private volatile boolean ended;

    /** Makes the events; {@link CudaFailureException} if that fails. */
    ContextMarks(final CudaContext context, final int count) {
        this.context = context;
        events = new long[count];
        final CudaCalls calls = context.calls();
        final long[] created = new long[1];
        try (ContextScope scope = new ContextScope(calls, context.handle())) {
            for (int i = 0; i < count; i++) {
                CudaFailureException.check(
                        "cuEventCreate", StreamCaptures.relaxed(calls, () -> calls.createEvent(created)));
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
        return ask(0, events[mark], context.handle(), CudaCalls::recordContext);
    }

    /** Marks the work of one stream so far. */
    int record(final int mark, final long stream) {
        return ask(stream, events[mark], stream, CudaCalls::recordEvent);
    }

    int query(final int mark) {
        return ask(0, events[mark], 0, (calls, event, unused) -> calls.queryEvent(event));
    }

    /** Whether all that blocks has finished; of other streams that tells nothing. */
    int queryDefaultStream() {
        return ask(0, 0, 0, (calls, event, stream) -> calls.queryStream(stream));
    }

    int synchronize() {
        return ask(0, 0, 0, (calls, event, unused) -> calls.synchronize());
    }

    /** Of a stream that mustn't be captured, nor the default one. */
    private int ask(final long stream, final long event, final long handle, final Question question) {
        if (ended) {
            return CudaCalls.SUCCESS;
        }
        try {
            final boolean entered = context.enter();
            try {
                if (context.isCapturing(0) || (stream != 0 && context.isCapturing(stream))) {
                    return CAPTURED;
                }
                final int code = question.ask(context.calls(), event, handle);
                return CudaContext.isOfCapture(code) ? CAPTURED : code;
            } finally {
                context.leave(entered);
            }
        } catch (final CudaFailureException e) {
            return e.code();
        }
    }

    /** What still runs keeps its resources: the driver waits with that. */
    void destroyEvents() {
        try (ContextScope scope = new ContextScope(context.calls(), context.handle())) {
            for (final long event : events) {
                context.calls().destroyEvent(event);
            }
        }
    }
}
