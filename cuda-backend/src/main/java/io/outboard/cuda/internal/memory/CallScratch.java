package io.outboard.cuda.internal.memory;

import io.outboard.cuda.driver.DevicePointers;
import jcuda.driver.CUcontext;
import jcuda.driver.CUevent;
import jcuda.driver.CUstream;

/**
 * This class has the objects in which a thread's calls of the driver pass handles and answers. The objects are reused,
 * as each call would otherwise leave a hundred bytes of garbage. Each object is in use only during a call.
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

    /** Answers the thread's objects, with the given handles of a stream and an event. */
    static CallScratch of(final long streamHandle, final long eventHandle) {
        final CallScratch scratch = get();
        DevicePointers.withHandle(scratch.stream, streamHandle);
        DevicePointers.withHandle(scratch.event, eventHandle);
        return scratch;
    }
}
