package io.outboard.core;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * This list has the pieces of memory of a {@link GrowableRegion}, and checks that region's calls: for those who write
 * one.
 *
 * <p>External lock required: the region's. Cost: O(log pieces).
 */
public final class Pieces {

    private record Piece(long bytes, long handle) {}

    private final Region region;
    private final long unitBytes;
    private final NavigableMap<Long, Piece> pieces = new TreeMap<>();
    private long bytes;

    /**
     * Makes an empty list.
     *
     * @param region their addresses
     * @param unitBytes what their addresses and sizes are multiples of, counted from the first address; a power of two
     */
    public Pieces(final Region region, final long unitBytes) {
        this.region = region;
        this.unitBytes = unitBytes;
    }

    /**
     * Tells all addresses.
     *
     * @return the region
     */
    public Region region() {
        return region;
    }

    /**
     * Tells what addresses and sizes are multiples of.
     *
     * @return bytes
     */
    public long unitBytes() {
        return unitBytes;
    }

    /**
     * Tells how much memory the pieces are together.
     *
     * @return bytes
     */
    public long bytes() {
        return bytes;
    }

    /**
     * Tells where the last piece ends.
     *
     * @return bytes from the region's first address
     */
    public long endBytes() {
        final Map.Entry<Long, Piece> last = pieces.lastEntry();
        return last == null ? 0 : last.getKey() + last.getValue().bytes() - region.address();
    }

    /**
     * Answers {@link GrowableRegion#pieceFrom}.
     *
     * @param address any
     * @return where the piece begins, or the region's end
     */
    public long from(final long address) {
        final Long piece = pieces.ceilingKey(address);
        return piece == null ? region.endAddress() : piece;
    }

    /**
     * Answers {@link GrowableRegion#pieceBytes}.
     *
     * @param address any
     * @return its size; 0 if none begins there
     */
    public long bytesAt(final long address) {
        final Piece piece = pieces.get(address);
        return piece == null ? 0 : piece.bytes();
    }

    /**
     * Lists all pieces.
     *
     * @return where each begins, in order of address
     */
    public List<Long> all() {
        return new ArrayList<>(pieces.keySet());
    }

    /**
     * Checks the arguments of {@link GrowableRegion#commit}.
     *
     * @param address where memory is to be
     * @param moreBytes how much
     * @param pieceBytes size of each piece
     * @throws IllegalArgumentException if one is outside of its range
     */
    public void checkCommit(final long address, final long moreBytes, final long pieceBytes) {
        if (moreBytes <= 0 || !isWhole(moreBytes) || moreBytes > region.sizeBytes()) {
            throw new IllegalArgumentException("bytes=" + moreBytes + " must be > 0, a multiple of " + unitBytes
                    + " and <= " + region.sizeBytes());
        }
        if (pieceBytes <= 0 || !isWhole(pieceBytes)) {
            throw new IllegalArgumentException(
                    "pieceBytes=" + pieceBytes + " must be > 0 and a multiple of " + unitBytes);
        }
        if (!region.contains(address) || !isWhole(address - region.address())) {
            throw new IllegalArgumentException("address=" + address + " must be in " + region + ", a multiple of "
                    + unitBytes + " from its begin");
        }
        final Map.Entry<Long, Piece> before = pieces.floorEntry(address);
        final boolean taken =
                before != null && before.getKey() + before.getValue().bytes() > address;
        if (taken
                || address - region.address() > endBytes()
                || moreBytes > region.endAddress() - address
                || from(address) - address < moreBytes) {
            throw new IllegalArgumentException("address=" + address
                    + " must be in a hole, or where memory ends, with room for bytes=" + moreBytes);
        }
    }

    /**
     * Checks that pieces begin where the caller says.
     *
     * @param begins where
     * @param count how many of them
     * @return their bytes together
     * @throws IllegalArgumentException if none begins at one of these, or one is named twice
     */
    public long check(final long[] begins, final int count) {
        final Set<Long> seen = new HashSet<>();
        long sum = 0;
        for (int i = 0; i < count; i++) {
            if (bytesAt(begins[i]) == 0 || !seen.add(begins[i])) {
                throw new IllegalArgumentException("pieces[" + i + "]=" + begins[i]
                        + " must be where a piece begins, and each must be named once");
            }
            sum += bytesAt(begins[i]);
        }
        return sum;
    }

    /**
     * Checks that pieces may move to the end.
     *
     * @param begins where they are
     * @param count how many of them
     * @throws IllegalArgumentException as {@link #check}, or if there aren't as many addresses
     */
    public void checkMove(final long[] begins, final int count) {
        final long sum = check(begins, count);
        if (sum > region.sizeBytes() - endBytes()) {
            throw new IllegalArgumentException("count=" + count + " must be of pieces for which there are addresses: "
                    + sum + " bytes behind " + endBytes() + " of " + region.sizeBytes());
        }
    }

    /**
     * Adds a piece.
     *
     * @param address where it begins
     * @param pieceBytes its size
     * @param handle what the device calls it
     */
    public void add(final long address, final long pieceBytes, final long handle) {
        pieces.put(address, new Piece(pieceBytes, handle));
        bytes += pieceBytes;
    }

    /**
     * Removes a piece.
     *
     * @param address where it began
     * @return what the device calls it
     */
    @SuppressWarnings("NullAway") // The caller has checked.
    public long remove(final long address) {
        final Piece piece = pieces.remove(address);
        bytes -= piece.bytes();
        return piece.handle();
    }

    /** Counts whole units. */
    private boolean isWhole(final long sizeBytes) {
        return (sizeBytes & (unitBytes - 1)) == 0;
    }
}
