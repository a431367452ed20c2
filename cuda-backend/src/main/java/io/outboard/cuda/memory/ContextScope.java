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
        pushed = enter(calls, context);
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
        leave(calls, pushed);
    }

    /**
     * The same without an object, where a call must make no garbage.
     *
     * @return whether {@link #leave} has anything to do
     * @throws CudaFailureException if that fails; the current context is then what it was
     */
    static boolean enter(final CudaCalls calls, final long context) {
        final long[] current = CallScratch.get().handle;
        check(calls, "cuCtxGetCurrent", calls.currentContext(current));
        if (current[0] == context) {
            return false;
        }
        check(calls, "cuCtxPushCurrent", calls.pushContext(context));
        return true;
    }

    static void leave(final CudaCalls calls, final boolean entered) {
        if (entered) {
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
