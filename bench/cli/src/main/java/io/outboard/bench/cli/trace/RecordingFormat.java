package io.outboard.bench.cli.trace;

import io.outboard.pool.internal.record.Recorder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * This class reads a recording that {@link io.outboard.pool.Pool#record} wrote, see {@link Recorder}. Thread-safety:
 * safe for any number of threads.
 */
final class RecordingFormat {

    private static final int VERSION_AT = 8;
    private static final int RECORD_BYTES_AT = 12;
    private static final int STREAM_LONG = 16;
    private static final int PACKED_LONG = 24;

    private RecordingFormat() {}

    static boolean startsWithMagic(final TraceContent content) throws IOException {
        return content.atLeast(Long.BYTES) >= Long.BYTES && window(content).getLong(content.start()) == Recorder.MAGIC;
    }

    /**
     * Reads a trace from the start of its header to the end of the content, which may be cut.
     *
     * @throws TraceFormatException if the content isn't such a recording, or contradicts itself
     */
    static Trace read(
            final TraceContent content,
            final int maximumOperations,
            final int maximumSlots,
            final @Nullable Owners owners)
            throws IOException {
        readHeader(content);
        final TimedRows rows = new TimedRows(
                maximumOperations, maximumSlots, owners, problem -> content.error("byte " + content.offset(), problem));
        final ByteBuffer window = window(content);
        long resized = 0;
        int available;
        while ((available = content.atLeast(Recorder.RECORD_BYTES)) >= Recorder.RECORD_BYTES) {
            final int at = content.start();
            final long packed = window.getLong(at + PACKED_LONG);
            switch (Recorder.kind(packed)) {
                case Recorder.ALLOCATED -> {
                    rows.add(window.getLong(at), window.getLong(at + Long.BYTES), sizeOf(content, packed));
                    own(rows, owners, packed, window.getLong(at + STREAM_LONG));
                }
                case Recorder.FREED -> rows.add(window.getLong(at), window.getLong(at + Long.BYTES), TimedRows.FREE);
                case Recorder.FAILED -> {
                    if (rows.addFailed(window.getLong(at), sizeOf(content, packed))) {
                        own(rows, owners, packed, window.getLong(at + STREAM_LONG));
                    }
                }
                default -> resized++;
            }
            content.take(Recorder.RECORD_BYTES);
        }
        final List<String> notes = new ArrayList<>();
        if (available > 0) {
            notes.add("the file is cut in its last record, and was read up to there");
        }
        if (resized > 0) {
            notes.add(resized + " times a block was resized, which the trace doesn't show");
        }
        return rows.toTrace(content.fileName(), notes);
    }

    private static void own(final TimedRows rows, final @Nullable Owners owners, final long packed, final long stream) {
        if (owners != null) {
            rows.ownedBy(owners.numberOf(Integer.toString(Recorder.thread(packed)), stream));
        }
    }

    private static void readHeader(final TraceContent content) throws IOException {
        final int size = content.atLeast(Recorder.RECORD_BYTES);
        if (size < Recorder.RECORD_BYTES) {
            throw content.error("byte " + size, "header=" + size + " bytes must be " + Recorder.RECORD_BYTES);
        }
        final ByteBuffer window = window(content);
        final int version = window.getInt(content.start() + VERSION_AT);
        if (version != Recorder.VERSION) {
            throw content.error("byte " + VERSION_AT, "version=" + version + " must be " + Recorder.VERSION);
        }
        final int recordBytes = window.getInt(content.start() + RECORD_BYTES_AT);
        if (recordBytes != Recorder.RECORD_BYTES) {
            throw content.error(
                    "byte " + RECORD_BYTES_AT, "recordBytes=" + recordBytes + " must be " + Recorder.RECORD_BYTES);
        }
        content.take(Recorder.RECORD_BYTES);
    }

    private static long sizeOf(final TraceContent content, final long packed) throws TraceFormatException {
        final long bytes = Recorder.sizeBytes(packed);
        if (bytes == 0) {
            throw content.error("byte " + (content.offset() + PACKED_LONG), "size=0 must be > 0 of an allocation");
        }
        return bytes;
    }

    private static ByteBuffer window(final TraceContent content) {
        return ByteBuffer.wrap(content.buffer()).order(ByteOrder.LITTLE_ENDIAN);
    }
}
