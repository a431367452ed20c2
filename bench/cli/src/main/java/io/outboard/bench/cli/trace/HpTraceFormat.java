package io.outboard.bench.cli.trace;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * This class reads the file format HPTRACE1, little-endian: a header of 64 bytes, then 8 bytes an operation as
 * {@link Trace} packs it.
 *
 * <pre>
 *  0  8 bytes  HPTRACE1            40  u64  0
 *  8  u32      version, 1          48  u64  peak live bytes
 * 12  u32      slots               56  u32  peak live blocks
 * 16  u64      operations          60  u32  alignment, 256
 * 24  u64      0                   64  u64  first operation
 * 32  u64      region bytes
 * </pre>
 *
 * <p>The peaks follow from the operations. A peak of zero means "not computed"; any other value that differs from the
 * computed peak is damage.
 *
 * <p>Thread-safety: safe for any number of threads.
 */
final class HpTraceFormat {

    static final int HEADER_BYTES = 64;
    static final int MAGIC_BYTES = 8;
    static final int VERSION = 1;
    static final int ALIGNMENT = 256;
    static final int VERSION_AT = 8;
    static final int SLOTS_AT = 12;
    static final int OPERATIONS_AT = 16;
    static final int REGION_AT = 32;
    static final int PEAK_BYTES_AT = 48;
    static final int PEAK_BLOCKS_AT = 56;
    static final int ALIGNMENT_AT = 60;

    /** The letters HPTRACE1 as one little-endian number. */
    static final long MAGIC = 0x3145434152545048L;

    private HpTraceFormat() {}

    static boolean startsWithMagic(final TraceContent content) throws IOException {
        return content.atLeast(MAGIC_BYTES) >= MAGIC_BYTES
                && littleEndian(content).getLong(content.start()) == MAGIC;
    }

    /**
     * Reads a trace from the start of its header to the end of the content.
     *
     * @throws TraceFormatException if the content breaks a rule of the format or of {@link Trace}
     */
    static Trace read(final TraceContent content, final int maximumOperations) throws IOException {
        final int size = content.atLeast(HEADER_BYTES);
        if (size < HEADER_BYTES) {
            throw content.error("byte " + size, "header=" + size + " bytes must be " + HEADER_BYTES);
        }
        final byte[] bytes = new byte[HEADER_BYTES];
        System.arraycopy(content.buffer(), content.start(), bytes, 0, HEADER_BYTES);
        final ByteBuffer header = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        require(content, VERSION_AT, "version", unsigned(header, VERSION_AT), VERSION);
        require(content, ALIGNMENT_AT, "alignment", unsigned(header, ALIGNMENT_AT), ALIGNMENT);
        final long slots = unsigned(header, SLOTS_AT);
        if (slots < 1 || slots > Trace.MAX_SLOTS) {
            throw content.error("byte " + SLOTS_AT, "slots=" + slots + " must be 1.." + Trace.MAX_SLOTS);
        }
        final long regionBytes = header.getLong(REGION_AT);
        if (regionBytes <= 0) {
            final String value = Long.toUnsignedString(regionBytes);
            throw content.error("byte " + REGION_AT, "regionBytes=" + value + " must be 1.." + Long.MAX_VALUE);
        }
        final int count = checkedCount(content, header.getLong(OPERATIONS_AT), maximumOperations);
        content.take(HEADER_BYTES);

        final long[] operations = readOperations(content, count);
        final Trace trace;
        try {
            trace = new Trace(content.fileName(), (int) slots, regionBytes, operations);
        } catch (final InvalidOperationException e) {
            throw content.error("byte " + (HEADER_BYTES + 8L * e.index()), e.problem());
        }
        requirePeak(content, PEAK_BYTES_AT, "peakLiveBytes", header.getLong(PEAK_BYTES_AT), trace.peakLiveBytes());
        requirePeak(
                content, PEAK_BLOCKS_AT, "peakLiveBlocks", unsigned(header, PEAK_BLOCKS_AT), trace.peakLiveBlocks());
        return trace;
    }

    private static int checkedCount(final TraceContent content, final long count, final int maximum)
            throws TraceFormatException {
        final String position = "byte " + OPERATIONS_AT;
        final String value = "operations=" + Long.toUnsignedString(count);
        final long size = content.sizeBytes();
        if (size >= 0 && (size != HEADER_BYTES + 8 * count || count != (size - HEADER_BYTES) / 8)) {
            throw content.error(position, value + " must be (bytes - 64) / 8, and the file has " + size + " bytes");
        }
        if (count == 0) {
            throw content.error(position, value + " must be > 0");
        }
        if (count < 0 || count > maximum) {
            throw content.error(position, value + " must be <= " + maximum + ", what the heap allows (see -Xmx)");
        }
        return (int) count;
    }

    /**
     * Reads the operations. If the file's size isn't known, the number in the header isn't trusted, and the list grows
     * with what is read.
     */
    private static long[] readOperations(final TraceContent content, final int count) throws IOException {
        final OperationList operations = new OperationList(content.sizeBytes() >= 0 ? count : Math.min(count, 1 << 16));
        final ByteBuffer window = littleEndian(content);
        while (operations.size() < count) {
            final int here = Math.min(content.atLeast(8) / 8, count - operations.size());
            if (here == 0) {
                throw content.error(
                        "byte " + (content.offset() + content.end() - content.start()),
                        "operations=" + count + " must be there, and the content ends after " + operations.size());
            }
            final int start = content.start();
            for (int i = 0; i < here; i++) {
                operations.add(window.getLong(start + 8 * i));
            }
            content.take(8 * here);
        }
        if (content.atLeast(1) > 0) {
            throw content.error(
                    "byte " + content.offset(), "the content must end after operations=" + count + ", and goes on");
        }
        return operations.toArray();
    }

    private static void require(
            final TraceContent content, final int at, final String name, final long value, final long wanted)
            throws TraceFormatException {
        if (value != wanted) {
            throw content.error("byte " + at, name + "=" + Long.toUnsignedString(value) + " must be " + wanted);
        }
    }

    private static void requirePeak(
            final TraceContent content, final int at, final String name, final long value, final long wanted)
            throws TraceFormatException {
        if (value != 0) {
            require(content, at, name, value, wanted);
        }
    }

    private static long unsigned(final ByteBuffer header, final int at) {
        return header.getInt(at) & 0xFFFFFFFFL;
    }

    private static ByteBuffer littleEndian(final TraceContent content) {
        return ByteBuffer.wrap(content.buffer()).order(ByteOrder.LITTLE_ENDIAN);
    }
}
