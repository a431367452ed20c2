package io.outboard.bench.cli.trace;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * This class reads data that Python's {@code pickle} has written, of protocols 2 to 5: numbers, texts, lists, tuples
 * and dictionaries. A pickle is a program that may name any function to be called; this reader calls none, and refuses a
 * pickle that does.
 *
 * <p>Thread-safety: confined to one thread. Cost: what the data take as objects, some 250 host bytes for an event of a
 * snapshot.
 */
final class PickledData {

    /** A dictionary, whose entries are few and looked for in order. */
    static final class Dictionary {

        /** Keys and values in turn. */
        private final List<Object> entries = new ArrayList<>(0);

        /** Returns the value of a key; null if there is none, or if it is Python's None. */
        @Nullable
        Object get(final String key) {
            for (int i = 0; i < entries.size(); i += 2) {
                if (key.equals(entries.get(i))) {
                    return entries.get(i + 1) == NONE ? null : entries.get(i + 1);
                }
            }
            return null;
        }
    }

    /** Python's None, and a number that a long can't hold. */
    private static final Object NONE = new Object();

    private static final Object MARK = new Object();
    private static final int PROTOCOL = 0x80;
    private static final int LEAST_PROTOCOL = 2;
    private static final int MOST_PROTOCOL = 5;

    private final TraceContent content;
    private final List<Object> stack = new ArrayList<>();
    private final List<Object> memo = new ArrayList<>();

    private PickledData(final TraceContent content) {
        this.content = content;
    }

    /**
     * Reads one object.
     *
     * @return a Dictionary, List, String, Long, Double or Boolean, or another object for what isn't read
     * @throws TraceFormatException if the data are damaged, or are more than data
     */
    static Object read(final TraceContent content) throws IOException {
        return new PickledData(content).read();
    }

    private Object read() throws IOException {
        int code = next();
        if (code != PROTOCOL) {
            throw error("a pickle must begin with its protocol");
        }
        final int protocol = next();
        if (protocol < LEAST_PROTOCOL || protocol > MOST_PROTOCOL) {
            throw error("protocol=" + protocol + " of the pickle must be " + LEAST_PROTOCOL + ".." + MOST_PROTOCOL);
        }
        while ((code = next()) != '.') {
            execute(code);
        }
        return pop();
    }

    private void execute(final int code) throws IOException {
        switch (code) {
            case 0x95 -> number(8); // the length of a frame
            case '(' -> stack.add(MARK);
            case 'N' -> stack.add(NONE);
            case 0x88 -> stack.add(true);
            case 0x89 -> stack.add(false);
            case 'K' -> stack.add(number(1));
            case 'M' -> stack.add(number(2));
            case 'J' -> stack.add((long) (int) number(4));
            case 0x8A -> stack.add(integer(next()));
            case 0x8B -> stack.add(integer(length(4)));
            case 'G' -> stack.add(Double.longBitsToDouble(Long.reverseBytes(number(8))));
            case 0x8C -> stack.add(text(next()));
            case 'X' -> stack.add(text(length(4)));
            case 0x8D -> stack.add(text(length(8)));
            case 'C' -> stack.add(bytes(next()));
            case 'B' -> stack.add(bytes(length(4)));
            case 0x8E -> stack.add(bytes(length(8)));
            case '}' -> stack.add(new Dictionary());
            case ']' -> stack.add(new ArrayList<>(0));
            case ')' -> stack.add(List.of());
            case 0x85 -> pushTuple(1);
            case 0x86 -> pushTuple(2);
            case 0x87 -> pushTuple(3);
            case 't' -> stack.add(popToMark());
            case 'a' -> addToList(List.of(pop()));
            case 'e' -> addToList(popToMark());
            case 's' -> addToDictionary(popTuple(2));
            case 'u' -> addToDictionary(popToMark());
            case 0x94 -> memo.add(top());
            case 'q' -> put(next());
            case 'r' -> put(length(4));
            case 'h' -> stack.add(remembered(next()));
            case 'j' -> stack.add(remembered(length(4)));
            default ->
                throw error("instruction=0x" + Integer.toHexString(code)
                        + " of the pickle must be of plain data: nothing is called that a file names");
        }
    }

