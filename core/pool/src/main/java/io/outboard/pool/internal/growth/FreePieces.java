package io.outboard.pool.internal.growth;

import io.outboard.core.GrowableRegion;
import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.pool.internal.arena.Segment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/**
 * Pieces of a region's memory that lie wholly in free blocks. Some are retired, so that nobody is handed them while the source takes
 * their memory away. Then those without memory are holes, and the others are free again: which ones is the region's word, whatever
 * failed.
 *
 * <p>The arena's lock is held, but for what only reads; the source is called without it.
 */
final class FreePieces {

    /** To be given back: no holes stay behind the last memory. */
    static final Comparator<Piece> LAST_FIRST =
            Comparator.comparingLong(Piece::address).reversed();

    /** To be moved: each costs as much, whatever its size. */
    static final Comparator<Piece> LARGEST_FIRST =
            Comparator.comparingLong(Piece::bytes).reversed().thenComparing(LAST_FIRST);

    /** In a free block that the strategy calls so. */
    record Piece(long block, long address, long bytes) {}

    private final Segment segment;
    private final GrowableRegion growable;
    private List<Piece> pieces = new ArrayList<>();

    /** What names those that are retired. */
    private long[] retired = {};

    /** How many of the first pieces nobody is handed now. */
    private int count;

    FreePieces(final Segment segment) {
        this.segment = segment;
        growable = Objects.requireNonNull(segment.growable);
    }

    /** Finds all but those that have memory between two addresses. */
    FreePieces find(final long sparedFrom, final long sparedTo) {
        segment.strategy.forEachFree(growable.unitBytes(), (block, address, sizeBytes) -> {
            long piece = growable.pieceFrom(address);
            while (piece < address + sizeBytes) {
                final long end = piece + growable.pieceBytes(piece);
                if (end <= address + sizeBytes && (end <= sparedFrom || piece >= sparedTo)) {
                    pieces.add(new Piece(block, piece, end - piece));
                }
                piece = growable.pieceFrom(end);
            }
        });
        return this;
    }

    /** How much was found. */
    long bytes() {
        return pieces.stream().mapToLong(Piece::bytes).sum();
    }

    /**
     * Retires as many as are enough, or all if that isn't enough.
     *
     * @return bytes that are retired
     */
    long retire(final long enoughBytes, final Comparator<Piece> order) {
        pieces = choose(order, enoughBytes, segment.holes.room());
        // A free block keeps its name while its end is retired.
        pieces.sort(LAST_FIRST);
        retired = new long[pieces.size()];
        long bytes = 0;
        for (final Piece piece : pieces) {
            retired[count] = segment.strategy.retireFree(piece.block(), piece.address(), piece.bytes());
            if (retired[count] == Strategy.NO_SPACE) {
                break;
            }
            addHole(piece, retired[count]);
            count++;
            bytes += piece.bytes();
        }
        return bytes;
    }

    /** Where free memory can't be retired: nobody is handed any behind the last block in use, and who looks for some waits to grow. */
    void withdrawTail(final long enoughBytes) {
        final long end = segment.lastBlockEnd();
        for (long piece = growable.pieceFrom(end);
                piece < segment.taken.endAddress();
                piece = growable.pieceFrom(piece + 1)) {
            pieces.add(new Piece(Strategy.NO_SPACE, piece, growable.pieceBytes(piece)));
        }
        pieces = choose(LAST_FIRST, enoughBytes, pieces.size());
        count = pieces.size();
        segment.withdrawBehind(end);
    }

    private List<Piece> choose(final Comparator<Piece> order, final long enoughBytes, final int most) {
        pieces.sort(order);
        final List<Piece> chosen = new ArrayList<>();
        long left = enoughBytes;
        for (int i = 0; i < pieces.size() && left > 0 && chosen.size() < most; i++) {
            final boolean isNextEnough = order == LARGEST_FIRST
                    && i + 1 < pieces.size()
                    && pieces.get(i + 1).bytes() >= left;
            if (!isNextEnough) {
                chosen.add(pieces.get(i));
                left -= pieces.get(i).bytes();
            }
        }
        return chosen;
    }

    /** How many are retired or withdrawn. */
    int count() {
        return count;
    }

    long[] addresses() {
        return pieces.stream().limit(count).mapToLong(Piece::address).toArray();
    }

    /** These go back to the device. False if the region did nothing, since a capture has begun. */
    boolean giveBack() {
        if (count > 0) {
            growable.giveBack(addresses(), count);
        }
        return pieces.stream().limit(count).allMatch(this::isGone);
    }

    private boolean isGone(final Piece piece) {
        return growable.pieceBytes(piece.address()) == 0;
    }

    /** What isn't where it was: pieces side by side are one, the last ones are first. */
    List<Region> gone() {
        final List<Region> rows = new ArrayList<>();
        for (final Piece piece : pieces.subList(0, count)) {
            if (isGone(piece)) {
                final Region last = rows.isEmpty() ? null : rows.get(rows.size() - 1);
                if (last != null && last.address() == piece.address() + piece.bytes()) {
                    rows.set(rows.size() - 1, new Region(piece.address(), piece.bytes() + last.sizeBytes()));
                } else {
                    rows.add(new Region(piece.address(), piece.bytes()));
                }
            }
        }
        return rows;
    }

    /** Those that are where they were are free again; how many bytes aren't. */
    long settle() {
        long goneBytes = 0;
        for (int i = 0; i < count; i++) {
            final Piece piece = pieces.get(i);
            if (isGone(piece)) {
                goneBytes += piece.bytes();
            } else if (i < retired.length) {
                segment.holes.fill(piece.address());
            }
        }
        return goneBytes;
    }

    /** They have settled: those that are gone are one with holes beside them. */
    void join() {
        for (int i = 0; i < count && i < retired.length; i++) {
            final Piece piece = pieces.get(i);
            if (isGone(piece)) {
                segment.holes.joinAt(piece.address() + piece.bytes());
                segment.holes.joinAt(piece.address());
            }
        }
    }

    /** Nobody is handed it meanwhile; before the source works, since there may be no host memory for that later. */
    private void addHole(final Piece piece, final long block) {
        boolean added = false;
        try {
            segment.holes.add(piece.address(), block, piece.bytes());
            added = true;
        } finally {
            if (!added) {
                segment.strategy.release(block);
            }
        }
    }
}
