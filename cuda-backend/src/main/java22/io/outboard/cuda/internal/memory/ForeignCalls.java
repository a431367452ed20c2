package io.outboard.cuda.internal.memory;

import static io.outboard.cuda.internal.memory.DriverLibrary.Functions.function;
import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The calls that a pool makes often, by {@code java.lang.foreign}, and the others by JCuda: JCuda takes 0.1 to 0.2 microseconds for what the
 * driver says in 0.04 (H100, driver 580, 2026-11-27). For JDK 22 and newer, and drivers for CUDA 12.5 and newer. Without
 * garbage, but for a segment of 8 bytes for each thread, virtual ones, too.
 */
final class ForeignCalls extends JCudaCalls {

    // In constants, so that calls are compiled.
    private static final MethodHandle CURRENT_CONTEXT = function("cuCtxGetCurrent", ADDRESS);
    private static final MethodHandle STREAM_CONTEXT = function("cuStreamGetCtx", JAVA_LONG, ADDRESS);
    private static final MethodHandle STREAM_ID = function("cuStreamGetId", JAVA_LONG, ADDRESS);
    private static final MethodHandle CAPTURE_STATUS = function("cuStreamIsCapturing", JAVA_LONG, ADDRESS);
    private static final MethodHandle RECORD_CONTEXT = function("cuCtxRecordEvent", JAVA_LONG, JAVA_LONG);
    private static final MethodHandle QUERY_EVENT = function("cuEventQuery", JAVA_LONG);

    /** Where the driver puts an answer, of 8 bytes or 4. */
    private static final ThreadLocal<MemorySegment> ANSWER =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(JAVA_LONG));

    /** JCuda's class of the driver. Threads that don't see it yet load it again, which does nothing. */
    private boolean isDriverLoaded;

    /** It captures nothing. */
    private interface Question {
        int ask(long first, long second, MemorySegment answer) throws Throwable;
    }

    /** The answer is 0 where there is none. */
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

    /** JCuda makes the first, so that a native library of it that is broken is found when a device is opened. */
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
        // An int: the driver knows no byte order in which that isn't where a long begins.
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
