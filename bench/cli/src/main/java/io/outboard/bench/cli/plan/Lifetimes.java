package io.outboard.bench.cli.plan;

import io.outboard.bench.cli.common.WrongUseException;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.ByteSize;
import java.util.Arrays;

/**
 * The blocks of a trace: how large each is, and when it lives. Blocks are numbered in the order of their allocations,
 * and time counts allocations: block {@code i} lives from {@code i} to before {@code end(i)}, and two blocks are live
 * together if either is allocated in the other's life.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: 24 host bytes a block.
 */
final class Lifetimes {

    /** Offsets are ints in the search. */
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
        // Of those that end at a time; a block that is allocated at the same time may have their place.
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
     * Those of a trace. What is live at its end is taken to live on.
     *
     * @throws WrongUseException if there are 2^31 granules or more live at a time
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

    /** Some of these, as if there were no others: the blocks of these numbers, which ascend. */
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

    /** The blocks that live at a moment at which so much of the peak is live, or more. They ascend. */
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

    /** Granules. */
    int size(final int block) {
        return sizes[block];
    }

    /** The first block that isn't allocated in its life. */
    int end(final int block) {
        return ends[block];
    }

    /** Bytes as they were asked for. */
    long bytes(final int block) {
        return bytes[block];
    }

    /** The number of the operation that allocates it. */
    int startOperation(final int block) {
        return startOperations[block];
    }

    /** The number of the operation that frees it; that of all operations if none does. */
    int endOperation(final int block) {
        return endOperations[block];
    }

    /** Most granules that are live at a time: no region can be smaller. */
    long peakGranules() {
        return peakGranules;
    }

    /** The block with which that is reached for the first time. */
    int peak() {
        return peak;
    }
}
