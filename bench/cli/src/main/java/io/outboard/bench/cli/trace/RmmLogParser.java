package io.outboard.bench.cli.trace;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * This class reads the CSV that the RAPIDS Memory Manager writes, its logging adaptor or its older C API, by the rules
 * of {@link TraceReader}. The parser works on bytes in the window of the content and makes no object for a line, except
 * for owners, if they are wanted.
 *
 * <p>Thread-safety: confined to one thread.
 */
final class RmmLogParser {

    private static final String HEADER = "Thread,Time,Action,Pointer,Size,Stream";

    /** Which columns a log has, and where; a column that it lacks has number -1. */
    private enum Layout {
        ADAPTOR(HEADER, 0, 1, 2, 3, 4, 5),
        OLDER_ADAPTOR("Time,Action,Pointer,Size,Stream", -1, 0, 1, 2, 3, 4),
        C_API(
                "Event Type,Device ID,Address,Stream,Size (bytes),Free Memory,Total Memory,Current Allocs,Start,End,"
                        + "Elapsed,Location",
                -1,
                -1,
                0,
                2,
                4,
                3);

        private final String header;
        private final int columns;
        private final int thread;
        private final int time;
        private final int action;
        private final int pointer;
        private final int size;
        private final int stream;

        Layout(
                final String header,
                final int thread,
                final int time,
                final int action,
                final int pointer,
                final int size,
                final int stream) {
            this.header = header;
            this.columns = (int) header.chars().filter(letter -> letter == ',').count() + 1;
            this.thread = thread;
            this.time = time;
            this.action = action;
            this.pointer = pointer;
            this.size = size;
            this.stream = stream;
        }
    }

    private static final Layout[] LAYOUTS = Layout.values();

    static final long MIN_REGION_BYTES = 64L << 20;

    /** The longest line; RMM's lines have about 60 bytes, so a longer line isn't one of a log. */
    static final int MAX_LINE_BYTES = 4096;

    private static final long REGION_STEP_BYTES = 2L << 20;

    /** The largest region that strategies can divide with granules of 256 bytes. */
    private static final long MAX_REGION_BYTES = (1L << 40) - REGION_STEP_BYTES;

    private static final Pattern TIME = Pattern.compile("(\\d\\d):(\\d\\d):(\\d\\d)[.:](\\d{6})");
    private static final long MICROSECOND_NANOS = 1_000;
    private static final long SECOND_NANOS = 1_000_000_000;
    private static final long DAY_NANOS = 24 * 3600 * SECOND_NANOS;

    private static final int GRANULE_BYTES = 256;
    private static final List<String> ALLOCATE = List.of("allocate", "Alloc");
    private static final List<String> ALLOCATE_FAILURE = List.of("allocate failure");
    private static final List<String> FREE = List.of("free", "deallocate", "Free");
    private static final String NIL = "(nil)";
    /** The bytes, as characters. */
    private static final String BYTE_ORDER_MARK = "\u00EF\u00BB\u00BF";

    private final TraceContent content;
    private final byte[] buffer;
    private final int maximumOperations;
    private final @Nullable Owners owners;
    private final OperationList operations = new OperationList(1 << 16);
    private final LiveBlocks blocks;

    /** Where each column starts in the buffer, with one more entry at the end, as if another column followed. */
    private final int[] columns = new int[Layout.C_API.columns + 1];

    private Layout layout = Layout.ADAPTOR;

    /** What the first line has that isn't a header; null if the file begins with one, and has rows alone. */
    private @Nullable String otherFirst;

    /** How many lines are no rows, and the first of them; 0 unless the file has other lines. */
    private long otherLines;

    private long firstOther;

    private long line;
    private int lineStart;
    private int lineEnd;
    private long skippedFrees;
    private FailedRequests failed = FailedRequests.NONE;

    /** Whether the line doesn't end in a line feed. */
    private boolean isUnended;

    /** Whether it is the rest of a line that is too long. */
    private boolean isRest;

    private boolean cut;

    /** The time of the row, since the midnight before the first one; the days of it that are over. */
    private long atNanos;

