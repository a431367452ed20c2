package io.outboard.cuda.internal.memory;

import static io.outboard.cuda.internal.memory.DriverLibrary.Functions.function;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * This class makes the calls that a pool makes often by {@code java.lang.foreign}, and the others by JCuda, which takes
 * 0.1 to 0.2 microseconds for an answer that the driver gives in 0.04 (H100, driver 580, 2026-11-27). The class needs
 * JDK 22, and a driver for CUDA 12.5. Calls make no garbage, except for a segment of 8 bytes for each thread, virtual
 * threads included.
 */
final class ForeignCalls extends JCudaCalls {

    // The handles are constants, so that calls are compiled.
    private static final MethodHandle CURRENT_CONTEXT = function("cuCtxGetCurrent", ADDRESS);
    private static final MethodHandle STREAM_CONTEXT = function("cuStreamGetCtx", JAVA_LONG, ADDRESS);
    private static final MethodHandle STREAM_ID = function("cuStreamGetId", JAVA_LONG, ADDRESS);
    private static final MethodHandle CAPTURE_STATUS = function("cuStreamIsCapturing", JAVA_LONG, ADDRESS);
    private static final MethodHandle RECORD_CONTEXT = function("cuCtxRecordEvent", JAVA_LONG, JAVA_LONG);
    private static final MethodHandle QUERY_EVENT = function("cuEventQuery", JAVA_LONG);

    /** The memory into which the driver writes an answer of 8 or 4 bytes. */
    private static final ThreadLocal<MemorySegment> ANSWER =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(JAVA_LONG));

    /**
     * Tells whether JCuda's class for the driver is loaded. A thread that doesn't see the field set loads the class
     * again, which does nothing.
     */
    private boolean isDriverLoaded;

    /** This interface is a question whose lambda captures nothing, and so makes no garbage. */
    private interface Question {
        int ask(long first, long second, MemorySegment answer) throws Throwable;
    }

    /** Asks a question; the answer is 0 if the driver gives none. */
    private static int ask(final Question question, final long first, final long second, final long[] answer) {
        final MemorySegment segment = ANSWER.get();
        segment.set(JAVA_LONG, 0, 0);
        try {
            final int code = question.ask(first, second, segment);
            answer[0] = segment.get(JAVA_LONG, 0);
            return code;
        } catch (final Throwable e) {
            throw DriverLibrary.unexpected(e);
        }
    }

    /**
     * {@inheritDoc} JCuda makes the first call, so that a broken library of JCuda is detected when a device is opened.
     */
    @Override
    public int currentContext(final long[] context) {
        if (!isDriverLoaded) {
            final int code = super.currentContext(context);
            isDriverLoaded = true;
            return code;
        }
        return ask((no, nor, answer) -> (int) CURRENT_CONTEXT.invokeExact(answer), 0, 0, context);
    }

    @Override
    public int streamContext(final long[] context, final long stream) {
        return stream == 0
                ? currentContext(context)
                : ask((of, no, answer) -> (int) STREAM_CONTEXT.invokeExact(of, answer), stream, 0, context);
    }

    @Override
    public int streamId(final long[] id, final long stream) {
        return ask((of, no, answer) -> (int) STREAM_ID.invokeExact(of, answer), stream, 0, id);
    }

    @Override
    public int captureStatus(final int[] status, final long stream) {
        final long[] answer = CallScratch.get().handle;
        final int code = ask((of, no, to) -> (int) CAPTURE_STATUS.invokeExact(of, to), stream, 0, answer);
        // The driver writes an int, and little-endian is the only byte order that it knows.
        status[0] = (int) answer[0];
        return code;
    }

    @Override
    public boolean recordsContexts() {
        return true;
    }

    @Override
    public int recordContext(final long event, final long context) {
        return ask((of, at, no) -> (int) RECORD_CONTEXT.invokeExact(of, at), context, event, CallScratch.get().handle);
    }

    @Override
    public int queryEvent(final long event) {
        return ask((of, no, nor) -> (int) QUERY_EVENT.invokeExact(of), event, 0, CallScratch.get().handle);
    }
}
