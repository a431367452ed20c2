package io.outboard.pool.internal.arena;

import io.outboard.core.PartRetiringStrategy;
import io.outboard.core.Region;
import io.outboard.core.SlabStrategy;
import io.outboard.core.Strategy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Holes are addresses of a region whose memory has gone elsewhere. To the strategy each hole is a retired block, so no
 * request gets it, and the code that places requests needn't know of holes. Neighbouring holes are one, so there are no
 * more holes than blocks. They are kept in arrays, so that a hole can end without host memory.
 *
 * <p>The lock of the segment's arena is held.
 */
public final class Holes {

    /** Holes may be this share of a strategy's blocks; the other blocks are needed. */
    private static final int SHARE = 4;

    private final Strategy strategy;

    /** The strategy, if there can be holes. */
    private final @Nullable PartRetiringStrategy parts;

    private final int most;

    /**
     * The address of each hole, in order. Visitors of blocks look holes up here, since they mustn't call the strategy.
     */
    private long[] addresses = new long[8];

    private long[] blocks = new long[8];
    private int count;

    /** The bytes of all holes before each, after {@link #placeFor}. */
    private long[] before = {};

    Holes(final Strategy strategy, final @Nullable PartRetiringStrategy parts, final int mostBlocks) {
        this.strategy = strategy;
        this.parts = parts;
        most = mostBlocks / SHARE;
    }

    /** Returns how many more holes there may be. */
    public int room() {
        return Math.max(0, most - count);
    }

    public int count() {
        return count;
    }

    public boolean startAt(final long address) {
        return count > 0 && Arrays.binarySearch(addresses, 0, count, address) >= 0;
    }

    private long bytes(final int hole) {
        return strategy.retiredBytes(blocks[hole]);
    }

    /** Returns how many holes begin before an address. */
    private int countBefore(final long address) {
        final int found = Arrays.binarySearch(addresses, 0, count, address);
        return found < 0 ? -found - 1 : found;
    }

    private PartRetiringStrategy parts() {
        return Objects.requireNonNull(parts);
    }

    /** Takes the host memory that one more hole needs. */
    private void reserve() {
        if (count == addresses.length) {
            blocks = Arrays.copyOf(blocks, 2 * count);
            addresses = Arrays.copyOf(addresses, 2 * count);
        }
    }

    /** Inserts a hole; {@link #reserve} was called. */
    private void insert(final long address, final long block) {
        final int at = countBefore(address);
        System.arraycopy(addresses, at, addresses, at + 1, count - at);
        System.arraycopy(blocks, at, blocks, at + 1, count - at);
        addresses[at] = address;
        blocks[at] = block;
        count++;
    }

    /**
     * Retires a part of a free block, whose memory is to go: it is a hole from now on, apart from its neighbours until
     * {@link #join}. For the block's name see {@link PartRetiringStrategy#retireFree}.
     *
     * @return false if the tables are full
     */
    public boolean retire(final long block, final long address, final long sizeBytes) {
        reserve();
        final long retired = parts().retireFree(block, address, sizeBytes);
        if (retired == Strategy.NO_SPACE) {
            return false;
        }
        insert(address, retired);
        return true;
    }

    /**
     * Finds where a block may lie between two blocks in use if holes there have memory again: the place where the least
     * memory is missing. O(blocks log holes).
     *
     * <pre>{@code
     *   | used | free | hole | free | used | hole | used |
     *          ^--------------------^
     * }</pre>
     *
     * @return an address before the end of memory, or {@code NO_SPACE}
     */
    public long placeFor(final long sizeBytes, final long alignmentBytes, final long memoryEnd) {
        if (count == 0) {
            return Strategy.NO_SPACE;
        }
        before = new long[count];
        for (int i = 1; i < count; i++) {
            before[i] = before[i - 1] + bytes(i - 1);
        }
        final List<Region> room = new ArrayList<>();
        SlabStrategy.forEachUndivided(strategy, (address, blockBytes, free) -> {
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
                // The block behind this one is in use.
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

    /**
     * Returns the bytes of holes between two addresses; valid after {@link #placeFor}, if holes haven't changed since.
     */
    public long bytesIn(final long from, final long to) {
        return bytesBefore(to) - bytesBefore(from);
    }

    private long bytesBefore(final long address) {
        final int last = countBefore(address) - 1;
        return last < 0 ? 0 : before[last] + Math.min(address - addresses[last], bytes(last));
    }

    /**
     * Returns the holes between two addresses, of which none reaches further from now on; none if the tables are full.
     */
    public List<Region> separated(final long from, final long to) {
        final List<Region> separated = new ArrayList<>();
        if (splitAt(from) && splitAt(to)) {
            for (int i = countBefore(from); i < countBefore(to); i++) {
                separated.add(new Region(addresses[i], bytes(i)));
            }
        }
        return separated;
    }

    private boolean splitAt(final long address) {
        final int holder = countBefore(address) - 1;
        if (holder < 0 || addresses[holder] + bytes(holder) <= address) {
            return true;
        }
        reserve();
        final long rest = parts().splitRetired(blocks[holder], address - addresses[holder]);
        if (rest == Strategy.NO_SPACE) {
            return false;
        }
        insert(address, rest);
        return true;
    }

    /** Ends the hole that begins there, since it has memory again: its addresses are free. */
    public void fill(final long address) {
        final int at = Arrays.binarySearch(addresses, 0, count, address);
        if (at >= 0) {
            final long block = blocks[at];
            remove(at);
            strategy.release(block);
        }
    }

    /** Joins neighbouring holes. O(holes). */
    public void join() {
        for (int at = count - 1; at > 0; at--) {
            if (addresses[at - 1] + bytes(at - 1) == addresses[at]) {
                parts().joinRetired(blocks[at - 1], blocks[at]);
                remove(at);
            }
        }
    }

    private void remove(final int at) {
        count--;
        System.arraycopy(addresses, at + 1, addresses, at, count - at);
        System.arraycopy(blocks, at + 1, blocks, at, count - at);
    }

    /** Ends the holes that begin at an address or behind: no memory is behind them. */
    void endAt(final long address) {
        while (count > 0 && addresses[count - 1] >= address) {
            strategy.release(blocks[--count]);
        }
    }
}
