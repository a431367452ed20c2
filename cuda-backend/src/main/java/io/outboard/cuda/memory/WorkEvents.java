package io.outboard.cuda.memory;

import java.util.Arrays;

/**
 * The events that tell where work ends, and the tail: a stream of our own on which what other streams did so far is waited for.
 * Events are used again.
 *
 * <p>External lock required: the monitor of {@link ContextWork}; the context is current but where a method says otherwise.
 */
// A scope is used by being open.
@SuppressWarnings("try")
final class WorkEvents {

    private final CudaCalls calls;
    private final long context;
    private long[] unused = new long[8];
    private int unusedCount;

    /** 0 until it is needed. */
    private long tail;

    WorkEvents(final CudaCalls calls, final long context) {
        this.calls = calls;
        this.context = context;
    }

    /** Records an event where the work that the tail waits for ends. */
    long mark() {
        return mark(tail());
    }

    /** Records an event where a stream's work ends now. */
    long mark(final long stream) {
        final long event = unusedCount > 0 ? unused[--unusedCount] : newEvent();
        final int code = calls.recordEvent(event, stream);
        if (code != CudaCalls.SUCCESS) {
            release(event);
        }
        check("cuEventRecord", code);
        return event;
    }

    /** The event may be recorded again. */
    void release(final long event) {
        if (unusedCount == unused.length) {
            unused = Arrays.copyOf(unused, 2 * unusedCount);
        }
        unused[unusedCount++] = event;
    }

    /** Whether all that the tail waits for has finished. */
    boolean isTailIdle() {
        return tail == 0 || calls.queryStream(tail) == CudaCalls.SUCCESS;
    }

    /** Lets the tail wait for a stream's work so far. The wait is for the record, so the event may be used again. */
    void append(final long stream) {
        final long last = tail();
        final long event = mark(stream);
        try {
            check("cuStreamWaitEvent", calls.waitEvent(last, event));
        } finally {
            release(event);
        }
    }

    /** The same for a stream of any context, none of which needs to be current. */
    void append(final long stream, final long home) {
        try (ContextScope scope = new ContextScope(calls, home)) {
            if (home == context) {
                append(stream);
            } else {
                appendForeign(stream);
            }
        }
    }

    /** An event must be recorded in the context that it was made in. To wait for it is possible in any. */
    private void appendForeign(final long stream) {
        final long event = newEvent();
        try {
            check("cuEventRecord", calls.recordEvent(event, stream));
            try (ContextScope scope = new ContextScope(calls, context)) {
                check("cuStreamWaitEvent", calls.waitEvent(tail(), event));
            }
        } finally {
            check("cuEventDestroy", calls.destroyEvent(event));
        }
    }

    private long tail() {
        if (tail == 0) {
            final long[] created = new long[1];
            check("cuStreamCreate", calls.createStream(created));
            tail = created[0];
        }
        return tail;
    }

    private long newEvent() {
        final long[] created = new long[1];
        check("cuEventCreate", calls.createEvent(created));
        return created[0];
    }

    private void check(final String call, final int code) {
        ContextScope.check(calls, call, code);
    }
}
