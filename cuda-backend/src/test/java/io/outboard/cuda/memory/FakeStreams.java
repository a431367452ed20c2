package io.outboard.cuda.memory;

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
public final class FakeStreams {

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

    private static final class Event {
        final long context;
        BooleanSupplier finished = () -> true;

        Event(final long context) {
            this.context = context;
        }
    }

    private final Map<Long, Event> events = new HashMap<>();
    private final Set<Long> capturing = new HashSet<>();
    private boolean captureBroken;
    private long brokenContext;
    private long nextHandle = 0x5000;
    private long handleToUse;
    private int synchronizations;
    private int eventsCreated;
    private int recordFailure;
    private Runnable afterCaptureStatus = () -> {};
    private long askedStream;
    private Runnable beforeSynchronize = () -> {};

    public long createStream(final long context) {
        assertTrue(context != 0, "a context is current");
        final long handle = handleToUse == 0 ? ++nextHandle : handleToUse;
        handleToUse = 0;
        streams.put(handle, add(context));
        return handle;
    }

    /** For the next stream. */
    public void useHandleAgain(final long handle) {
        handleToUse = handle;
    }

    private Stream add(final long context) {
        final Stream stream = new Stream(context);
        everyStream.add(stream);
        return stream;
    }

    public void destroyStream(final long stream) {
        assertTrue(streams.remove(stream) != null, "the stream exists");
    }

    /** Work that has finished once {@code finished} says so. */
    public void submit(final long context, final long stream, final BooleanSupplier finished) {
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

    public int beginCapture(final long stream) {
        return capturing.add(stream) ? cudaError.cudaSuccess : cudaError.cudaErrorIllegalState;
    }

    /** Whether nothing broke it. */
    public boolean endCapture(final long stream) {
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

    public int synchronizations() {
        return synchronizations;
    }

    public int eventsCreated() {
        return eventsCreated;
    }

    public boolean isCaptureBroken() {
        return captureBroken;
    }

    /** Does something whenever somebody synchronises a context, before that. */
    public void beforeSynchronize(final Runnable action) {
        beforeSynchronize = action;
    }

    int synchronize(final long context) {
        if (context == brokenContext) {
            return cudaError.cudaErrorIllegalAddress;
        }
        synchronizations++;
        beforeSynchronize.run();
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
        events.put(++nextHandle, new Event(context));
        return nextHandle;
    }

    void destroyEvent(final long event) {
        eventAt(event);
        events.remove(event);
    }

    public int eventsOut() {
        return events.size();
    }

    /** A kernel of this context has failed, so all calls in it do. */
    public void breakContext(final long context) {
        brokenContext = context;
    }

    /** Lets the next record fail. */
    public void failRecord(final int code) {
        recordFailure = code;
    }

    /** Does something once, when the next question whether this stream is captured has been answered. */
    public void afterCaptureStatus(final long stream, final Runnable action) {
        afterCaptureStatus = action;
        askedStream = stream;
    }

    int record(final long context, final long event, final long stream) {
        final Stream found = streamAt(context, stream);
        if (found.context != eventAt(event).context) {
            return cudaError.cudaErrorInvalidResourceHandle;
        }
        if (!capturing.isEmpty()) {
            // Strict: CUDA bears it on some streams.
            captureBroken = true;
            return cudaError.cudaErrorStreamCaptureImplicit;
        }
        if (recordFailure != 0) {
            final int failure = recordFailure;
            recordFailure = 0;
            return failure;
        }
        eventAt(event).finished = found.end();
        return cudaError.cudaSuccess;
    }

    int await(final long context, final long stream, final long event) {
        final Stream waiting = streamAt(context, stream);
        assertTrue(waiting.context == context, "the stream is the current context's");
        waiting.work.add(eventAt(event).finished);
        return cudaError.cudaSuccess;
    }

    int query(final long event) {
        if (!capturing.isEmpty()) {
            captureBroken = true;
            return cudaError.cudaErrorStreamCaptureUnsupported;
        }
        return eventAt(event).finished.getAsBoolean() ? cudaError.cudaSuccess : cudaError.cudaErrorNotReady;
    }

    int synchronizeEvent(final long event) {
        if (!capturing.isEmpty()) {
            captureBroken = true;
            return cudaError.cudaErrorStreamCaptureUnsupported;
        }
        assertTrue(eventAt(event).finished.getAsBoolean(), "a test must not wait for ever");
        return cudaError.cudaSuccess;
    }

    private Event eventAt(final long event) {
        final Event found = events.get(event);
        assertTrue(found != null, "event 0x" + Long.toHexString(event) + " exists");
        return found == null ? new Event(0) : found;
    }

    /** As the driver: a captured stream shows on stream 0, too, if it blocks, which all of these do. */
    int captureStatus(final long context, final int[] status, final long stream) {
        final boolean captured = capturing.contains(stream);
        final Stream found = streamAt(context, stream);
        final boolean implicit = stream == 0
                && capturing.stream().map(streams::get).anyMatch(each -> each != null && each.context == context);
        if (stream == askedStream) {
            final Runnable next = afterCaptureStatus;
            afterCaptureStatus = () -> {};
            next.run();
        }
        if (found.context != context) {
            return cudaError.cudaErrorInvalidResourceHandle;
        }
        if (implicit) {
            return cudaError.cudaErrorStreamCaptureImplicit;
        }
        status[0] = captured
                ? CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE
                : CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE;
        return cudaError.cudaSuccess;
    }

    /** As the driver, of a stream that exists. */
    long contextOf(final long context, final long stream) {
        return streamAt(context, stream).context;
    }

    /** The context is gone: its streams, events and captures, too. */
    void contextEnded(final long context) {
        streams.values().removeIf(stream -> stream.context == context);
        everyStream.removeIf(stream -> stream.context == context);
        events.values().removeIf(event -> event.context == context);
        capturing.retainAll(streams.keySet());
    }
}