    private void pushTuple(final int size) throws TraceFormatException {
        stack.add(popTuple(size));
    }

    private List<Object> popTuple(final int size) throws TraceFormatException {
        if (stack.size() < size) {
            throw error("the pickle must hold what it uses");
        }
        return cutStack(stack.size() - size);
    }

    private List<Object> popToMark() throws TraceFormatException {
        final int mark = stack.lastIndexOf(MARK);
        if (mark < 0) {
            throw error("the pickle must hold what it uses");
        }
        final List<Object> items = cutStack(mark + 1);
        stack.remove(mark);
        return items;
    }

    private List<Object> cutStack(final int from) {
        final List<Object> rest = stack.subList(from, stack.size());
        final List<Object> cut = new ArrayList<>(rest);
        rest.clear();
        return cut;
    }

    private Object pop() throws TraceFormatException {
        return popTuple(1).get(0);
    }

    private Object top() throws TraceFormatException {
        if (stack.isEmpty()) {
            throw error("the pickle must hold what it uses");
        }
        return stack.get(stack.size() - 1);
    }

    @SuppressWarnings("unchecked")
    private void addToList(final List<Object> items) throws TraceFormatException {
        if (!(top() instanceof final ArrayList<?> list)) {
            throw error("items of the pickle must go into a list");
        }
        ((ArrayList<Object>) list).addAll(items);
    }

    private void addToDictionary(final List<Object> keysAndValues) throws TraceFormatException {
        if (!(top() instanceof final Dictionary dictionary) || keysAndValues.size() % 2 != 0) {
            throw error("entries of the pickle must go into a dictionary");
        }
        dictionary.entries.addAll(keysAndValues);
    }

    private void put(final int index) throws TraceFormatException {
        if (index < memo.size()) {
            memo.set(index, top());
        } else if (index == memo.size()) {
            memo.add(top());
        } else {
            throw error("memo=" + index + " of the pickle must be <= " + memo.size());
        }
    }

    private Object remembered(final int index) throws TraceFormatException {
        if (index >= memo.size()) {
            throw error("memo=" + index + " of the pickle must be < " + memo.size());
        }
        return memo.get(index);
    }

    private int next() throws IOException {
        if (content.atLeast(1) == 0) {
            throw error("the pickle must be whole, and ends early");
        }
        final int value = content.buffer()[content.start()] & 0xFF;
        content.take(1);
        return value;
    }

    /** Reads a little-endian number. */
    private long number(final int bytes) throws IOException {
        long value = 0;
        for (int i = 0; i < bytes; i++) {
            value |= (long) next() << (8 * i);
        }
        return value;
    }

    private int length(final int bytes) throws IOException {
        final long length = number(bytes);
        if (length < 0 || length > Integer.MAX_VALUE) {
            throw error("length=" + Long.toUnsignedString(length) + " in the pickle must be <= " + Integer.MAX_VALUE);
        }
        return (int) length;
    }

    /** Reads a signed number of so many bytes. */
    private Object integer(final int length) throws IOException {
        final byte[] bytes = bytes(length);
        if (bytes.length == 0) {
            return 0L;
        }
        final boolean isNegative = bytes[bytes.length - 1] < 0;
        long value = isNegative ? -1 : 0;
        for (int i = bytes.length - 1; i >= 0; i--) {
            if (i >= Long.BYTES && bytes[i] != (byte) value) {
                return NONE;
            }
            value = (value << 8) | (bytes[i] & 0xFF);
        }
        if (value < 0 != isNegative) {
            return NONE;
        }
        return value;
    }

    private String text(final int length) throws IOException {
        return new String(bytes(length), StandardCharsets.UTF_8);
    }

    /** Reads bytes; a length that the file claims, and doesn't have, takes no memory. */
    private byte[] bytes(final int length) throws IOException {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        int left = length;
        while (left > 0) {
            final int here = Math.min(left, content.atLeast(1));
            if (here == 0) {
                throw error("the pickle must be whole, and ends early");
            }
            bytes.write(content.buffer(), content.start(), here);
            content.take(here);
            left -= here;
        }
        return bytes.toByteArray();
    }

    private TraceFormatException error(final String problem) {
        return content.error("byte " + content.offset(), problem);
    }
}
