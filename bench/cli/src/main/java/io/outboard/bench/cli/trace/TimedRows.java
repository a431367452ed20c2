package io.outboard.bench.cli.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * This class collects allocations and frees of addresses in any order, each with its time, and makes a trace in the
 * order of the times. Rows of the same time keep their order. If an address is allocated while it is in use, its free
 * is missing from the recording, for example because the recording ended while threads worked.
 *
 * <p>Thread-safety: confined to one thread. Cost: at most 60 host bytes a row while rows are added, and 44 while they
 * are sorted; 30 more a row with owners. Sorting takes one pass if the rows are in order, and otherwise merges runs in
 * pairs.
 */
final class TimedRows {

    /** The size that marks a free. */
    static final long FREE = 0;

    private static final long NO_ADDRESS = 0;
    private static final int FIRST_ROWS = 1 << 12;

    private final int mostRows;
    private final int mostSlots;
    private final @Nullable Owners owners;
    private final Function<String, TraceFormatException> errors;
    private long[] nanos = new long[FIRST_ROWS];
    private long[] addresses = new long[FIRST_ROWS];
    private long[] sizes = new long[FIRST_ROWS];

    /** For each row: its owner's number; the array is made when the first row gets an owner. */
    private int[] owned = {};

    private int count;
    private FailedRequests failed = FailedRequests.NONE;

    /**
     * Makes an empty collection. {@code errors} makes an exception from a problem; {@code owners} get the owners of the
     * allocations, in the trace's order.
     */
    TimedRows(
            final int mostRows,
            final int mostSlots,
            final @Nullable Owners owners,
            final Function<String, TraceFormatException> errors) {
        this.mostRows = mostRows;
        this.mostSlots = mostSlots;
        this.owners = owners;
        this.errors = errors;
    }

    /** Adds a failed request of the given size; returns whether there is a row for it. */
    boolean addFailed(final long atNanos, final long sizeBytes) throws TraceFormatException {
        failed = failed.and(sizeBytes);
        if (!FailedRequests.isServable(sizeBytes)) {
            return false;
        }
        addRow(atNanos, NO_ADDRESS, sizeBytes);
        return true;
    }

    /** Adds an allocation of the given size, or a {@link #FREE}. */
    void add(final long atNanos, final long address, final long sizeBytes) throws TraceFormatException {
        if (address == NO_ADDRESS && sizeBytes != FREE) {
            throw errors.apply("address=0 must not be null where size=" + sizeBytes);
        }
        addRow(atNanos, address, sizeBytes);
    }

    private void addRow(final long atNanos, final long address, final long sizeBytes) throws TraceFormatException {
        if (count >= mostRows) {
            throw errors.apply(
                    "operations=" + (mostRows + 1L) + " must be <= " + mostRows + ", what the heap allows (see -Xmx)");
        }
        if (sizeBytes < 0 || sizeBytes > Trace.MAX_BYTES) {
            throw errors.apply("size=" + sizeBytes + " must be 0.." + Trace.MAX_BYTES);
        }
        if (count == nanos.length) {
            final int more = count + (count >>> 1);
            nanos = Arrays.copyOf(nanos, more);
            addresses = Arrays.copyOf(addresses, more);
            sizes = Arrays.copyOf(sizes, more);
        }
        nanos[count] = atNanos;
        addresses[count] = address;
        sizes[count++] = sizeBytes;
    }

    /** Sets who made the last row; if owners are wanted, each allocation needs one. */
    void ownedBy(final int owner) {
        if (owned.length < count) {
            owned = Arrays.copyOf(owned, nanos.length);
        }
        owned[count - 1] = owner;
    }

    /** Makes the trace, with the notes of its reader. */
    Trace toTrace(final String name, final List<String> notes) throws TraceFormatException {
        final int[] order = order();
        final LiveBlocks blocks = new LiveBlocks(mostSlots);
        final OperationList operations = new OperationList(count);
        long skippedFrees = 0;
        long missingFrees = 0;
        for (final int row : order) {
            final long address = addresses[row];
            final int slot = blocks.slotOf(address);
            if (slot != LiveBlocks.NONE) {
                final long bytes = blocks.bytesOf(slot);
                blocks.remove(address, slot);
                operations.add(Trace.free(slot, bytes));
                tellTime(row);
                missingFrees += sizes[row] == FREE ? 0 : 1;
            } else if (sizes[row] == FREE) {
                skippedFrees++;
            }
            if (sizes[row] != FREE) {
                if (blocks.full()) {
                    throw errors.apply("live blocks=" + (blocks.slots() + 1L) + " must be <= " + blocks.slots()
                            + ", what the format and the heap allow");
                }
                final boolean isFailed = address == NO_ADDRESS;
                final int taken = isFailed ? blocks.addForAMoment(sizes[row]) : blocks.add(address, sizes[row]);
                operations.add(Trace.allocation(taken, sizes[row]));
                tellTime(row);
                if (isFailed) {
                    operations.add(Trace.free(taken, sizes[row]));
                    tellTime(row);
                }
                if (owners != null) {
                    owners.add(owned[row]);
                }
            }
        }
        if (operations.size() == 0) {
            throw errors.apply("the recording must hold an allocation, and ends without one");
        }
        final List<String> all = new ArrayList<>(notes);
        if (missingFrees > 0) {
            all.add(missingFrees + " frees are missing: their blocks end where their addresses are allocated again");
        }
        return new Trace(
                name,
                blocks.slots(),
                RmmLogParser.regionBytes(blocks.peakBytes(), blocks.slots()),
                operations.toArray(),
                skippedFrees,
                failed,
                all);
    }

    private void tellTime(final int row) {
        if (owners != null) {
            owners.addTime(nanos[row]);
        }
    }

    /**
     * Returns the numbers of rows in the order of their times. Runs that are in order are merged in pairs until one is
     * left.
     */
    private int[] order() {
        int[] from = new int[count];
        Arrays.setAll(from, i -> i);
        int[] to = new int[count];
        int runs;
        do {
            runs = 0;
            int at = 0;
            while (at < count) {
                final int middle = endOfRun(from, at);
                final int end = middle == count ? count : endOfRun(from, middle);
                merge(from, at, middle, end, to);
                at = end;
                runs++;
            }
            final int[] merged = to;
            to = from;
            from = merged;
        } while (runs > 1);
        return from;
    }

    private int endOfRun(final int[] rows, final int start) {
        int end = start + 1;
        while (end < count && nanos[rows[end - 1]] <= nanos[rows[end]]) {
            end++;
        }
        return end;
    }

    private void merge(final int[] from, final int start, final int middle, final int end, final int[] to) {
        int left = start;
        int right = middle;
        for (int i = start; i < end; i++) {
            final boolean takesLeft = right == end || (left < middle && nanos[from[left]] <= nanos[from[right]]);
            to[i] = takesLeft ? from[left++] : from[right++];
        }
    }
}
