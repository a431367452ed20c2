package io.outboard.bench.cli.trace;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Owners tell who allocated the blocks of a trace, and when its operations were, as far as the file says. There is a
 * table of owners, each with a thread, a stream and a place in the program, and for each allocation a number in the
 * table. {@link TraceReader#read(Path, Owners)} fills one; a replay needs none.
 *
 * <p>Thread-safety: confined to one thread. Cost: 4 host bytes an allocation, 10 while the array grows, and 8 an
 * operation for times, 20 while the array grows; at most 50 MB for the tables, whatever the file says. The table has at
 * most {@value #MOST_OWNERS} entries, and owners that come later are unknown; as many stacks, each with at most
 * {@value #MOST_DEPTH} frames, and as many frames, and stacks that come later are empty. Names have at most
 * {@value #MOST_LETTERS} letters, and frames {@value #MOST_FRAME_LETTERS}.
 */
public final class Owners {

    /** The number of an unknown owner. */
    public static final int UNKNOWN = 0;

    /** The number of the empty stack. */
    public static final int NO_STACK = 0;

    /** The most entries of the table, including the unknown owner. */
    static final int MOST_OWNERS = 1 << 15;

    static final int MOST_LETTERS = 40;
    static final int MOST_FRAME_LETTERS = 120;
    static final int MOST_DEPTH = 64;

    static final long ANY_STREAM = -1;

    /** The time of an operation that was before all times known. */
    static final long BEFORE = Long.MIN_VALUE;

    private static final Owner NOBODY = new Owner("", "", "", NO_STACK);

    private final Map<Owner, Integer> numbers = new HashMap<>();
    private final List<Owner> table = new ArrayList<>(List.of(NOBODY));
    private final Map<List<String>, Integer> stackNumbers = new HashMap<>();
    private final List<List<String>> stacks = new ArrayList<>(List.of(List.of()));
    private final Map<String, String> frames = new HashMap<>();
    private int[] owners = new int[1 << 10];
    private int allocations;
    private final OperationList nanos = new OperationList(1 << 10);
    private boolean isTimed = true;

    /**
     * One who allocates. What the file doesn't say is empty.
     *
     * @param site the place in the program's text
     * @param thread number of a thread, and its name
     * @param stream handle of a CUDA stream
     * @param stack number of the whole stack in {@link Owners#stacks()}
     */
    public record Owner(String site, String thread, String stream, int stack) {

        /** {@return all that is known, such as {@code thread 17, stream 0x7f00}; empty if that is nothing} */
        public String text() {
            final List<String> parts = new ArrayList<>();
            if (!site.isEmpty()) {
                parts.add(site);
            }
            if (!thread.isEmpty()) {
                parts.add("thread " + thread);
            }
            if (!stream.isEmpty()) {
                parts.add("stream " + stream);
            }
            return String.join(", ", parts);
        }
    }

    /** A place in a program, the frame that stands for it and the number of the stack; both may be missing. */
    record Place(String site, int stack) {
        static final Place NONE = new Place("", NO_STACK);
    }

    /** Makes an empty table, which stays empty if the file has no owners. */
    public Owners() {
        // A reader adds the owners that it finds.
    }

    /**
     * Returns the owners by number.
     *
     * @return the table; that at {@link #UNKNOWN} is empty
     */
    public List<Owner> table() {
        return Collections.unmodifiableList(table);
    }

    /**
     * Returns the stacks by number.
     *
     * @return the frames of each, the innermost first; none at {@link #NO_STACK}
     */
    public List<List<String>> stacks() {
        return Collections.unmodifiableList(stacks);
    }

    /**
     * Returns who made an allocation.
     *
     * @param allocation its number among the trace's allocations, {@code 0 <= allocation}
     * @return index in {@link #table()}; {@link #UNKNOWN} if there is no such allocation
     */
    public int owner(final int allocation) {
        return allocation < allocations ? owners[allocation] : UNKNOWN;
    }

    /**
     * Returns when the operations were.
     *
     * @return for each operation the nanoseconds since the first one, never less than for the one before; empty if the
     *     file has no times
     */
    public long[] nanos() {
        if (!isTimed) {
            return new long[0];
        }
        final long[] since = nanos.toArray().clone();
        long first = BEFORE;
        long last = BEFORE;
        for (int i = 0; i < since.length; i++) {
            first = first == BEFORE ? since[i] : first;
            last = Math.max(last, since[i]);
            since[i] = last == BEFORE ? 0 : last - first;
        }
        return first == BEFORE ? new long[0] : since;
    }

    /** Adds the owner of the trace's next allocation. */
    void add(final int owner) {
        if (allocations == owners.length) {
            owners = Arrays.copyOf(owners, allocations + (allocations >>> 1));
        }
        owners[allocations++] = owner;
    }

    /** Adds the time of the trace's next operation, in nanoseconds since any moment, or {@link #BEFORE}. */
    void addTime(final long atNanos) {
        if (isTimed) {
            nanos.add(atNanos);
        }
    }

    /** Forgets all times, since some operations have none. */
    void dropTimes() {
        isTimed = false;
    }

    /** Returns the number of an owner, a new one if necessary. A stream of -1 stands for any. */
    int numberOf(final String thread, final long stream) {
        return numberOf(Place.NONE, thread, stream);
    }

    /** Returns the number of an owner, a new one if necessary; empty texts stand for what isn't known. */
    int numberOf(final String thread, final String stream) {
        return number(new Owner("", cut(thread, MOST_LETTERS), cut(stream, MOST_LETTERS), NO_STACK));
    }

    /** Returns the number of an owner at a place in a program, a new one if necessary. Stream -1 stands for any. */
    int numberOf(final Place place, final String thread, final long stream) {
        final String streamText = stream == ANY_STREAM ? "" : "0x" + Long.toHexString(stream);
        // Half of the table is for owners without a stack, so that many stacks leave room for sites.
        final int stack = table.size() < MOST_OWNERS / 2 ? place.stack : NO_STACK;
        return number(new Owner(cut(place.site, MOST_FRAME_LETTERS), cut(thread, MOST_LETTERS), streamText, stack));
    }

    /** Returns the number of a stack, a new one if necessary; the innermost frame is the first. */
    int stackOf(final List<String> all) {
        final List<String> cut = new ArrayList<>(Math.min(all.size(), MOST_DEPTH));
        for (final String frame : all.subList(0, Math.min(all.size(), MOST_DEPTH))) {
            final String text = cut(frame, MOST_FRAME_LETTERS);
            final String known = frames.size() < MOST_OWNERS
                    ? frames.computeIfAbsent(text, same -> same)
                    : frames.getOrDefault(text, "");
            if (known.isEmpty()) {
                return NO_STACK;
            }
            cut.add(known);
        }
        final Integer number = stackNumbers.get(cut);
        if (number != null) {
            return number;
        }
        if (cut.isEmpty() || stacks.size() == MOST_OWNERS) {
            return NO_STACK;
        }
        final List<String> stack = List.copyOf(cut);
        stacks.add(stack);
        stackNumbers.put(stack, stacks.size() - 1);
        return stacks.size() - 1;
    }

    private int number(final Owner owner) {
        final Integer known = numbers.get(owner);
        if (known != null) {
            return known;
        }
        if (owner.equals(NOBODY) || table.size() == MOST_OWNERS) {
            return UNKNOWN;
        }
        table.add(owner);
        numbers.put(owner, table.size() - 1);
        return table.size() - 1;
    }

    /** Cuts a text; half a letter, which a cut may leave, becomes a question mark, because no file could hold it. */
    private static String cut(final String text, final int most) {
        return text.length() <= most
                ? text
                : new String(text.substring(0, most).getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    }
}
