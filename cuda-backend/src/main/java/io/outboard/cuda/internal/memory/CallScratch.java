package io.outboard.cuda.internal.memory;

import io.outboard.cuda.driver.DevicePointers;
import jcuda.driver.CUcontext;
import jcuda.driver.CUevent;
import jcuda.driver.CUstream;

/**
 * The objects in which a thread's calls of the driver pass handles and answers. They are used again and again: else
 * each call would leave a hundred bytes of garbage. Each is in use from just before a call to just after it.
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

    /** Answers the thread's objects, with the handles of a stream and an event. */
    static CallScratch of(final long streamHandle, final long eventHandle) {
        final CallScratch scratch = get();
        DevicePointers.withHandle(scratch.stream, streamHandle);
        DevicePointers.withHandle(scratch.event, eventHandle);
        return scratch;
    }
}
