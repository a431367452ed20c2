package io.outboard.cuda.internal.memory;

/**
 * A CUDA context made current on the calling thread for the span of a few calls; closing it makes current what was
 * before. Confined to one thread.
 */
public final class ContextScope implements AutoCloseable {

    private final CudaCalls calls;
    private final boolean pushed;

    /** Makes a context current, if it isn't. */
    public ContextScope(final CudaCalls calls, final long context) {
        this.calls = calls;
        pushed = enter(calls, context);
    }

    @Override
    public void close() {
        leave(calls, pushed);
    }

    /** The same without an object, where a call must make no garbage. Answers whether {@link #leave} has anything to do. */
    static boolean enter(final CudaCalls calls, final long context) {
        final long[] current = CallScratch.get().handle;
        CudaFailures.check("cuCtxGetCurrent", calls.currentContext(current));
        if (current[0] == context) {
            return false;
        }
        CudaFailures.check("cuCtxPushCurrent", calls.pushContext(context));
        return true;
    }

    static void leave(final CudaCalls calls, final boolean entered) {
        if (entered) {
            CudaFailures.check("cuCtxPopCurrent", calls.popContext());
        }
    }
}
