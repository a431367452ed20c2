package io.outboard.bench.cli.trace;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * This class reads the CSV that the logging adaptor of the RAPIDS Memory Manager writes, by the rules of
 * {@link TraceReader}. The parser works on bytes in the window of the content and makes no object for a line, except
 * for owners, if they are wanted.
 *
 * <p>Thread-safety: confined to one thread.
 */
final class RmmLogParser {

    static final String HEADER = "Thread,Time,Action,Pointer,Size,Stream";
    static final long MIN_REGION_BYTES = 64L << 20;

    /** The longest line; RMM's lines have about 60 bytes, so a longer line isn't one of a log. */
    static final int MAX_LINE_BYTES = 4096;

    private static final long REGION_STEP_BYTES = 2L << 20;

    /** The largest region that strategies can divide with granules of 256 bytes. */
    private static final long MAX_REGION_BYTES = (1L << 40) - REGION_STEP_BYTES;

    private static final int GRANULE_BYTES = 256;
    private static final int COLUMNS = 6;
    private static final int THREAD = 0;
    private static final int ACTION = 2;
    private static final int POINTER = 3;
    private static final int SIZE = 4;
    private static final int STREAM = 5;
    private static final byte[] ALLOCATE = ascii("allocate");
    private static final byte[] ALLOCATE_FAILURE = ascii("allocate failure");
    private static final byte[] FREE = ascii("free");
    private static final byte[] NIL = ascii("(nil)");
    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

    private final TraceContent content;
    private final byte[] buffer;
    private final int maximumOperations;
    private final @Nullable Owners owners;
    private final OperationList operations = new OperationList(1 << 16);
    private final LiveBlocks blocks;

    /** Where each column starts in the buffer, with one more entry at the end, as if another column followed. */
    private final int[] columns = new int[COLUMNS + 1];

    private long line;
    private int lineStart;
    private int lineEnd;
    private long skippedFrees;
    private FailedRequests failed = FailedRequests.NONE;

    /** Whether the line doesn't end in a line feed. */
    private boolean isUnended;

    private boolean cut;

    RmmLogParser(
            final TraceContent content,
            final int maximumOperations,
            final int maximumSlots,
            final @Nullable Owners owners) {
        this.content = content;
        this.buffer = content.buffer();
        this.maximumOperations = maximumOperations;
        this.owners = owners;
        this.blocks = new LiveBlocks(maximumSlots);
    }

    /**
     * Reads a trace from the header line to the end of the content.
     *
     * @throws TraceFormatException if a line isn't what RMM writes, or contradicts the lines before it
     */
    Trace read() throws IOException {
        readHeader();
        while (nextLine()) {
            if (lineEnd > lineStart && !isCut()) {
                readRow();
            }
        }
        if (operations.size() == 0) {
            throw error("the log must hold an allocation, and ends without one");
        }
        return new Trace(
                content.fileName(),
                blocks.slots(),
                regionBytes(blocks.peakBytes(), blocks.slots()),
                operations.toArray(),
                skippedFrees,
                failed,
                cut ? List.of("line " + line + " is cut: the file was read up to there") : List.of());
    }

    /**
     * Returns twice the live bytes at the peak, rounded as by a strategy with granules of 256 bytes, but no more than
     * strategies can divide.
     */
    static long regionBytes(final long peakLiveBytes, final long peakLiveBlocks) {
        final long live = Math.max(peakLiveBytes, GRANULE_BYTES * peakLiveBlocks);
        final long twice = 2 * Math.min(live, MAX_REGION_BYTES / 2);
        return Math.max(MIN_REGION_BYTES, (twice + REGION_STEP_BYTES - 1) & -REGION_STEP_BYTES);
    }

    private void readHeader() throws IOException {
        content.atLeast(BYTE_ORDER_MARK.length);
        if (matches(content.start(), Math.min(content.end(), content.start() + 3), BYTE_ORDER_MARK)) {
            content.take(BYTE_ORDER_MARK.length);
        }
        if (!nextLine() || !matches(lineStart, lineEnd, ascii(HEADER))) {
            throw notATrace(lineStart, lineEnd);
        }
    }

