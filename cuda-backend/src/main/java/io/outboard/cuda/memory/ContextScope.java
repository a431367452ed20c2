package io.outboard.cuda.memory;

/**
 * A CUDA context made current on the calling thread for the span of a few calls; closing it makes current what was
 * before. Confined to one thread.
 *
 * <p>Not for applications.
 */
public final class ContextScope implements AutoCloseable {

    private final CudaCalls calls;
    private final boolean pushed;

    /**
     * Makes a context current, if it isn't.
     *
     * @param calls CUDA
     * @param context its handle
     * @throws CudaFailureException if that fails; the current context is then what it was
     */
    public ContextScope(final CudaCalls calls, final long context) {
        this.calls = calls;
        final long[] current = CallScratch.get().handle;
        check(calls, "cuCtxGetCurrent", calls.currentContext(current));
        pushed = current[0] != context;
        if (pushed) {
            check(calls, "cuCtxPushCurrent", calls.pushContext(context));
        }
    }

    /** What the context's device reports, in bytes. */
    public record Memory(long freeBytes, long totalBytes) {}

    Memory memory() {
        final long[] freeBytes = new long[1];
        final long[] totalBytes = new long[1];
        check(calls, "cuMemGetInfo", calls.contextMemoryInfo(freeBytes, totalBytes));
        return new Memory(freeBytes[0], totalBytes[0]);
    }

    @Override
    public void close() {
        if (pushed) {
            check(calls, "cuCtxPopCurrent", calls.popContext());
        }
    }

    /** Throws if a call of the driver failed; unlike the runtime, that keeps no last error to be cleared. */
    public static void check(final CudaCalls calls, final String call, final int code) {
        if (code != CudaCalls.SUCCESS) {
            throw new CudaFailureException(call, code, calls.nameOf(code));
        }
    }
}
