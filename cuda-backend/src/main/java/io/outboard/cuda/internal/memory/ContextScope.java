package io.outboard.cuda.internal.memory;

/** A scope makes a CUDA context current until {@link #close} restores the previous one. Confined to one thread. */
public final class ContextScope implements AutoCloseable {

    private final CudaCalls calls;
    private final boolean pushed;

    /** Makes a context current, unless it is current already. */
    public ContextScope(final CudaCalls calls, final long context) {
        this.calls = calls;
        pushed = enter(calls, context);
    }

    @Override
    public void close() {
        leave(calls, pushed);
    }

    /** Makes a context current without garbage, and answers whether {@link #leave} must restore the previous one. */
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