    /** Tells whether the line, the last one, lacks both its end and columns. */
    private boolean isCut() {
        int found = 1;
        for (int i = lineStart; i < lineEnd; i++) {
            found += buffer[i] == ',' ? 1 : 0;
        }
        cut = isUnended && found < COLUMNS;
        return cut;
    }

    private void readRow() throws TraceFormatException {
        splitColumns();
        final int from = columns[ACTION];
        final int to = columns[ACTION + 1] - 1;
        if (matches(from, to, ALLOCATE)) {
            allocate(pointer(), blockSize());
        } else if (matches(from, to, FREE)) {
            free(pointer(), blockSize());
        } else if (matches(from, to, ALLOCATE_FAILURE)) {
            fail(size());
        } else {
            throw error("action=" + content.shown(from, to) + " must be allocate, free or allocate failure");
        }
    }

    private void allocate(final long pointer, final long bytes) throws TraceFormatException {
        if (bytes == 0) {
            return;
        }
        if (pointer == 0) {
            throw error("pointer=" + shown(POINTER) + " must not be null where size=" + bytes);
        }
        final int live = blocks.slotOf(pointer);
        if (live != LiveBlocks.NONE) {
            throw error("pointer=" + shown(POINTER) + " must not be live already, and holds " + blocks.bytesOf(live)
                    + " bytes");
        }
        checkRoom();
        addAllocation(blocks.add(pointer, bytes), bytes);
    }

    private void fail(final long bytes) throws TraceFormatException {
        failed = failed.and(bytes);
        if (!FailedRequests.isServable(bytes)) {
            return;
        }
        checkRoom();
        final int slot = blocks.addForAMoment(bytes);
        addAllocation(slot, bytes);
        add(Trace.free(slot, bytes));
    }

    private void checkRoom() throws TraceFormatException {
        if (blocks.full()) {
            throw error("live blocks=" + (blocks.slots() + 1L) + " must be <= " + blocks.slots()
                    + ", what the format and the heap allow");
        }
    }

    private void addAllocation(final int slot, final long bytes) throws TraceFormatException {
        add(Trace.allocation(slot, bytes));
        if (owners != null) {
            owners.add(owners.numberOf(text(THREAD), text(STREAM)));
        }
    }

    private void free(final long pointer, final long bytes) throws TraceFormatException {
        if (pointer == 0) {
            return;
        }
        final int slot = blocks.slotOf(pointer);
        if (slot == LiveBlocks.NONE) {
            skippedFrees += bytes == 0 ? 0 : 1;
            return;
        }
        final long live = blocks.bytesOf(slot);
        if (live != bytes) {
            throw error("size=" + bytes + " must be " + live + ", what was allocated at pointer=" + shown(POINTER));
        }
        blocks.remove(pointer, slot);
        add(Trace.free(slot, bytes));
    }

    private void add(final long operation) throws TraceFormatException {
        if (operations.size() >= maximumOperations) {
            throw error("operations=" + (maximumOperations + 1L) + " must be <= " + maximumOperations
                    + ", what the heap allows (see -Xmx)");
        }
        operations.add(operation);
    }

    /**
     * Reads a pointer. A pointer only names a block, so its digits are read as hexadecimal; distinct decimal pointers
     * stay distinct then too.
     */
    private long pointer() throws TraceFormatException {
        final int from = columns[POINTER];
        final int to = columns[POINTER + 1] - 1;
        if (matches(from, to, NIL)) {
            return 0;
        }
        final boolean prefixed = to - from > 2 && buffer[from] == '0' && (buffer[from + 1] | 0x20) == 'x';
        final int first = prefixed ? from + 2 : from;
        long value = 0;
        boolean valid = to > first && to - first <= 16;
        for (int i = first; i < to && valid; i++) {
            final int digit = Character.digit(buffer[i], 16);
            valid = digit >= 0;
            value = value << 4 | digit;
        }
        if (!valid) {
            throw error("pointer=" + shown(POINTER) + " must be 1 to 16 hexadecimal digits, with or without 0x");
        }
        return value;
    }

