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
 * Owners tell who allocated the blocks of a trace: a table of names, such as {@code thread 17, stream 0x7f00}, and for
 * each allocation a number in the table. {@link TraceReader#read(Path, Owners)} fills one; a replay needs none.
 *
 * <p>Thread-safety: confined to one thread. Cost: 4 host bytes an allocation, 10 while the array grows, and at most 20
 * MB for the table, whatever the file says. The table has at most {@value #MOST_OWNERS} entries, and owners that come
 * later are unknown; the names of a thread and of a stream have at most {@value #MOST_LETTERS} letters each.
 */
public final class Owners {

    /** The number of an unknown owner. */
    public static final int UNKNOWN = 0;

    /** The most entries of the table, including the unknown owner. */
    static final int MOST_OWNERS = 1 << 15;

    static final int MOST_LETTERS = 40;

    static final long ANY_STREAM = -1;

    private final Map<String, Integer> numbers = new HashMap<>();
    private final List<String> names = new ArrayList<>(List.of(""));
    private int[] owners = new int[1 << 10];
    private int allocations;

    /** Makes an empty table, which stays empty if the file has no owners. */
    public Owners() {
        // A reader adds the owners that it finds.
    }

    /**
     * Returns the names of owners by number.
     *
     * @return names; that of {@link #UNKNOWN} is empty
     */
    public List<String> names() {
        return Collections.unmodifiableList(names);
    }

    /**
     * Returns who made an allocation.
     *
     * @param allocation its number among the trace's allocations, {@code 0 <= allocation}
     * @return index in {@link #names()}; {@link #UNKNOWN} if there is no such allocation
     */
    public int owner(final int allocation) {
        return allocation < allocations ? owners[allocation] : UNKNOWN;
    }

    /** Adds the owner of the trace's next allocation. */
    void add(final int owner) {
        if (allocations == owners.length) {
            owners = Arrays.copyOf(owners, allocations + (allocations >>> 1));
        }
        owners[allocations++] = owner;
    }

    /** Returns the number of an owner, a new one if necessary. A stream of -1 stands for any. */
    int numberOf(final String thread, final long stream) {
        return numberOf(thread, streamText(stream));
    }

    /** Returns the number of an owner, a new one if necessary; an empty text is left out of the name. */
    int numberOf(final String thread, final String stream) {
        return number(thread.isEmpty() ? "" : "thread " + cut(thread), stream);
    }

    /** Returns the number of an owner that is a place in a program's text and a stream. */
    int numberAt(final String site, final long stream) {
        return number(cut(site), streamText(stream));
    }

    private static String streamText(final long stream) {
        return stream == ANY_STREAM ? "" : "0x" + Long.toHexString(stream);
    }

    private int number(final String who, final String stream) {
        final String owner = who
                + (who.isEmpty() || stream.isEmpty() ? "" : ", ")
                + (stream.isEmpty() ? "" : "stream " + cut(stream));
        final Integer known = numbers.get(owner);
        if (known != null) {
            return known;
        }
        if (owner.isEmpty() || names.size() == MOST_OWNERS) {
            return UNKNOWN;
        }
        // Half a letter, which a cut may leave, becomes a question mark, because no file could hold it.
        names.add(new String(owner.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8));
        numbers.put(owner, names.size() - 1);
        return names.size() - 1;
    }

    private static String cut(final String text) {
        return text.length() <= MOST_LETTERS ? text : text.substring(0, MOST_LETTERS);
    }
}
