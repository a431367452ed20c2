package io.outboard.bench.cli.trace;

import java.util.List;
import java.util.Objects;

/**
 * A trace is a sequence of allocations and frees, checked once and read-only afterwards.
 *
 * <p>One {@code long} is one operation, in the layout of the file format HPTRACE1:
 *
 * <pre>
 *   63   62      40   39                    0
 * +----+-----------+-------------------------+
 * |free|   slot    |          bytes          |
 * +----+-----------+-------------------------+
 * </pre>
 *
 * <p>A <em>slot</em> names a block for as long as the block lives, and holds at most one live block. An allocation puts
 * a block of so many bytes into an empty slot; a free empties the slot and repeats the block's bytes. Blocks may still
 * be live when the trace ends.
 *
 * <p>Thread-safety: safe for any number of threads, as long as nobody writes to {@link #operations()}. Cost: 8 host
 * bytes an operation; the constructor walks the operations once, and needs 8 bytes a slot meanwhile.
 */
public final class Trace {

    /** The most slots that the layout can name: 2^23. */
    public static final int MAX_SLOTS = 1 << 23;

    /** The largest block that the layout can hold, in bytes: 2^40 - 1. */
    public static final long MAX_BYTES = (1L << 40) - 1;

    private static final int SLOT_SHIFT = 40;
    private static final long FREE_BIT = 1L << 63;

    private final String name;
    private final int slots;
    private final long regionBytes;
    private final long[] operations;
    private final long skippedFrees;
    private final FailedRequests failedRequests;
    private final List<String> notes;
    private final long peakLiveBytes;
    private final int peakLiveBlocks;

    /**
     * Makes a trace of an array of operations and checks it.
     *
     * @param name name of the trace in reports
     * @param slots number of slots, {@code 1 <= slots <= 2^23}
     * @param regionBytes size of the region in which the trace is meant to run, {@code regionBytes > 0}
     * @param operations at least one; kept without a copy, so the caller must not write to it again
     * @throws IllegalArgumentException if a number is out of range, or an operation has zero bytes or a slot outside of
     *     {@code 0..slots-1}, allocates into a full slot, frees an empty one, or frees other bytes than were allocated;
     *     the message names the operation, counted from 0
     */
    public Trace(final String name, final int slots, final long regionBytes, final long[] operations) {
        this(name, slots, regionBytes, operations, 0, FailedRequests.NONE, List.of());
    }

    Trace(
            final String name,
            final int slots,
            final long regionBytes,
            final long[] operations,
            final long skippedFrees,
            final FailedRequests failedRequests,
            final List<String> notes) {
        this.name = Objects.requireNonNull(name, "name");
        this.slots = slots;
        this.regionBytes = regionBytes;
        this.operations = Objects.requireNonNull(operations, "operations");
        this.skippedFrees = skippedFrees;
        this.failedRequests = failedRequests;
        this.notes = List.copyOf(notes);
        if (slots < 1 || slots > MAX_SLOTS) {
            throw new IllegalArgumentException("slots=" + slots + " must be 1.." + MAX_SLOTS);
        }
        if (regionBytes <= 0) {
            throw new IllegalArgumentException("regionBytes=" + regionBytes + " must be > 0");
        }
        if (operations.length == 0) {
            throw new IllegalArgumentException("operations=0 must be > 0");
        }

        final long[] liveBytes = new long[slots];
        long live = 0;
        long peakBytes = 0;
        int blocks = 0;
        int peakBlocks = 0;
        for (int i = 0; i < operations.length; i++) {
            final long operation = operations[i];
            checkOperation(i, operation, liveBytes);
            final long bytes = bytes(operation);
            if (isFree(operation)) {
                liveBytes[slot(operation)] = 0;
                live -= bytes;
                blocks--;
            } else {
                liveBytes[slot(operation)] = bytes;
                live += bytes;
                blocks++;
                peakBytes = Math.max(peakBytes, live);
                peakBlocks = Math.max(peakBlocks, blocks);
            }
        }
        peakLiveBytes = peakBytes;
        peakLiveBlocks = peakBlocks;
    }

    /**
     * Returns the name of the trace in reports.
     *
     * @return name of the profile, or of the file without its folder
     */
    public String name() {
        return name;
    }

    /**
     * Returns the number of slots, which is the length of the array in which a replay keeps its addresses.
     *
     * @return {@code 1 <= slots <= 2^23}; not every slot needs to be used
     */
    public int slots() {
        return slots;
    }

    /**
     * Returns the size of the region in which the trace is meant to run.
     *
     * @return bytes, > 0
     */
    public long regionBytes() {
        return regionBytes;
    }

    /**
     * Returns the operations themselves, in order, for loops that are timed.
     *
     * @return the array that the trace holds, not a copy, so nobody may write to it
     */
    public long[] operations() {
        return operations;
    }