    private long blockSize() throws TraceFormatException {
        final long bytes = size();
        if (bytes > Trace.MAX_BYTES) {
            throw wrongSize();
        }
        return bytes;
    }

    private TraceFormatException wrongSize() {
        return error("size=" + shown(SIZE) + " must be a whole number of bytes, 0.." + Trace.MAX_BYTES);
    }

    /** Reads the size of a request; a size above {@link Trace#MAX_BYTES} becomes that number plus one. */
    private long size() throws TraceFormatException {
        final int from = columns[SIZE];
        final int to = columns[SIZE + 1] - 1;
        long value = 0;
        boolean valid = to > from;
        for (int i = from; i < to && valid; i++) {
            final int digit = buffer[i] - '0';
            valid = digit >= 0 && digit <= 9;
            value = Math.min(10 * value + digit, Trace.MAX_BYTES + 1);
        }
        if (!valid) {
            throw wrongSize();
        }
        return value;
    }

    private void splitColumns() throws TraceFormatException {
        columns[0] = lineStart;
        int count = 1;
        for (int i = lineStart; i < lineEnd; i++) {
            if (buffer[i] == ',') {
                if (count < COLUMNS) {
                    columns[count] = i + 1;
                }
                count++;
            }
        }
        if (count != COLUMNS) {
            throw error("columns=" + count + " must be " + COLUMNS + ", in " + content.shown(lineStart, lineEnd));
        }
        columns[COLUMNS] = lineEnd + 1;
    }

    /** Finds the next line, without its end; the last line needs no end. Returns false at the end of the content. */
    private boolean nextLine() throws IOException {
        int scanned = 0;
        while (true) {
            final int start = content.start();
            final int end = content.end();
            for (int i = start + scanned; i < end; i++) {
                if (buffer[i] == '\n') {
                    setLine(start, i);
                    content.take(i + 1 - start);
                    return true;
                }
            }
            scanned = end - start;
            // A line that is too long fails here before the window is full of it.
            if (scanned > MAX_LINE_BYTES + 1 || !content.more()) {
                if (scanned == 0) {
                    return false;
                }
                isUnended = true;
                setLine(start, end);
                content.take(scanned);
                return true;
            }
        }
    }

    private void setLine(final int start, final int end) throws TraceFormatException {
        lineStart = start;
        lineEnd = end > start && buffer[end - 1] == '\r' ? end - 1 : end;
        line++;
        if (lineEnd - lineStart > MAX_LINE_BYTES) {
            throw line == 1
                    ? notATrace(lineStart, lineEnd)
                    : error("length must be <= " + MAX_LINE_BYTES + " bytes, in " + content.shown(lineStart, lineEnd));
        }
    }

    private TraceFormatException notATrace(final int from, final int to) {
        return content.error(
                "line 1",
                content.shown(from, to) + " must be the header " + HEADER
                        + ", or the file must begin with HPTRACE1; either may be gzip");
    }

    private TraceFormatException error(final String problem) {
        return content.error("line " + line, problem);
    }

    private String shown(final int column) {
        return content.shown(columns[column], columns[column + 1] - 1);
    }

    /** Returns the text of a column unchanged, since RMM spells threads and streams in more than one way. */
    private String text(final int column) {
        final int from = columns[column];
        return new String(buffer, from, columns[column + 1] - 1 - from, StandardCharsets.UTF_8).strip();
    }

    private boolean matches(final int from, final int to, final byte[] word) {
        if (to - from != word.length) {
            return false;
        }
        for (int i = 0; i < word.length; i++) {
            if (buffer[from + i] != word[i]) {
                return false;
            }
        }
        return true;
    }

    private static byte[] ascii(final String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