    private long days;

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
        skipByteOrderMark();
        while (nextLine()) {
            if (readHeader() || lineEnd == lineStart) {
                continue;
            }
            if (otherFirst == null) {
                if (!isCut()) {
                    splitColumns();
                    readRow();
                }
            } else if (isRow()) {
                readRow();
            } else if (!isRest) {
                firstOther = otherLines++ == 0 ? line : firstOther;
            }
        }
        if (operations.size() == 0) {
            throw otherFirst == null
                    ? error("the log must hold an allocation, and ends without one")
                    : notATrace(otherFirst);
        }
        return new Trace(
                content.fileName(),
                blocks.slots(),
                regionBytes(blocks.peakBytes(), blocks.slots()),
                operations.toArray(),
                skippedFrees,
                failed,
                notes());
    }

    private List<String> notes() {
        if (cut) {
            return List.of("line " + line + " is cut: the file was read up to there");
        }
        return otherLines == 0
                ? List.of()
                : List.of(otherLines + " lines are no rows of a log and were skipped, first line " + firstOther);
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

    private void skipByteOrderMark() throws IOException {
        content.atLeast(BYTE_ORDER_MARK.length());
        if (matches(content.start(), Math.min(content.end(), content.start() + 3), BYTE_ORDER_MARK)) {
            content.take(BYTE_ORDER_MARK.length());
        }
    }

    /** Reads a header, which may come again where logs were joined; notes whether the first line is none. */
    private boolean readHeader() {
        for (final Layout each : LAYOUTS) {
            if (matches(lineStart, lineEnd, each.header)) {
                layout = each;
                return true;
            }
        }
        if (line == 1) {
            otherFirst = content.shown(lineStart, lineEnd);
        }
        return false;
    }

    /**
     * Tells whether the line is a row among other lines: it has the columns of the last header, or those of one of the
     * adaptor's logs, and a known action.
     */
    private boolean isRow() {
        if (isRow(layout)) {
            return true;
        }
        if (layout == Layout.ADAPTOR && isRow(Layout.OLDER_ADAPTOR)) {
            layout = Layout.OLDER_ADAPTOR;
            return true;
        }
        return false;
    }

    private boolean isRow(final Layout as) {
        if (isRest || lineEnd - lineStart > MAX_LINE_BYTES || countColumns() != as.columns) {
            return false;
        }
        final int from = columns[as.action];
        final int to = columns[as.action + 1] - 1;
        return matchesAny(from, to, ALLOCATE) || matchesAny(from, to, FREE) || matchesAny(from, to, ALLOCATE_FAILURE);
    }

    /** Tells whether the line, the last one, lacks both its end and columns. */
    private boolean isCut() {
        cut = isUnended && countColumns() < layout.columns;
        return cut;
    }

    private void readRow() throws TraceFormatException {
        if (owners != null) {
            readTime(owners);
        }
        final int from = columns[layout.action];
        final int to = columns[layout.action + 1] - 1;
        if (matchesAny(from, to, ALLOCATE)) {
            allocate(pointer(), blockSize());
        } else if (matchesAny(from, to, FREE)) {
            free(pointer(), blockSize());
        } else if (matchesAny(from, to, ALLOCATE_FAILURE)) {
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
            throw error("pointer=" + shown(layout.pointer) + " must not be null where size=" + bytes);
        }
        final int live = blocks.slotOf(pointer);
        if (live != LiveBlocks.NONE) {
            throw error("pointer=" + shown(layout.pointer) + " must not be live already, and holds "
                    + blocks.bytesOf(live) + " bytes");
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
            owners.add(owners.numberOf(text(layout.thread), text(layout.stream)));
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
        // The C API doesn't know how large a block is that is freed.
        if (live != bytes && bytes != 0) {
            throw error(
                    "size=" + bytes + " must be " + live + ", what was allocated at pointer=" + shown(layout.pointer));
        }
        blocks.remove(pointer, slot);
        add(Trace.free(slot, live));
    }

    private void add(final long operation) throws TraceFormatException {
        if (operations.size() >= maximumOperations) {
            throw error("operations=" + (maximumOperations + 1L) + " must be <= " + maximumOperations
                    + ", what the heap allows (see -Xmx)");
        }
        operations.add(operation);
        if (owners != null) {
            owners.addTime(atNanos);
        }
    }

    /**
     * Reads the time of day as the adaptor writes it, {@code HH:MM:SS.micros}, or with a colon in older versions. After
     * midnight the times go on. If a row has another time, which may only count, the log has none.
     */
    private void readTime(final Owners its) {
        final Matcher time = TIME.matcher(text(layout.time));
        if (!time.matches()) {
            its.dropTimes();
            return;
        }
        final long seconds = 3600L * Integer.parseInt(time.group(1))
                + 60L * Integer.parseInt(time.group(2))
                + Integer.parseInt(time.group(3));
        final long ofDay = SECOND_NANOS * seconds + MICROSECOND_NANOS * Integer.parseInt(time.group(4));
        if (days * DAY_NANOS + ofDay < atNanos - DAY_NANOS / 2) {
            days++;
        }
        atNanos = days * DAY_NANOS + ofDay;
    }

    /**
     * Reads a pointer. A pointer only names a block, so its digits are read as hexadecimal; distinct decimal pointers
     * stay distinct then too.
     */
    private long pointer() throws TraceFormatException {
        final int from = columns[layout.pointer];
        final int to = columns[layout.pointer + 1] - 1;
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
            throw error("pointer=" + shown(layout.pointer) + " must be 1 to 16 hexadecimal digits, with or without 0x");
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
        return error("size=" + shown(layout.size) + " must be a whole number of bytes, 0.." + Trace.MAX_BYTES);
    }

    /** Reads the size of a request; a size above {@link Trace#MAX_BYTES} becomes that number plus one. */
    private long size() throws TraceFormatException {
        final int from = columns[layout.size];
        final int to = columns[layout.size + 1] - 1;
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
        final int count = countColumns();
        if (count != layout.columns) {
            throw error(
                    "columns=" + count + " must be " + layout.columns + ", in " + content.shown(lineStart, lineEnd));
        }
    }

    /** Finds the columns of the line, as many as there can be, and returns how many there are. */
    private int countColumns() {
        columns[0] = lineStart;
        int count = 1;
        for (int i = lineStart; i < lineEnd; i++) {
            if (buffer[i] == ',') {
                if (count < columns.length - 1) {
                    columns[count] = i + 1;
                }
                count++;
            }
        }
        columns[Math.min(count, columns.length - 1)] = lineEnd + 1;
        return count;
    }

    /** Finds the next line, without its end; the last line needs no end. Returns false at the end of the content. */
    private boolean nextLine() throws IOException {
        int scanned = 0;
        while (true) {
            final int start = content.start();
            final int end = content.end();
            for (int i = start + scanned; i < end; i++) {
                if (buffer[i] == '\n') {
                    setLine(start, i, false);
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
                setLine(start, end, true);
                content.take(scanned);
                return true;
            }
        }
    }

    private void setLine(final int start, final int end, final boolean unended) throws TraceFormatException {
        lineStart = start;
        lineEnd = end > start && buffer[end - 1] == '\r' ? end - 1 : end;
        isRest = isUnended;
        isUnended = unended;
        line += isRest ? 0 : 1;
        if (lineEnd - lineStart > MAX_LINE_BYTES && otherFirst == null) {
            throw line == 1
                    ? notATrace(content.shown(lineStart, lineEnd))
                    : error("length must be <= " + MAX_LINE_BYTES + " bytes, in " + content.shown(lineStart, lineEnd));
        }
    }

    private TraceFormatException notATrace(final String first) {
        return content.error(
                "line 1",
                first + " must be the header " + HEADER + ", or the file must begin with HPTRACE1; either may be gzip");
    }

    private TraceFormatException error(final String problem) {
        return content.error("line " + line, problem);
    }

    private String shown(final int column) {
        return content.shown(columns[column], columns[column + 1] - 1);
    }

    /** Returns the text of a column unchanged, since RMM spells threads and streams in more than one way. */
    private String text(final int column) {
        if (column < 0) {
            return "";
        }
        final int from = columns[column];
        return new String(buffer, from, columns[column + 1] - 1 - from, StandardCharsets.UTF_8).strip();
    }

    private boolean matchesAny(final int from, final int to, final List<String> words) {
        for (final String word : words) {
            if (matches(from, to, word)) {
                return true;
            }
        }
        return false;
    }

    private boolean matches(final int from, final int to, final String word) {
        if (to - from != word.length()) {
            return false;
        }
        for (int i = 0; i < word.length(); i++) {
            if ((buffer[from + i] & 0xFF) != word.charAt(i)) {
                return false;
            }
        }
        return true;
    }
}
