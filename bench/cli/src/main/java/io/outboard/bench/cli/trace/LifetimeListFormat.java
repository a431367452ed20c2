package io.outboard.bench.cli.trace;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * This class reads the CSV of MiniMalloc's instances (Moffitt, ASPLOS 2023), which begins with {@code
 * id,lower,upper,size}: a line for each block, with the times at which its life begins and ends, and its size. Names of
 * blocks don't matter. Blocks that end at a time are freed before blocks that begin then are allocated, and blocks that
 * begin together are allocated in the order of their lines. Thread-safety: safe for any number of threads.
 */
final class LifetimeListFormat {

    private static final byte[] HEADER = "id,lower,upper,size".getBytes(StandardCharsets.US_ASCII);

    private static final List<String> COLUMNS = List.of("id", "lower", "upper", "size");

    private static final int LONGEST_LINE = 4096;

    private final TraceContent content;
    private long line;

    private LifetimeListFormat(final TraceContent content) {
        this.content = content;
    }

    static boolean startsWithMagic(final TraceContent content) throws IOException {
        if (content.atLeast(HEADER.length) < HEADER.length) {
            return false;
        }
        for (int i = 0; i < HEADER.length; i++) {
            if (content.buffer()[content.start() + i] != HEADER[i]) {
                return false;
            }
        }
        return true;
    }

    /**
     * Reads a trace from the start of the header to the end of the content.
     *
     * @throws TraceFormatException if a line isn't a block
     */
    static Trace read(final TraceContent content, final int maximumOperations, final int maximumSlots)
            throws IOException {
        return new LifetimeListFormat(content).read(maximumOperations, maximumSlots);
    }

    private Trace read(final int maximumOperations, final int maximumSlots) throws IOException {
        final TimedRows rows = new TimedRows(maximumOperations, maximumSlots, null, this::error);
        nextLine();
        while (content.atLeast(1) > 0) {
            final String text = nextLine();
            if (text.isEmpty()) {
                continue;
            }
            final String[] fields = text.split(",", -1);
            if (fields.length != COLUMNS.size()) {
                throw error(
                        "columns=" + fields.length + " must be " + COLUMNS.size() + ": " + String.join(",", COLUMNS));
            }
            final long lower = number(fields, 1);
            final long upper = number(fields, 2);
            final long size = number(fields, 3);
            if (lower >= upper) {
                throw error("lower=" + lower + " must be < upper, " + upper);
            }
            if (size == 0) {
                throw error("size=0 must be > 0");
            }
            // Of what happens at a time, frees have the even number.
            rows.add(2 * lower + 1, line, size);
            rows.add(2 * upper, line, TimedRows.FREE);
        }
        return rows.toTrace(content.fileName(), List.of());
    }

    private long number(final String[] fields, final int column) throws TraceFormatException {
        final String text = fields[column].strip();
        try {
            final long number = Long.parseLong(text);
            if (number >= 0 && number <= Trace.MAX_BYTES) {
                return number;
            }
        } catch (final NumberFormatException e) {
            // The text is refused like a number that is too large.
        }
        throw error(COLUMNS.get(column) + "=" + text + " must be a whole number from 0 to " + Trace.MAX_BYTES);
    }

    /** Returns the next line, of which the content has a byte, without its end. */
    private String nextLine() throws IOException {
        line++;
        final int available = content.atLeast(LONGEST_LINE);
        final int start = content.start();
        int length = 0;
        while (length < available && content.buffer()[start + length] != '\n') {
            length++;
        }
        if (length >= LONGEST_LINE) {
            throw error("the line must have fewer than " + LONGEST_LINE + " bytes");
        }
        final String text = new String(content.buffer(), start, length, StandardCharsets.US_ASCII);
        content.take(Math.min(length + 1, available));
        return text.strip();
    }

    private TraceFormatException error(final String problem) {
        return content.error("line " + line, problem);
    }
}
