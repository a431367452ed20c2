package io.outboard.bench.cli.trace;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/** This class writes traces to files. Thread-safety: safe for any number of threads, on different files. */
public final class TraceWriter {

    private static final int BUFFER_BYTES = 1 << 16;

    private TraceWriter() {}

    /**
     * Writes HPTRACE1, 64 bytes and 8 an operation, over whatever the file held. The same trace gives the same bytes.
     *
     * @param trace the trace to write; the format doesn't hold its name and its count of skipped frees
     * @param file path, in a folder that exists
     * @throws IOException if the file can't be written; the file then holds a truncated trace, which
     *     {@link TraceReader} refuses
     */
    public static void writeHpTrace(final Trace trace, final Path file) throws IOException {
        final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putLong(0, HpTraceFormat.MAGIC);
        buffer.putInt(HpTraceFormat.VERSION_AT, HpTraceFormat.VERSION);
        buffer.putInt(HpTraceFormat.SLOTS_AT, trace.slots());
        buffer.putLong(HpTraceFormat.OPERATIONS_AT, trace.operationCount());
        buffer.putLong(HpTraceFormat.REGION_AT, trace.regionBytes());
        buffer.putLong(HpTraceFormat.PEAK_BYTES_AT, trace.peakLiveBytes());
        buffer.putInt(HpTraceFormat.PEAK_BLOCKS_AT, trace.peakLiveBlocks());
        buffer.putInt(HpTraceFormat.ALIGNMENT_AT, HpTraceFormat.ALIGNMENT);
        buffer.position(HpTraceFormat.HEADER_BYTES);
        try (OutputStream out = Files.newOutputStream(file)) {
            for (final long operation : trace.operations()) {
                if (!buffer.hasRemaining()) {
                    out.write(buffer.array(), 0, buffer.position());
                    buffer.clear();
                }
                buffer.putLong(operation);
            }
            out.write(buffer.array(), 0, buffer.position());
        }
    }
}
