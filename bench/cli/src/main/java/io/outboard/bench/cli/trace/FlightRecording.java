package io.outboard.bench.cli.trace;

import io.outboard.bench.cli.trace.Owners.Place;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;
import org.jspecify.annotations.Nullable;

/**
 * This class reads the events {@code io.outboard.Allocation}, {@code io.outboard.Free} and
 * {@code io.outboard.OutOfMemory} of one pool from a JFR recording. Allocations are ordered by their end, frees by
 * their start.
 *
 * <p>Thread-safety: confined to one thread.
 */
final class FlightRecording {

    /** The rule of an option that names a pool. */
    static final String NAMES_ONE = " must name one of the pools recorded";

    /** The packages of frames that are no place in a user's program, if they are the innermost. */
    private static final List<String> OUR_OWN = List.of("io.outboard.", "jcuda.", "java.", "jdk.");

    private static final long SECOND_NANOS = 1_000_000_000;

    private final TimedRows rows;
    private final @Nullable Owners owners;

    /** The pool whose events are read; null for the only one. */
    private final @Nullable String pool;

    /** The pools whose blocks or requests the recording has, sorted so that pool 10 comes after pool 9. */
    private final Set<String> pools =
            new TreeSet<>(Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder()));

    /** Where programs were, by the recording's own stacks, of which it has each once. */
    private final IdentityHashMap<RecordedStackTrace, Place> places = new IdentityHashMap<>();

    private boolean hasAllocations;

    private FlightRecording(final TimedRows rows, final @Nullable Owners owners, final @Nullable String pool) {
        this.rows = rows;
        this.owners = owners;
        this.pool = pool;
    }

    static Trace read(
            final Path file,
            final TraceContent content,
            final int maximumOperations,
            final int maximumSlots,
            final @Nullable Owners owners,
            final @Nullable String pool,
            final String ruleForSeveral)
            throws IOException {
        if (content.sizeBytes() < 0) {
            throw content.error("byte 0", "a JFR recording must be a file that isn't packed: unpack it first");
        }
        final TimedRows rows =
                new TimedRows(maximumOperations, maximumSlots, owners, problem -> content.error("events", problem));
        try (RecordingFile recording = new RecordingFile(file)) {
            final FlightRecording reader = new FlightRecording(rows, owners, pool);
            while (recording.hasMoreEvents()) {
                reader.add(recording.readEvent());
            }
            reader.checkPools(content, ruleForSeveral);
        } catch (final TraceFormatException e) {
            throw e;
        } catch (final IOException | RuntimeException e) {
            final TraceFormatException error =
                    content.error("events", "the recording must be whole: " + e.getMessage());
            error.initCause(e);
            throw error;
        }
        return rows.toTrace(content.fileName(), List.of());
    }

    private void checkPools(final TraceContent content, final String ruleForSeveral) throws TraceFormatException {
        if (!hasAllocations) {
            throw content.error(
                    "events", "the recording must hold io.outboard.Allocation, which has to be enabled for it");
        }
        if (pool == null ? pools.size() > 1 : !pools.contains(pool)) {
            throw content.error(
                    "events",
                    (pool == null ? ruleForSeveral : "--pool=" + pool + NAMES_ONE) + ": " + String.join(", ", pools));
        }
    }

    private void add(final RecordedEvent event) throws TraceFormatException {
        switch (event.getEventType().getName()) {
            case "io.outboard.Allocation" -> {
                hasAllocations = true;
                if (isWanted(event)) {
                    rows.add(nanos(event.getEndTime()), event.getLong("address"), event.getLong("requestedBytes"));
                    own(event, event.getLong("stream"));
                }
            }
            case "io.outboard.Free" -> {
                if (isWanted(event)) {
                    rows.add(nanos(event.getStartTime()), event.getLong("address"), TimedRows.FREE);
                }
            }
            case "io.outboard.OutOfMemory" -> {
                if (isWanted(event) && rows.addFailed(nanos(event.getEndTime()), event.getLong("requestedBytes"))) {
                    own(event, Owners.ANY_STREAM);
                }
            }
            default -> {
                // The event is not one of a pool.
            }
        }
    }

    /**
     * Tells whether an event is of the pool to read. Without a name, events of all pools are read, and
     * {@link #checkPools} refuses the recording if there are several pools.
     */
    private boolean isWanted(final RecordedEvent event) {
        final String its = event.getString("pool");
        pools.add(its);
        return pool == null || pool.equals(its);
    }

    private void own(final RecordedEvent event, final long stream) {
        if (owners != null) {
            rows.ownedBy(owners.numberOf(placeOf(owners, event.getStackTrace()), threadOf(event), stream));
        }
    }

    private Place placeOf(final Owners its, final @Nullable RecordedStackTrace trace) {
        if (trace == null) {
            return Place.NONE;
        }
        if (places.size() == Owners.MOST_OWNERS) {
            places.clear();
        }
        return places.computeIfAbsent(trace, same -> newPlace(its, same));
    }

    /** Finds the caller's frames: those of Outboard, and of what it stands in for, come first and say nothing of it. */
    private static Place newPlace(final Owners owners, final RecordedStackTrace trace) {
        final List<String> stack = new ArrayList<>();
        for (final RecordedFrame frame : trace.getFrames()) {
            final String type = frame.getMethod().getType().getName();
            if (!stack.isEmpty() || OUR_OWN.stream().noneMatch(type::startsWith)) {
                stack.add(type + "." + frame.getMethod().getName() + ":" + frame.getLineNumber());
            }
        }
        return new Place(stack.isEmpty() ? "" : stack.get(0), owners.stackOf(stack));
    }

    /** Returns a thread's number and name (virtual threads usually have no name); empty if the event has no thread. */
    private static String threadOf(final RecordedEvent event) {
        final RecordedThread thread = event.getThread();
        if (thread == null) {
            return "";
        }
        final String name = thread.getJavaName();
        return thread.getJavaThreadId() + (name == null || name.isEmpty() ? "" : " (" + name + ")");
    }

    private static long nanos(final Instant time) {
        return time.getEpochSecond() * SECOND_NANOS + time.getNano();
    }
}
