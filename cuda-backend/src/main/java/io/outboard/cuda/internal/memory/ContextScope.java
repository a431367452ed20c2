package io.outboard.cuda.internal.memory;

/** A CUDA context, current on a thread until {@link #close} restores the one before. Confined to one thread. */
public final class ContextScope implements AutoCloseable {

    private final CudaCalls calls;
    private final boolean pushed;

    /** Makes a context current, unless it is. */
    public ContextScope(final CudaCalls calls, final long context) {
        this.calls = calls;
        pushed = enter(calls, context);
    }

    @Override
    public void close() {
        leave(calls, pushed);
    }

    /** Does the same without an object, so without garbage, and answers whether {@link #leave} has anything to do. */
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
