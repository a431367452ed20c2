package io.outboard.pool.internal.growth;

import io.outboard.core.GrowableRegion;
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
 * <p>The constructor, {@link #retire} and {@link #settle} need the arena's lock; the source is called without it.
 */
final class FreePieces {

    /** To be moved: each costs as much, whatever its size. */
    static final Comparator<Piece> LARGEST_FIRST = Comparator.comparingLong(Piece::bytes)
            .reversed()
            .thenComparing(Comparator.comparingLong(Piece::address).reversed());

    /** To be given back: no holes stay behind the last memory. */
    static final Comparator<Piece> LAST_FIRST =
            Comparator.comparingLong(Piece::address).reversed();

    /** In a free block that the strategy calls so. */
    record Piece(long block, long address, long bytes) {}

    private final Segment region;
    private final GrowableRegion growable;
    private List<Piece> pieces = new ArrayList<>();

    /** What names those that are retired. */
    private long[] retired = {};

    /**
     * Finds them.
     *
     * @param sparedFrom none that has memory from there
     * @param sparedTo to there
     */
    FreePieces(final Segment region, final long sparedFrom, final long sparedTo) {
        this.region = region;
        growable = Objects.requireNonNull(region.growable);
        region.strategy.forEachFree(growable.unitBytes(), (block, address, sizeBytes) -> {
            long piece = growable.pieceFrom(address);
            while (piece < address + sizeBytes) {
                final long end = piece + growable.pieceBytes(piece);
                if (end <= address + sizeBytes && (end <= sparedFrom || piece >= sparedTo)) {
                    pieces.add(new Piece(block, piece, end - piece));
                }
                piece = growable.pieceFrom(end);
            }
        });
    }

    /**
     * Retires as many as are enough, or all if that isn't enough.
     *
     * @return bytes that are retired
     */
    long retire(final long enoughBytes, final Comparator<Piece> order) {
        choose(enoughBytes, order);
        // A free block keeps its name while its end is retired.
        pieces.sort(LAST_FIRST);
        retired = new long[pieces.size()];
        long bytes = 0;
        for (int i = 0; i < retired.length; i++) {
            final Piece piece = pieces.get(i);
            retired[i] = region.strategy.retireFree(piece.block(), piece.address(), piece.bytes());
            if (retired[i] == Strategy.NO_SPACE) {
                pieces.subList(i, pieces.size()).clear();
                break;
            }
            bytes += piece.bytes();
        }
        return bytes;
    }

    private void choose(final long enoughBytes, final Comparator<Piece> order) {
        pieces.sort(order);
        final List<Piece> chosen = new ArrayList<>();
        final int most = Math.min(pieces.size(), region.holes.room());
        long left = enoughBytes;
        for (int i = 0; i < most && left > 0; i++) {
            int last = i;
            while (order == LARGEST_FIRST
                    && last + 1 < pieces.size()
                    && pieces.get(last + 1).bytes() >= left) {
                // No more than enough.
                last++;
            }
            chosen.add(pieces.get(last));
            left -= pieces.get(last).bytes();
        }
        pieces = chosen;
    }

    /** Of all that were found, or of those that are retired. */
    long bytes() {
        return pieces.stream().mapToLong(Piece::bytes).sum();
    }

    int count() {
        return pieces.size();
    }

    long[] addresses() {
        return pieces.stream().mapToLong(Piece::address).toArray();
    }

    /** What became of those that are retired; how many bytes aren't where they were. */
    long settle() {
        long goneBytes = 0;
        for (int i = 0; i < pieces.size(); i++) {
            final Piece piece = pieces.get(i);
            if (growable.pieceBytes(piece.address()) > 0) {
                region.strategy.release(retired[i]);
            } else {
                goneBytes += piece.bytes();
                addHole(piece, retired[i]);
            }
        }
        pieces = List.of();
        return goneBytes;
    }

    private void addHole(final Piece piece, final long block) {
        try {
            region.holes.add(piece.address(), block, piece.bytes());
        } catch (final OutOfMemoryError ignored) {
            // These addresses are never used again: there are others, and no memory is lost.
        }
    }
}
