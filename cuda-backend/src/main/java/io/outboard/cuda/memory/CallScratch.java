package io.outboard.cuda.memory;

import jcuda.driver.CUcontext;
import jcuda.driver.CUevent;
import jcuda.driver.CUstream;

/**
 * What a thread's calls of the driver pass handles and answers in, used again and again: recycling would otherwise make a
 * hundred bytes of garbage with each of them. Each is used from just before a call to just after it.
 */
final class CallScratch {

    private static final ThreadLocal<CallScratch> OF_THREAD = ThreadLocal.withInitial(CallScratch::new);

    final long[] handle = new long[1];
    final int[] status = new int[1];
    final CUcontext context = new CUcontext();
    private final CUstream stream = new CUstream();
    private final CUevent event = new CUevent();

    private CallScratch() {}

    static CallScratch get() {
        return OF_THREAD.get();
    }

    CUstream stream(final long streamHandle) {
        return DevicePointers.withHandle(stream, streamHandle);
    }

    CUevent event(final long eventHandle) {
        return DevicePointers.withHandle(event, eventHandle);
    }
}
