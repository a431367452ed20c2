package io.outboard.core;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * This class is a {@link GrowableRegion} without the calls of its device: it knows the pieces, and checks what callers
 * pass. Those who write such a region extend this class.
 *
 * <p>Thread-safety: safe for any number of threads. All methods hold one lock, and so do the methods that a subclass
 * writes while this class calls them. Cost: O(log pieces), beside what the device takes.
 */
public abstract class PiecedRegion implements GrowableRegion {

    private record Piece(long bytes, long handle) {}

    private final Object lock;
    private final Region region;
    private final long unitBytes;
    private final NavigableMap<Long, Piece> pieces = new TreeMap<>();
    private long bytes;
    private boolean closed;

    /**
     * Makes a region without pieces, whose lock is its own monitor.
     *
     * @param region the addresses
     * @param unitBytes what addresses and sizes of pieces are multiples of, counted from the first address; a power
     *     of two
     */
    protected PiecedRegion(final Region region, final long unitBytes) {
        lock = this;
        this.region = region;
        this.unitBytes = unitBytes;
    }

    /**
     * Makes a region without pieces, which shares a lock with others.
     *
     * @param lock the object whose monitor is the lock
     * @param region the addresses
     * @param unitBytes what addresses and sizes of pieces are multiples of, counted from the first address; a power
     *     of two
     */
    protected PiecedRegion(final Object lock, final Region region, final long unitBytes) {
        this.lock = lock;
        this.region = region;
        this.unitBytes = unitBytes;
    }

    @Override
    public final Region region() {
        return region;
    }

    @Override
    public final long unitBytes() {
        return unitBytes;
    }

    @Override
    public final long committedBytes() {
        synchronized (lock) {
            return bytes;
        }
    }

    @Override
    public final long endBytes() {
        synchronized (lock) {
            final Map.Entry<Long, Piece> last = pieces.lastEntry();
            return last == null ? 0 : last.getKey() + last.getValue().bytes() - region.address();
        }
    }

    @Override
    public final long pieceFrom(final long address) {
        synchronized (lock) {
            final Long piece = pieces.ceilingKey(address);
            return piece == null ? region.endAddress() : piece;
        }
    }

    @Override
    public final long pieceBytes(final long address) {
        synchronized (lock) {
            final Piece piece = pieces.get(address);
            return piece == null ? 0 : piece.bytes();
        }
    }

    @Override
    public final void commit(final long address, final long moreBytes, final long pieceBytes) {
        synchronized (lock) {
            checkOpen();
            checkCommit(address, moreBytes, pieceBytes);
            addChecked(address, moreBytes, pieceBytes);
        }
    }

    @Override
    public final void giveBack(final long[] begins, final int count) {
        synchronized (lock) {
            checkOpen();
            checkPieces(begins, count);
            giveBackChecked(begins, count);
        }
    }

    @Override
    public final void move(final long[] begins, final int count) {
        synchronized (lock) {
            checkOpen();
            final long sum = checkPieces(begins, count);
            if (sum > region.sizeBytes() - endBytes()) {
                throw new IllegalArgumentException(
                        "count=" + count + " must be of pieces for which there are addresses: " + sum + " bytes behind "
                                + endBytes() + " of " + region.sizeBytes());
            }
            moveChecked(begins, count);
        }
    }

    /**
     * Does {@link #commit} with arguments that have been checked.
     *
     * @param address where the memory is to be
     * @param moreBytes how much
     * @param pieceBytes size of each piece but the last one
     */
    protected abstract void addChecked(long address, long moreBytes, long pieceBytes);

    /**
     * Does {@link #giveBack} with arguments that have been checked.
     *
     * @param begins where each piece begins
     * @param count how many, 0 or more
     */
    protected abstract void giveBackChecked(long[] begins, int count);

    /**
     * Does {@link #move} with arguments that have been checked.
     *
     * @param begins where each piece begins
     * @param count how many, 0 or more
     */
    protected abstract void moveChecked(long[] begins, int count);

    /**
     * Says that a piece is there from now on.
     *
     * @param address where it begins
     * @param pieceBytes its size
     * @param handle what the device calls it
     */
    protected final void addPiece(final long address, final long pieceBytes, final long handle) {
        synchronized (lock) {
            pieces.put(address, new Piece(pieceBytes, handle));
            bytes += pieceBytes;
        }
    }

    /**
     * Says that a piece isn't there any more.
     *
     * @param address where it began
     * @return what the device calls it
     */
    @SuppressWarnings("NullAway") // The caller has checked.
    protected final long removePiece(final long address) {
        synchronized (lock) {
            final Piece piece = pieces.remove(address);
            bytes -= piece.bytes();
            return piece.handle();
        }
    }

    /**
     * Lists the pieces.
     *
     * @return where each begins, in order of address
     */
    protected final List<Long> pieces() {
        synchronized (lock) {
            return new ArrayList<>(pieces.keySet());
        }
    }

    /**
     * Refuses calls that would change something from now on.
     *
     * @return false if it did so already
     */
    protected final boolean endCalls() {
        synchronized (lock) {
            final boolean wasOpen = !closed;
            closed = true;
            return wasOpen;
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the growable region is closed");
        }
    }

    private void checkCommit(final long address, final long moreBytes, final long pieceBytes) {
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
                || pieceFrom(address) - address < moreBytes) {
            throw new IllegalArgumentException("address=" + address
                    + " must be in a hole, or where memory ends, with room for bytes=" + moreBytes);
        }
    }

    /** Answers how many bytes the pieces have together. */
    private long checkPieces(final long[] begins, final int count) {
        final Set<Long> seen = new HashSet<>();
        long sum = 0;
        for (int i = 0; i < count; i++) {
            if (pieceBytes(begins[i]) == 0 || !seen.add(begins[i])) {
                throw new IllegalArgumentException("pieces[" + i + "]=" + begins[i]
                        + " must be where a piece begins, and each must be named once");
            }
            sum += pieceBytes(begins[i]);
        }
        return sum;
    }

    private boolean isWhole(final long sizeBytes) {
        return (sizeBytes & (unitBytes - 1)) == 0;
    }
}
