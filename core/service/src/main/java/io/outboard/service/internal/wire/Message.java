package io.outboard.service.internal.wire;

import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * A message has 64 bytes, little-endian:
 *
 * <pre>{@code
 *    0  int   type
 *    4  int   request   what is answered, chosen by the client; 0 if nothing is
 *    8  long  a
 *   16  long  b
 *   24  long  c
 *   32  char  text[32]  UTF-8, the rest 0
 * }</pre>
 */
public record Message(MessageType type, int request, long a, long b, long c, String text) {

    /** The size of any message, in bytes. */
    public static final int BYTES = 64;

    /** The size of the text, in bytes. */
    public static final int MOST_TEXT_BYTES = 32;

    /** The version of the protocol that this class speaks. Other versions are refused. */
    public static final long VERSION = 1;

    /**
     * The value of {@code b} in {@link MessageType#HELLO} of a connection that asks for the status and leases nothing.
     */
    public static final long OBSERVER = 1;

    /**
     * The value of {@code a} in {@link MessageType#OPEN} that asks for a descriptor that can't be mapped for writing.
     */
    public static final long READ_ONLY = 1;

    private static final int A = 8;
    private static final int B = 16;
    private static final int C = 24;
    private static final int TEXT = 32;

    public static Message of(final MessageType type, final int request) {
        return new Message(type, request, 0, 0, 0, "");
    }

    public static Message of(final MessageType type, final int request, final long a) {
        return new Message(type, request, a, 0, 0, "");
    }

    public static Message of(final MessageType type, final int request, final long a, final long b) {
        return new Message(type, request, a, b, 0, "");
    }

    /** Returns the message as it is sent. A text that is too long is cut at a whole character. */
    public byte[] toBytes() {
        final ByteBuffer buffer = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putInt(type.code()).putInt(request).putLong(a).putLong(b).putLong(c);
        buffer.put(cut(text).getBytes(StandardCharsets.UTF_8));
        return buffer.array();
    }

    /** Returns the longest beginning of the text that fits. */
    private static String cut(final String text) {
        int end = Math.min(text.length(), MOST_TEXT_BYTES);
        while (text.substring(0, end).getBytes(StandardCharsets.UTF_8).length > MOST_TEXT_BYTES) {
            end -= end > 1 && Character.isLowSurrogate(text.charAt(end - 1)) ? 2 : 1;
        }
        return text.substring(0, end);
    }

    /**
     * Reads a message from bytes that have come.
     *
     * @param bytes the bytes that came, and maybe more
     * @param length how many came, or one more than {@link #BYTES} if that is less
     * @throws ProtocolException if the bytes are no message
     */
    public static Message read(final byte[] bytes, final int length) throws ProtocolException {
        if (length != BYTES) {
            throw new ProtocolException("length=" + length + " must be " + BYTES);
        }
        final ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        final int code = buffer.getInt(0);
        final MessageType type = MessageType.of(code);
        if (type == null) {
            throw new ProtocolException("type=" + code + " must be one that version " + VERSION + " has");
        }
        return new Message(
                type,
                buffer.getInt(Integer.BYTES),
                buffer.getLong(A),
                buffer.getLong(B),
                buffer.getLong(C),
                textOf(bytes));
    }

    private static String textOf(final byte[] bytes) {
        int end = TEXT;
        while (end < BYTES && bytes[end] != 0) {
            end++;
        }
        return new String(bytes, TEXT, end - TEXT, StandardCharsets.UTF_8);
    }
}
