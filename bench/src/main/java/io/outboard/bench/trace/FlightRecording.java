package io.outboard.bench.trace;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;
import org.jspecify.annotations.Nullable;

/**
 * Reads the events {@code io.outboard.Allocation} and {@code io.outboard.Free} of a JFR recording: allocations by their end, frees by their
 * start. Thread-safety: safe for any number of threads.
 */
final class FlightRecording {

    private static final byte[] MAGIC = {'F', 'L', 'R', 0};
    private static final long SECOND_NANOS = 1_000_000_000;

    private FlightRecording() {}

    static boolean startsWithMagic(final TraceContent content) throws IOException {
        if (content.sizeBytes() < 0 || content.atLeast(MAGIC.length) < MAGIC.length) {
            return false;
        }
        for (int i = 0; i < MAGIC.length; i++) {
            if (content.buffer()[content.start() + i] != MAGIC[i]) {
                return false;
            }
        }
        return true;
    }

    static Trace read(
            final Path file,
            final TraceContent content,
            final int maximumOperations,
            final int maximumSlots,
            final @Nullable Owners owners)
            throws IOException {
        final TimedRows rows =
                new TimedRows(maximumOperations, maximumSlots, owners, problem -> content.error("events", problem));
        try (RecordingFile recording = new RecordingFile(file)) {
            boolean found = false;
            while (recording.hasMoreEvents()) {
                found |= add(recording.readEvent(), rows, owners);
            }
            if (!found) {
                throw content.error(
                        "events", "the recording must hold io.outboard.Allocation, which has to be enabled for it");
            }
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

    /** Whether it is an allocation. */
    private static boolean add(final RecordedEvent event, final TimedRows rows, final @Nullable Owners owners)
            throws TraceFormatException {
        final String type = event.getEventType().getName();
        if (type.equals("io.outboard.Allocation")) {
            rows.add(nanos(event.getEndTime()), event.getLong("address"), event.getLong("requestedBytes"));
            if (owners != null) {
                rows.ownedBy(owners.numberOf(threadOf(event), event.getLong("stream")));
            }
            return true;
        }
        if (type.equals("io.outboard.Free")) {
            rows.add(nanos(event.getStartTime()), event.getLong("address"), TimedRows.FREE);
        }
        return false;
    }

    /** Number and name, of which virtual threads have none as a rule; empty if the event has no thread. */
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
