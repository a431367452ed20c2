package io.outboard.cuda.memory;

import java.util.Arrays;
import java.util.stream.LongStream;
import jcuda.driver.CUstreamCaptureStatus;
import jcuda.driver.CUstream_flags;
import jcuda.runtime.cudaError;
import org.agrona.collections.LongHashSet;

/**
 * The streams of a context that somebody told of, stream 0 among them.
 *
 * <p>External lock required: the monitor of {@link ContextWork}, but for {@link #contains}, which is safe for any number of threads.
 */
final class KnownStreams {

    private final CudaCalls calls;
    private final long context;

    /** Replaced under the monitor, never changed; read without it by {@link #contains}. */
    private volatile long[] all = {ContextWork.DEFAULT_STREAM};

    /** Those that wait for stream 0, and it for them. */
    private final LongHashSet blocking = new LongHashSet();

    KnownStreams(final CudaCalls calls, final long context) {
        this.calls = calls;
        this.context = context;
    }

    boolean contains(final long stream) {
        for (final long known : all) {
            if (known == stream) {
                return true;
            }
        }
        return false;
    }

    long[] all() {
        return all;
    }

    boolean isBlocking(final long stream) {
        return blocking.contains(stream);
    }

    /** Whether there are such that stream 0 tells nothing of. */
    boolean someDoNotBlock() {
        return blocking.size() < all.length - 1;
    }

    void add(final long stream) {
        if (!contains(stream)) {
            final long[] more = Arrays.copyOf(all, all.length + 1);
            more[more.length - 1] = stream;
            if (isMadeBlocking(stream)) {
                blocking.add(stream);
            }
            // Release; pairs with the acquire in contains.
            all = more;
        }
    }

    void remove(final long stream) {
        // Release; pairs with the acquire in contains.
        all = LongStream.of(all).filter(known -> known != stream).toArray();
        blocking.remove(stream);
    }

    /** Where that can't be found out it isn't, and gets events of its own. */
    private boolean isMadeBlocking(final long stream) {
        final boolean entered = ContextScope.enter(calls, context);
        try {
            final int[] flags = CallScratch.get().status;
            return calls.streamFlags(flags, stream) == CudaCalls.SUCCESS
                    && (flags[0] & CUstream_flags.CU_STREAM_NON_BLOCKING) == 0;
        } finally {
            ContextScope.leave(calls, entered);
        }
    }

    /** Of any stream whose context is current. */
    boolean isCapturing(final long stream) {
        final int[] status = CallScratch.get().status;
        final int code = calls.captureStatus(status, stream);
        if (code == cudaError.cudaErrorStreamCaptureImplicit) {
            return true;
        }
        ContextScope.check(calls, "cuStreamIsCapturing", code);
        return status[0] != CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE;
    }
}
