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
 * Addresses of a region whose memory has gone elsewhere. To the strategy each is a retired block, so nobody is handed them, and
 * what finds memory needn't know of them. Holes side by side are one, so there are no more of them than blocks. In arrays, so that one
 * ends without host memory.
 *
 * <p>The lock of the segment's arena is held.
 */
public final class Holes {

    /** Of a strategy's blocks: each hole is one, and the others are needed. */
    private static final int SHARE = 4;

    private final Strategy strategy;

    /** The strategy, if there can be holes. */
    private final @Nullable PartRetiringStrategy parts;

    private final int most;

    /** Of each hole, in order: visitors look these up, who mustn't call the strategy. */
    private long[] addresses = new long[8];

    private long[] blocks = new long[8];
    private int count;

    /** Bytes of all holes before each, where that was just added up. */
    private long[] before = {};

    Holes(final Strategy strategy, final @Nullable PartRetiringStrategy parts, final int mostBlocks) {
        this.strategy = strategy;
        this.parts = parts;
        most = mostBlocks / SHARE;
    }

    /** How many more there may be. */
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

    /** How many begin before an address. */
    private int countBefore(final long address) {
        final int found = Arrays.binarySearch(addresses, 0, count, address);
        return found < 0 ? -found - 1 : found;
    }

    private PartRetiringStrategy parts() {
        return Objects.requireNonNull(parts);
    }

    /** Takes the host memory that one more needs. */
    private void reserve() {
        if (count == addresses.length) {
            blocks = Arrays.copyOf(blocks, 2 * count);
            addresses = Arrays.copyOf(addresses, 2 * count);
        }
    }

    /** {@link #reserve} was called. */
    private void insert(final long address, final long block) {
        final int at = countBefore(address);
        System.arraycopy(addresses, at, addresses, at + 1, count - at);
        System.arraycopy(blocks, at, blocks, at + 1, count - at);
        addresses[at] = address;
        blocks[at] = block;
        count++;
    }

    /**
     * Retires a part of a free block, from which memory is to go: a hole from now on, apart from those beside it until {@link #join}. What
     * {@link PartRetiringStrategy#retireFree} says about the block's name goes for this, too.
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
        final int last = countBefore(address) - 1;
        return last < 0 ? 0 : before[last] + Math.min(address - addresses[last], bytes(last));
    }

    /** Those between two addresses, none of which reaches further from now on; none if the tables are full. */
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

    /** Memory is behind the one that begins there again: it is free. */
    public void fill(final long address) {
        final int at = Arrays.binarySearch(addresses, 0, count, address);
        if (at >= 0) {
            final long block = blocks[at];
            remove(at);
            strategy.release(block);
        }
    }

    /** Those side by side are one. O(holes). */
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

    /** Those that begin there or behind aren't needed any more, since no memory is behind them. */
    void endAt(final long address) {
        while (count > 0 && addresses[count - 1] >= address) {
            strategy.release(blocks[--count]);
        }
    }
}
