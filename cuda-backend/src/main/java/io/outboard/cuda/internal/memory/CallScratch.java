package io.outboard.cuda.internal.memory;

import io.outboard.cuda.driver.DevicePointers;
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
    final CUstream stream = new CUstream();
    final CUevent event = new CUevent();

    private CallScratch() {}

    static CallScratch get() {
        return OF_THREAD.get();
    }

    /** With a stream and an event. */
    static CallScratch of(final long streamHandle, final long eventHandle) {
        final CallScratch scratch = get();
        DevicePointers.withHandle(scratch.stream, streamHandle);
        DevicePointers.withHandle(scratch.event, eventHandle);
        return scratch;
    }
}
