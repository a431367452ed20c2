package io.outboard.bench.cli.trace;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * This class gives the content of a file, unpacked if it is gzip, as a window in which parsers read without copying.
 *
 * <pre>
 * buffer  | taken | start ... end | empty |
 *                   ^ byte offset() of the content
 * </pre>
 *
 * <p>Thread-safety: confined to one thread. Cost: a window of 64 KiB, whatever the file's size.
 */
final class TraceContent implements Closeable {

    private static final int WINDOW_BYTES = 1 << 16;
    private static final int SHOWN_BYTES = 40;

    private final Path file;
    private final InputStream in;
    private final long sizeBytes;
    private final byte[] buffer = new byte[WINDOW_BYTES];
    private int start;
    private int end;
    private long offset;

    TraceContent(final Path file) throws IOException {
        this.file = file;
        if (Files.isDirectory(file)) {
            throw error("byte 0", "it must be a file, and is a folder");
        }
        // Files.newInputStream isn't used: its stream can't tell what is available in a pipe (seen with JDK 17).
        final InputStream raw = new BufferedInputStream(new FileInputStream(file.toFile()), WINDOW_BYTES);
        try {
            final boolean packed = isGzip(raw);
            // A pipe reports size 0 and holds more, so only a regular file's size is used.
            sizeBytes = packed || !Files.isRegularFile(file) ? -1 : Files.size(file);
            in = packed ? unpack(raw) : raw;
        } catch (final IOException | RuntimeException e) {
            raw.close();
            throw e;
        }
    }

    /** Returns the size of the content in bytes, or -1 if it isn't known before the end. */
    long sizeBytes() {
        return sizeBytes;
    }

    byte[] buffer() {
        return buffer;
    }

    int start() {
        return start;
    }

    int end() {
        return end;
    }

    /** Returns the offset in the content of the byte at {@link #start()}. */
    long offset() {
        return offset;
    }

    /** Moves the start forward. The taken bytes stay where they are until the next {@link #more()}. */
    void take(final int bytes) {
        start += bytes;
        offset += bytes;
    }

    /**
     * Reads more of the file: moves the rest of the window to its front and fills up behind it. At least one byte of a
     * full window must have been taken.
     *
     * @return false at the end of the content
     */
    boolean more() throws IOException {
        System.arraycopy(buffer, start, buffer, 0, end - start);
        end -= start;
        start = 0;
        try {
            final int read = in.read(buffer, end, WINDOW_BYTES - end);
            end += Math.max(0, read);
            return read > 0;
        } catch (final EOFException | ZipException e) {
            throw gzipError(offset + end, e);
        }
    }

    /**
     * Reads until the window holds that many bytes, at most 64 KiB, or fewer at the end of the content; returns their
     * number.
     */
    int atLeast(final int bytes) throws IOException {
        while (end - start < bytes && more()) {
            // The call of more() fills the window.
        }
        return end - start;
    }

    /** Tells whether the rest of the content begins with these bytes. */
    boolean startsWith(final int... bytes) throws IOException {
        if (atLeast(bytes.length) < bytes.length) {
            return false;
        }
        for (int i = 0; i < bytes.length; i++) {
            if ((buffer[start + i] & 0xFF) != bytes[i]) {
                return false;
            }
        }
        return true;
    }

    TraceFormatException error(final String position, final String problem) {
        return new TraceFormatException(file, position, problem);
    }

    String fileName() {
        final Path name = file.getFileName();
        return name == null ? file.toString() : name.toString();
    }

    /**
     * Returns a piece of the buffer in quotes, cut to 40 characters; a byte that isn't printable ASCII becomes a
     * question mark.
     */
    String shown(final int from, final int to) {
        final StringBuilder text = new StringBuilder("\"");
        for (int i = from; i < Math.min(to, from + SHOWN_BYTES); i++) {
            text.append(buffer[i] >= ' ' && buffer[i] <= '~' ? (char) buffer[i] : '?');
        }
        return text.append(to - from > SHOWN_BYTES ? "...\"" : "\"").toString();
    }

    @Override
    public void close() throws IOException {
        in.close();
    }

    private InputStream unpack(final InputStream raw) throws IOException {
        try {
            return new GZIPInputStream(raw, WINDOW_BYTES);
        } catch (final EOFException | ZipException e) {
            throw gzipError(0, e);
        }
    }

    private TraceFormatException gzipError(final long position, final IOException cause) {
        final String problem = cause instanceof EOFException
                ? "gzip data must be whole, and the file ends early"
                : "gzip data must be undamaged: " + cause.getMessage();
        final TraceFormatException error = error("byte " + position + " of what it unpacks to", problem);
        error.initCause(cause);
        return error;
    }

    private static boolean isGzip(final InputStream raw) throws IOException {
        raw.mark(2);
        final boolean gzip = raw.read() == 0x1F && raw.read() == 0x8B;
        raw.reset();
        return gzip;
    }
}
