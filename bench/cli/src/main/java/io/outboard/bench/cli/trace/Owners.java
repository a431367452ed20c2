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
 * Who allocated the blocks of a trace, beside it: a table of owners, such as {@code thread 17, stream 0x7f00}, and for
 * each allocation the number of its own. {@link TraceReader#read(Path, Owners)} fills one; a replay needs none.
 *
 * <p>Thread-safety: confined to one thread. Cost: 4 host bytes an allocation, 10 while the array grows, and at most 20
 * MB for the table, whatever the file says: it has at most {@value #MOST_OWNERS} entries, and owners that come later
 * are unknown; and of a thread and of a stream at most {@value #MOST_LETTERS} letters.
 */
public final class Owners {

    /** Number of what isn't known. */
    public static final int UNKNOWN = 0;

    /** With the unknown one. */
    static final int MOST_OWNERS = 1 << 15;

    static final int MOST_LETTERS = 40;

    static final long ANY_STREAM = -1;

    private final Map<String, Integer> numbers = new HashMap<>();
    private final List<String> names = new ArrayList<>(List.of(""));
    private int[] owners = new int[1 << 10];
    private int allocations;

    /** None, yet; and none for ever of a trace whose file has no owners. */
    public Owners() {
        // What a reader finds is added.
    }

    /**
     * The table.
     *
     * @return what a number stands for; that of {@link #UNKNOWN} is empty
     */
    public List<String> names() {
        return Collections.unmodifiableList(names);
    }

    /**
     * Who made an allocation.
     *
     * @param allocation its number among the trace's allocations, {@code 0 <= allocation}
     * @return index in {@link #names()}; {@link #UNKNOWN} if there is no such allocation
     */
    public int owner(final int allocation) {
        return allocation < allocations ? owners[allocation] : UNKNOWN;
    }

    /** The trace's next allocation. */
    void add(final int owner) {
        if (allocations == owners.length) {
            owners = Arrays.copyOf(owners, allocations + (allocations >>> 1));
        }
        owners[allocations++] = owner;
    }

    /** The number of an owner, a new one if need be. A stream of -1 stands for any. */
    int numberOf(final String thread, final long stream) {
        return numberOf(thread, stream == ANY_STREAM ? "" : "0x" + Long.toHexString(stream));
    }

    /** As above; what is empty is left out. */
    int numberOf(final String thread, final String stream) {
        final String owner = (thread.isEmpty() ? "" : "thread " + cut(thread))
                + (thread.isEmpty() || stream.isEmpty() ? "" : ", ")
                + (stream.isEmpty() ? "" : "stream " + cut(stream));
        final Integer known = numbers.get(owner);
        if (known != null) {
            return known;
        }
        if (owner.isEmpty() || names.size() == MOST_OWNERS) {
            return UNKNOWN;
        }
        // Half a letter, such as a cut may leave, becomes a question mark: no file could hold it.
        names.add(new String(owner.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8));
        numbers.put(owner, names.size() - 1);
        return names.size() - 1;
    }

    private static String cut(final String text) {
        return text.length() <= MOST_LETTERS ? text : text.substring(0, MOST_LETTERS);
    }
}
