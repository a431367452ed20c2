package io.outboard.bench.cli.plan;

import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.ByteSize;
import java.util.Arrays;

/**
 * Lifetimes are the blocks of a trace, with the size and the life of each. Blocks are numbered in the order of their
 * allocations, and time counts allocations: block {@code i} lives from time {@code i} to before {@code end(i)}. Two
 * blocks are live together if one of them is allocated in the life of the other.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: 24 host bytes a block.
 */
final class Lifetimes {

    /** The limit of live granules, because offsets are ints in the search. */
    static final long MOST_GRANULES = Integer.MAX_VALUE;

    private final long granuleBytes;
    private final int[] sizes;
    private final int[] ends;
    private final int[] startOperations;
    private final int[] endOperations;
    private final long[] bytes;
    private final long peakGranules;
    private final int peak;

    private Lifetimes(
            final long granuleBytes,
            final long[] bytes,
            final int[] ends,
            final int[] startOperations,
            final int[] endOperations) {
        this.granuleBytes = granuleBytes;
        this.bytes = bytes;
        this.ends = ends;
        this.startOperations = startOperations;
        this.endOperations = endOperations;
        sizes = new int[bytes.length];
        // For each time: the granules of blocks that end then. A block that is allocated at that time may take their
        // place.
        final long[] ended = new long[bytes.length + 1];
        long live = 0;
        long most = 0;
        int at = 0;
        for (int block = 0; block < bytes.length; block++) {
            final long granules = (bytes[block] - 1) / granuleBytes + 1;
            live += granules - ended[block];
            if (live > MOST_GRANULES) {
                throw new WrongUseException("--granule=" + ByteSize.text(granuleBytes)
                        + " must be so large that what is live at a time is less than 2^31 of them");
            }
            if (live > most) {
                most = live;
                at = block;
            }
            sizes[block] = (int) granules;
            ended[ends[block]] += granules;
        }
        peakGranules = most;
        peak = at;
    }

    /**
     * Makes the lifetimes of a trace. Blocks that are live at its end are never freed.
     *
     * @throws WrongUseException if 2^31 granules or more are live at a time
     */
    static Lifetimes of(final Trace trace, final long granuleBytes) {
        final long[] operations = trace.operations();
        int blocks = 0;
        for (final long operation : operations) {
            blocks += Trace.isFree(operation) ? 0 : 1;
        }
        final long[] bytes = new long[blocks];
        final int[] ends = new int[blocks];
        final int[] startOperations = new int[blocks];
        final int[] endOperations = new int[blocks];
        final int[] inSlot = new int[trace.slots()];
        int next = 0;
        for (int i = 0; i < operations.length; i++) {
            final int slot = Trace.slot(operations[i]);
            if (Trace.isFree(operations[i])) {
                ends[inSlot[slot]] = next;
                endOperations[inSlot[slot]] = i;
            } else {
                bytes[next] = Trace.bytes(operations[i]);
                ends[next] = blocks;
                startOperations[next] = i;
                endOperations[next] = operations.length;
                inSlot[slot] = next++;
            }
        }
        return new Lifetimes(granuleBytes, bytes, ends, startOperations, endOperations);
    }

    /**
     * Makes the lifetimes of some blocks alone, as if there were no others.
     *
     * @param some numbers of blocks, ascending
     */
    Lifetimes only(final int[] some) {
        final long[] someBytes = new long[some.length];
        final int[] someEnds = new int[some.length];
        final int[] someStarts = new int[some.length];
        final int[] someStops = new int[some.length];
        for (int i = 0; i < some.length; i++) {
            final int block = some[i];
            final int end = Arrays.binarySearch(some, ends[block]);
            someBytes[i] = bytes[block];
            someEnds[i] = end < 0 ? -end - 1 : end;
            someStarts[i] = startOperations[block];
            someStops[i] = endOperations[block];
        }
        return new Lifetimes(granuleBytes, someBytes, someEnds, someStarts, someStops);
    }

    /** Returns the blocks that live at a moment when at least this share of the peak is live, ascending. */
    int[] liveAbove(final double shareOfPeak) {
        final double least = peakGranules * shareOfPeak;
        final long[] ended = new long[sizes.length + 1];
        final int[] above = new int[sizes.length + 1];
        long live = 0;
        for (int block = 0; block < sizes.length; block++) {
            live += sizes[block] - ended[block];
            ended[ends[block]] += sizes[block];
            above[block + 1] = above[block] + (live >= least ? 1 : 0);
        }
        final int[] found = new int[sizes.length];
        int count = 0;
        for (int block = 0; block < sizes.length; block++) {
            if (above[ends[block]] > above[block]) {
                found[count++] = block;
            }
        }
        return Arrays.copyOf(found, count);
    }

    int count() {
        return sizes.length;
    }

    long granuleBytes() {
        return granuleBytes;
    }

    /** Returns the size of a block, in granules. */
    int size(final int block) {
        return sizes[block];
    }

    /**
     * Returns the number of the first block that is allocated after the block's life; the number of all blocks if there
     * is none.
     */
    int end(final int block) {
        return ends[block];
    }

    /** Returns the requested size of a block, in bytes. */
    long bytes(final int block) {
        return bytes[block];
    }

    /** Returns the number of the operation that allocates a block. */
    int startOperation(final int block) {
        return startOperations[block];
    }

    /** Returns the number of the operation that frees a block; the number of all operations if none does. */
    int endOperation(final int block) {
        return endOperations[block];
    }

    /** Returns the most granules that are live at a time; no region can be smaller. */
    long peakGranules() {
        return peakGranules;
    }

    /** Returns the number of the block whose allocation first reaches {@link #peakGranules}. */
    int peak() {
        return peak;
    }
}
