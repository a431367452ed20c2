package io.outboard.cuda;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import jcuda.driver.CUstreamCaptureStatus;
import jcuda.runtime.cudaError;

/**
 * Streams and events whose work a test finishes by hand. Using what doesn't exist any more, which crashes a real program,
 * is an assertion error; what would break a capture breaks it.
 */
final class FakeStreams {

    private static final class Stream {
        final long context;
        final List<BooleanSupplier> work = new ArrayList<>();

        Stream(final long context) {
            this.context = context;
        }

        BooleanSupplier end() {
            final int count = work.size();
            return () -> work.subList(0, count).stream().allMatch(BooleanSupplier::getAsBoolean);
        }
    }

    private final Map<Long, Stream> streams = new HashMap<>();
    /** Of destroyed streams too: their work goes on. */
    private final List<Stream> everyStream = new ArrayList<>();

    private final Map<Long, BooleanSupplier> events = new HashMap<>();
    private final Set<Long> capturing = new HashSet<>();
    private boolean captureBroken;
    private long nextHandle = 0x5000;
    private int synchronizations;
    private int eventsCreated;

    long createStream(final long context) {
        assertTrue(context != 0, "a context is current");
        streams.put(++nextHandle, add(context));
        return nextHandle;
    }

    private Stream add(final long context) {
        final Stream stream = new Stream(context);
        everyStream.add(stream);
        return stream;
    }

    void destroyStream(final long stream) {
        assertTrue(streams.remove(stream) != null, "the stream exists");
    }

    /** Work that has finished once {@code finished} says so. */
    void submit(final long context, final long stream, final BooleanSupplier finished) {
        streamAt(context, stream).work.add(finished);
    }

    private Stream streamAt(final long context, final long stream) {
        if (stream == 0) {
            return streams.computeIfAbsent(-context, key -> add(context));
        }
        final Stream found = streams.get(stream);
        assertTrue(found != null, "stream 0x" + Long.toHexString(stream) + " exists");
        return found == null ? add(context) : found;
    }

    int beginCapture(final long stream) {
        return capturing.add(stream) ? cudaError.cudaSuccess : cudaError.cudaErrorIllegalState;
    }

    /** Whether nothing broke it. */
    boolean endCapture(final long stream) {
        capturing.remove(stream);
        final boolean whole = !captureBroken;
        captureBroken = false;
        return whole;
    }

    /** What {@code cudaMalloc} needs; where it isn't so, that call breaks the capture. */
    boolean allowsUnsafeCalls() {
        captureBroken |= !capturing.isEmpty();
        return capturing.isEmpty();
    }

    int synchronizations() {
        return synchronizations;
    }

    int eventsCreated() {
        return eventsCreated;
    }

    int synchronize(final long context) {
        synchronizations++;
        if (!capturing.isEmpty()) {
            captureBroken = true;
            return cudaError.cudaErrorStreamCaptureUnsupported;
        }
        final boolean idle = everyStream.stream()
                .filter(stream -> stream.context == context)
                .allMatch(stream -> stream.end().getAsBoolean());
        assertTrue(idle, "a test must not wait for ever");
        return cudaError.cudaSuccess;
    }

    long createEvent(final long context) {
        assertTrue(context != 0, "a context is current");
        eventsCreated++;
        events.put(++nextHandle, () -> true);
        return nextHandle;
    }

    int record(final long context, final long event, final long stream) {
        final Stream found = streamAt(context, stream);
        if (found.context != context) {
            return cudaError.cudaErrorInvalidResourceHandle;
        }
        if (capturing.contains(stream) || (stream == 0 && !capturing.isEmpty())) {
            captureBroken = true;
            return cudaError.cudaErrorStreamCaptureImplicit;
        }
        events.put(event, found.end());
        return cudaError.cudaSuccess;
    }

    int await(final long context, final long stream, final long event) {
        streamAt(context, stream).work.add(eventAt(event));
        return cudaError.cudaSuccess;
    }

    int query(final long event) {
        return eventAt(event).getAsBoolean() ? cudaError.cudaSuccess : cudaError.cudaErrorNotReady;
    }

    int synchronizeEvent(final long event) {
        assertTrue(eventAt(event).getAsBoolean(), "a test must not wait for ever");
        return cudaError.cudaSuccess;
    }

    private BooleanSupplier eventAt(final long event) {
        final BooleanSupplier found = events.get(event);
        assertTrue(found != null, "event 0x" + Long.toHexString(event) + " exists");
        return found == null ? () -> true : found;
    }

    /** As the driver: a captured stream shows on stream 0, too, if it blocks, which all of these do. */
    int captureStatus(final long context, final int[] status, final long stream) {
        streamAt(context, stream);
        if (stream == 0 && !capturing.isEmpty()) {
            return cudaError.cudaErrorStreamCaptureImplicit;
        }
        status[0] = capturing.contains(stream)
                ? CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
                : CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE;
        return cudaError.cudaSuccess;
    }
}
