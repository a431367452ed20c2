package io.outboard.pool.internal.arena;

import io.outboard.core.GrowableRegion;
import io.outboard.core.Region;
import io.outboard.core.Strategy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Addresses of a region whose memory has gone elsewhere. To the strategy each is a retired block, so nobody is handed them, and
 * what finds memory needn't know of them. Holes side by side are one, so there are no more of them than blocks.
 *
 * <p>The lock of the segment's arena is held.
 */
public final class Holes {

    /** Of a strategy's blocks: each hole is one, and the others are needed. */
    private static final int SHARE = 4;

    private static final class Hole {

        final long block;
        long bytes;

        /** Of all before it, where that was just added up. */
        long bytesBefore;

        Hole(final long block, final long bytes) {
            this.block = block;
            this.bytes = bytes;
        }
    }

    private final Strategy strategy;
    private final int most;
    private final NavigableMap<Long, Hole> holes = new TreeMap<>();

    Holes(final Strategy strategy, final int mostBlocks) {
        this.strategy = strategy;
        most = mostBlocks / SHARE;
    }

    /** How many more there may be. */
    public int room() {
        return Math.max(0, most - holes.size());
    }

    public int count() {
        return holes.size();
    }

    public boolean startAt(final long address) {
        return !holes.isEmpty() && holes.containsKey(address);
    }

    /**
     * Retires a part of a free block, from which memory is to go: a hole from now on, apart from those beside it until {@link #settle}. What
     * {@link Strategy#retireFree} says about the block's name goes for this, too.
     *
     * @return false if the tables are full
     */
    public boolean retire(final long block, final long address, final long bytes) {
        final long retired = strategy.retireFree(block, address, bytes);
        if (retired == Strategy.NO_SPACE) {
            return false;
        }
        try {
            holes.put(address, new Hole(retired, bytes));
        } catch (final Error e) {
            strategy.release(retired);
            throw e;
        }
        return true;
    }

    /**
     * Where a block may be between two blocks in use if holes there have memory again: where the least is missing. O(blocks log holes).
     *
     * <pre>{@code
     *   | used | free | hole | free | used | hole | used |
     *          ^--------------------^
     * }</pre>
     *
     * @return an address before the end of memory, or {@code NO_SPACE}
     */
    public long placeFor(final long sizeBytes, final long alignmentBytes, final long memoryEnd) {
        long bytes = 0;
        for (final Hole hole : holes.values()) {
            hole.bytesBefore = bytes;
            bytes += hole.bytes;
        }
        if (bytes == 0) {
            return Strategy.NO_SPACE;
        }
        final List<Region> room = new ArrayList<>();
        strategy.forEachUndivided((address, blockBytes, free) -> {
            if (address < memoryEnd && (free || startAt(address))) {
                room.add(new Region(address, Math.min(blockBytes, memoryEnd - address)));
            }
        });
        final long alignment = Math.max(alignmentBytes, strategy.granuleBytes());
        long best = Strategy.NO_SPACE;
        long bestBytes = Long.MAX_VALUE;
        long begin = -1;
        long latest = -1;
        for (int i = room.size() - 1; i >= 0; i--) {
            if (room.get(i).endAddress() != begin) {
                // What is behind it is in use.
                latest = (room.get(i).endAddress() - sizeBytes) & -alignment;
            }
            begin = room.get(i).address();
            for (final long address : new long[] {latest, (begin + alignment - 1) & -alignment}) {
                final long missingBytes = bytesIn(address, address + sizeBytes);
                if (begin <= address && address <= latest && missingBytes > 0 && missingBytes < bestBytes) {
                    best = address;
                    bestBytes = missingBytes;
                }
            }
        }
        return best;
    }

    /** How much of them is between two addresses. After {@link #placeFor}, if they haven't changed since. */
    public long bytesIn(final long from, final long to) {
        return bytesBefore(to) - bytesBefore(from);
    }

    private long bytesBefore(final long address) {
        final Map.Entry<Long, Hole> last = holes.lowerEntry(address);
        return last == null
                ? 0
                : last.getValue().bytesBefore + Math.min(address - last.getKey(), last.getValue().bytes);
    }

    /** Those between two addresses, none of which reaches further from now on; none if the tables are full. */
    public List<Region> separated(final long from, final long to) {
        final List<Region> separated = new ArrayList<>();
        if (splitAt(from) && splitAt(to)) {
            holes.subMap(from, to).forEach((address, hole) -> separated.add(new Region(address, hole.bytes)));
        }
        return separated;
    }

    private boolean splitAt(final long address) {
        final Map.Entry<Long, Hole> holder = holes.lowerEntry(address);
        if (holder == null || holder.getKey() + holder.getValue().bytes <= address) {
            return true;
        }
        final Hole hole = holder.getValue();
        final long keptBytes = address - holder.getKey();
        final long rest = strategy.splitRetired(hole.block, keptBytes);
        if (rest == Strategy.NO_SPACE) {
            return false;
        }
        try {
            holes.put(address, new Hole(rest, hole.bytes - keptBytes));
        } catch (final OutOfMemoryError e) {
            strategy.joinRetired(hole.block, rest);
            throw e;
        }
        hole.bytes = keptBytes;
        return true;
    }

    /**
     * After the source has worked: those that have memory, or none behind them, are free, and of the others those side by side are one.
     * For those at the end it takes no host memory, and for the others only what the region does for its answers; what that error leaves
     * undone is done the next time.
     *
     * @param all whether others than those at the end may have changed
     */
    public void settle(final GrowableRegion region, final long memoryEnd, final boolean all) {
        @Nullable Long address = holes.isEmpty() ? null : holes.lastKey();
        while (address != null && (all || address >= memoryEnd)) {
            final Hole hole = Objects.requireNonNull(holes.get(address));
            if (address >= memoryEnd || region.pieceBytes(address) > 0) {
                holes.remove(address);
                strategy.release(hole.block);
            } else {
                final Hole next = holes.remove(address + hole.bytes);
                if (next != null) {
                    strategy.joinRetired(hole.block, next.block);
                    hole.bytes += next.bytes;
                }
            }
            address = holes.lowerKey(address);
        }
    }
}
