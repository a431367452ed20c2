package io.outboard.cuda.internal.memory;

/**
 * This class has the arrays in which a thread gets answers of the driver. The arrays are reused, as each call would
 * otherwise leave garbage. Each array is in use only during a call.
 */
final class CallScratch {

    private static final ThreadLocal<CallScratch> OF_THREAD = ThreadLocal.withInitial(CallScratch::new);

    final long[] handle = new long[1];
    final int[] status = new int[1];

    private CallScratch() {}

    static CallScratch get() {
        return OF_THREAD.get();
    }
}
