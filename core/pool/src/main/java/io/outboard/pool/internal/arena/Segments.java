package io.outboard.pool.internal.arena;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The parts of an arena: regions of the main arena, chunks of any other.
 *
 * <p>External lock required: the arena's, but for {@link #all} and {@link #bytes}, which are safe for any number of threads.
 *
 * <p>Public for the pool's other packages, not for applications.
 */
public final class Segments {

    /** Replaced under the lock, never changed. */
    private volatile Segment[] all = {};

    private volatile long bytes;

    /** By their numbers, with gaps. */
    private Segment[] byId = new Segment[4];

    /** Where the last block was placed, as an index of {@link #all}. */
    int current;

    public Segment[] all() {
        return all;
    }

    /** Of all parts. */
    long bytes() {
        return bytes;
    }

    /** A part that is here. */
    Segment withId(final int id) {
        return byId[id];
    }

    /** The part that holds an address, or null. */
    @Nullable
    Segment at(final long address) {
        for (final Segment part : all) {
            if (part.holds(address)) {
                return part;
            }
        }
        return null;
    }

    boolean has(final Segment part) {
        return part.id < byId.length && byId[part.id] == part;
    }

    /** Requests are placed in it first. */
    public void add(final Segment part) {
        final Segment[] more = Arrays.copyOf(all, all.length + 1);
        more[all.length] = part;
        int id = 0;
        while (id < byId.length && byId[id] != null) {
            id++;
        }
        if (id == byId.length) {
            byId = Arrays.copyOf(byId, 2 * id);
        }
        part.id = id;
        byId[id] = part;
        replaceBy(more, bytes + part.used.sizeBytes());
    }

    @SuppressWarnings("NullAway") // An array with gaps.
    public void remove(final Segment part) {
        final Segment[] fewer = new Segment[all.length - 1];
        int kept = 0;
        for (final Segment each : all) {
            if (each != part) {
                fewer[kept++] = each;
            }
        }
        byId[part.id] = null;
        replaceBy(fewer, bytes - part.used.sizeBytes());
    }

    void clear() {
        final Segment[] none = new Segment[4];
        replaceBy(new Segment[0], 0);
        byId = none;
    }

    private void replaceBy(final Segment[] parts, final long newBytes) {
        all = parts;
        bytes = newBytes;
        current = Math.max(parts.length - 1, 0);
    }
}
