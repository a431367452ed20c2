package io.outboard.cuda.internal.memory;

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
 * Streams and events are simulated, with work that a test finishes by hand. Using what no longer exists, which crashes
 * a real program, is an assertion error; a call that would break a capture breaks it.
 */
public final class FakeStreams {

    private static final class Stream {
        private static long ids;

        final long id = ++ids;
        final long context;
        final boolean blocking;
        final List<BooleanSupplier> work = new ArrayList<>();

        Stream(final long context, final boolean blocking) {
            this.context = context;
            this.blocking = blocking;
        }

        BooleanSupplier end() {
            final int count = work.size();
            return () -> work.subList(0, count).stream().allMatch(BooleanSupplier::getAsBoolean);
        }
    }

    private final Map<Long, Stream> streams = new HashMap<>();
    /** The streams, including destroyed ones, since their work goes on. */
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
    private int createFailure;
    private int records;
    private int queries;
    private Runnable duringSynchronize = () -> {};
    private Runnable afterCaptureStatus = () -> {};
    private long askedStream;
    private Runnable beforeSynchronize = () -> {};
    private volatile Runnable duringQuery = () -> {};

    public long createStream(final long context) {
        return createStream(context, true);
    }

    public synchronized long createStream(final long context, final boolean blocking) {
        assertTrue(context != 0, "a context is current");
        final long handle = handleToUse == 0 ? ++nextHandle : handleToUse;
        handleToUse = 0;
        streams.put(handle, add(context, blocking));
        return handle;
    }

    /** Sets the handle of the next stream. */
    public void useHandleAgain(final long handle) {
        handleToUse = handle;
    }

    private Stream add(final long context, final boolean blocking) {
        final Stream stream = new Stream(context, blocking);
        everyStream.add(stream);
        return stream;
    }

    public synchronized void destroyStream(final long stream) {
        assertTrue(streams.remove(stream) != null, "the stream exists");
    }

    /** Submits work that has finished once {@code finished} says so. */
    public synchronized void submit(final long context, final long stream, final BooleanSupplier finished) {
        streamAt(context, stream).work.add(finished);
    }

    private Stream streamAt(final long context, final long stream) {
        if (stream == 0) {
            return streams.computeIfAbsent(-context, key -> add(context, true));
        }
        final Stream found = streams.get(stream);
        assertTrue(found != null, "stream 0x" + Long.toHexString(stream) + " exists");
        return found == null ? add(context, true) : found;
    }

    public synchronized int beginCapture(final long stream) {
        return capturing.add(stream) ? cudaError.cudaSuccess : cudaError.cudaErrorIllegalState;
    }

    /** Ends a capture, and returns whether nothing broke it. */
    public synchronized boolean endCapture(final long stream) {
        capturing.remove(stream);
        final boolean whole = !captureBroken;
        captureBroken = false;
        return whole;
    }

    /** Returns whether {@code cudaMalloc} is allowed; otherwise, the call breaks the capture. */
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

    /** Does something during each wait for a context; a capture that begins at that time isn't broken. */
    public void duringSynchronize(final Runnable action) {
        duringSynchronize = action;
    }

    /** Does something before each query of an event and each question about a capture. */
    public void duringQuery(final Runnable action) {
        duringQuery = action;
    }

    void beforeQuery() {
        duringQuery.run();
    }