    /**
     * Returns the number of allocations and frees together.
     *
     * @return > 0
     */
    public int operationCount() {
        return operations.length;
    }

    /**
     * Returns the most bytes that were live at once, as requested and without any rounding.
     *
     * @return bytes, > 0
     */
    public long peakLiveBytes() {
        return peakLiveBytes;
    }

    /**
     * Returns the most blocks that were live at once; not necessarily at the moment of {@link #peakLiveBytes()}.
     *
     * @return blocks, {@code 1 <= peakLiveBlocks <= slots}
     */
    public int peakLiveBlocks() {
        return peakLiveBlocks;
    }

    /**
     * Returns how many frees of a log were left out, because the log shows no allocation of their blocks.
     *
     * @return count, >= 0; 0 for anything but an RMM log, see {@link TraceReader}
     */
    public long skippedFrees() {
        return skippedFrees;
    }

    /**
     * Returns the requests that got no memory when the trace was recorded. In the trace, each is a block that is freed
     * at once.
     *
     * @return their count, 0 for HPTRACE1, and the largest
     */
    public FailedRequests failedRequests() {
        return failedRequests;
    }

    /**
     * Returns what else a reader of the trace should know, for example that its file was cut.
     *
     * @return sentences without a full stop, usually none
     */
    public List<String> notes() {
        return notes;
    }

    /**
     * Tells whether an operation is a free.
     *
     * @param operation one of {@link #operations()}
     * @return true for a free, false for an allocation
     */
    public static boolean isFree(final long operation) {
        return operation < 0;
    }

    /**
     * Returns the slot of an operation.
     *
     * @param operation one of {@link #operations()}
     * @return {@code 0 <= slot < 2^23}
     */
    public static int slot(final long operation) {
        return (int) (operation >>> SLOT_SHIFT) & (MAX_SLOTS - 1);
    }

    /**
     * Returns the bytes of the block that an operation allocates or frees.
     *
     * @param operation one of {@link #operations()}
     * @return {@code 0 < bytes < 2^40}
     */
    public static long bytes(final long operation) {
        return operation & MAX_BYTES;
    }

    /**
     * Packs an allocation.
     *
     * @param slot empty slot, {@code 0 <= slot < 2^23}
     * @param bytes requested size, {@code 0 < bytes < 2^40}
     * @return the operation
     * @throws IllegalArgumentException if a number is out of range
     */
    public static long allocation(final int slot, final long bytes) {
        if (slot < 0 || slot >= MAX_SLOTS) {
            throw new IllegalArgumentException("slot=" + slot + " must be 0.." + (MAX_SLOTS - 1));
        }
        if (bytes <= 0 || bytes > MAX_BYTES) {
            throw new IllegalArgumentException("bytes=" + bytes + " must be 1.." + MAX_BYTES);
        }
        return (long) slot << SLOT_SHIFT | bytes;
    }

    /**
     * Packs a free.
     *
     * @param slot full slot, {@code 0 <= slot < 2^23}
     * @param bytes bytes of the block in it, {@code 0 < bytes < 2^40}
     * @return the operation
     * @throws IllegalArgumentException if a number is out of range
     */
    public static long free(final int slot, final long bytes) {
        return allocation(slot, bytes) | FREE_BIT;
    }

    /**
     * Returns name and size, for a person.
     *
     * @return for example {@code large, 1000000 operations}
     */
    @Override
    public String toString() {
        return name + ", " + operations.length + " operations";
    }

    /**
     * Returns the most operations that may be read or generated: an array of that many, copied while it grows, takes at
     * most half of the heap that the JVM was started with.
     */
    static int maximumOperations() {
        return (int) Math.min(1 << 30, Runtime.getRuntime().maxMemory() / 64);
    }

    /**
     * Returns the most blocks that may be live at once while a log is read, limited by the heap and by the layout's
     * slots.
     */
    static int maximumLiveBlocks() {
        return (int) Math.min(MAX_SLOTS, Runtime.getRuntime().maxMemory() / 256);
    }

    private static void checkOperation(final int index, final long operation, final long[] liveBytes) {
        final int slot = slot(operation);
        final long bytes = bytes(operation);
        if (slot >= liveBytes.length) {
            throw new InvalidOperationException(index, "slot=" + slot + " must be < slots=" + liveBytes.length);
        }
        if (bytes == 0) {
            throw new InvalidOperationException(index, "bytes=0 must be > 0");
        }
        final long live = liveBytes[slot];
        if (!isFree(operation)) {
            if (live != 0) {
                throw new InvalidOperationException(
                        index, "slot=" + slot + " must be empty for an allocation, and holds " + live + " bytes");
            }
        } else if (live == 0) {
            throw new InvalidOperationException(index, "slot=" + slot + " must hold a block for a free, and is empty");
        } else if (live != bytes) {
            throw new InvalidOperationException(
                    index, "bytes=" + bytes + " must be " + live + ", the bytes of the block freed in slot=" + slot);
        }
    }
}