    /** Does something before each synchronisation of a context. */
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
        duringSynchronize.run();
        final boolean idle = everyStream.stream()
                .filter(stream -> stream.context == context)
                .allMatch(stream -> stream.end().getAsBoolean());
        assertTrue(idle, "a test must not wait for ever");
        return cudaError.cudaSuccess;
    }

    synchronized long createEvent(final long context) {
        assertTrue(context != 0, "a context is current");
        eventsCreated++;
        events.put(++nextHandle, new Event(context));
        return nextHandle;
    }

    synchronized void destroyEvent(final long event) {
        eventAt(event);
        events.remove(event);
    }

    public int eventsOut() {
        return events.size();
    }

    /** Makes waits, queries and marks of a context fail, as after a kernel's failure. */
    public void breakContext(final long context) {
        brokenContext = context;
    }

    /** Makes the creation of the next event fail. */
    public void failCreate(final int code) {
        createFailure = code;
    }

    int takeCreateFailure() {
        final int failure = createFailure;
        createFailure = 0;
        return failure;
    }

    /** Makes the next record fail. */
    public void failRecord(final int code) {
        recordFailure = code;
    }

    /** Does something once, after the next question whether this stream is captured has been answered. */
    public void afterCaptureStatus(final long stream, final Runnable action) {
        afterCaptureStatus = action;
        askedStream = stream;
    }

    synchronized int record(final long context, final long event, final long stream) {
        final Stream found = streamAt(context, stream);
        if (found.context != eventAt(event).context) {
            return cudaError.cudaErrorInvalidResourceHandle;
        }
        if (!capturing.isEmpty()) {
            // The simulation is stricter than CUDA, which allows the call on some streams.
            captureBroken = true;
            return cudaError.cudaErrorStreamCaptureImplicit;
        }
        if (recordFailure != 0) {
            final int failure = recordFailure;
            recordFailure = 0;
            return failure;
        }
        records++;
        eventAt(event).finished = stream == 0 ? join(context) : found.end();
        return cudaError.cudaSuccess;
    }

    /**
     * Records an event of all streams, including destroyed ones, as the driver does; a capture on any of them is
     * broken.
     */
    synchronized int recordContext(final long context, final long event) {
        if (context == brokenContext) {
            return cudaError.cudaErrorIllegalAddress;
        }
        if (eventAt(event).context != context) {
            return cudaError.cudaErrorInvalidResourceHandle;
        }
        if (isCapturing(context)) {
            captureBroken = true;
            return cudaError.cudaErrorStreamCaptureUnsupported;
        }
        if (recordFailure != 0) {
            final int failure = recordFailure;
            recordFailure = 0;
            return failure;
        }
        records++;
        final List<BooleanSupplier> ends = everyStream.stream()
                .filter(each -> each.context == context)
                .map(Stream::end)
                .toList();
        eventAt(event).finished = () -> ends.stream().allMatch(BooleanSupplier::getAsBoolean);
        return cudaError.cudaSuccess;
    }

    private boolean isCapturing(final long context) {
        return capturing.stream().map(streams::get).anyMatch(each -> each != null && each.context == context);
    }

    synchronized long idOf(final long context, final long stream) {
        return streamAt(context, stream).id;
    }

    /**
     * Returns the end of a command on stream 0, which comes after all work of blocking streams; every blocking stream
     * then waits for the command.
     */
    private BooleanSupplier join(final long context) {
        final BooleanSupplier all = endOfBlocking(context);
        everyStream.stream()
                .filter(each -> each.blocking && each.context == context)
                .forEach(each -> each.work.add(all));
        return all;
    }

    private BooleanSupplier endOfBlocking(final long context) {
        final List<BooleanSupplier> ends = everyStream.stream()
                .filter(each -> each.blocking && each.context == context)
                .map(Stream::end)
                .toList();
        final boolean[] finished = new boolean[1];
        // A join stays finished, since later joins are made of earlier ones.
        return () -> finished[0] |= finished[0] || ends.stream().allMatch(BooleanSupplier::getAsBoolean);
    }

    /**
     * Queries a stream as the driver does: stream 0 stands for all blocking streams. During a capture the query breaks
     * the capture.
     */
    public synchronized int queryStream(final long context, final long stream) {
        queries++;
        final Stream found = streamAt(context, stream);
        if (context == brokenContext) {
            return cudaError.cudaErrorIllegalAddress;
        }
        if (!capturing.isEmpty()) {
            captureBroken = true;
            return cudaError.cudaErrorStreamCaptureImplicit;
        }
        final BooleanSupplier end = stream == 0 ? endOfBlocking(context) : found.end();
        return end.getAsBoolean() ? cudaError.cudaSuccess : cudaError.cudaErrorNotReady;
    }

    /** Returns how many queries of streams there were. */
    public int queries() {
        return queries;
    }

    /** Returns how many events were recorded. */
    public int records() {
        return records;
    }

    synchronized int query(final long event) {
        if (eventAt(event).context == brokenContext) {
            return cudaError.cudaErrorIllegalAddress;
        }
        if (!capturing.isEmpty()) {
            captureBroken = true;
            return cudaError.cudaErrorStreamCaptureUnsupported;
        }
        return eventAt(event).finished.getAsBoolean() ? cudaError.cudaSuccess : cudaError.cudaErrorNotReady;
    }

    private Event eventAt(final long event) {
        final Event found = events.get(event);
        assertTrue(found != null, "event 0x" + Long.toHexString(event) + " exists");
        return found == null ? new Event(0) : found;
    }

    /**
     * Returns a stream's capture status as the driver does: the capture of a blocking stream shows on stream 0, too.
     */
    synchronized int captureStatus(final long context, final int[] status, final long stream) {
        final boolean captured = capturing.contains(stream);
        final Stream found = streamAt(context, stream);
        final boolean implicit = stream == 0
                && capturing.stream()
                        .map(streams::get)
                        .anyMatch(each -> each != null && each.context == context && each.blocking);
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

    /** Returns the context of a stream that exists, as the driver does. */
    long contextOf(final long context, final long stream) {
        return streamAt(context, stream).context;
    }

    /** Forgets the streams, events and captures of a context that has ended. */
    synchronized void contextEnded(final long context) {
        streams.values().removeIf(stream -> stream.context == context);
        everyStream.removeIf(stream -> stream.context == context);
        events.values().removeIf(event -> event.context == context);
        capturing.retainAll(streams.keySet());
    }
}
