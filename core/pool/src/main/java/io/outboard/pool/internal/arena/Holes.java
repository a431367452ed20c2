package io.outboard.pool.internal.arena;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Addresses of a region whose memory has gone elsewhere. To the strategy each is a retired block, so nobody is handed them, and
 * what finds memory needn't know of them. Holes side by side are one, so there are no more of them than blocks.
 *
 * <p>The lock of the segment's arena is held.
 *
 * <p>Public for the pool's other packages, not for applications.
 */
public final class Holes {

    /** Of a strategy's blocks: each hole is one, and the others are needed. */
    private static final int SHARE = 4;

    private static final class Hole {

        /** What names it. */
        final long block;

        long bytes;

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

    /** From now on a retired block is one. */
    public void add(final long address, final long block, final long bytes) {
        holes.put(address, new Hole(block, bytes));
        joinAt(address + bytes);
        joinAt(address);
    }

    /** How much of them is between two addresses. */
    public long bytesIn(final long from, final long to) {
        long bytes = 0;
        final Long before = holes.lowerKey(from);
        for (final Map.Entry<Long, Hole> each :
                holes.subMap(before == null ? from : before, to).entrySet()) {
            final long end = each.getKey() + each.getValue().bytes;
            bytes += Math.max(0, Math.min(end, to) - Math.max(each.getKey(), from));
        }
        return bytes;
    }

    /** If one ends where another begins, they are one. */
    public void joinAt(final long address) {
        final Map.Entry<Long, Hole> before = holes.lowerEntry(address);
        final Hole after = holes.get(address);
        if (after != null && before != null && before.getKey() + before.getValue().bytes == address) {
            holes.remove(address);
            strategy.joinRetired(before.getValue().block, after.block);
            before.getValue().bytes += after.bytes;
        }
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

    /** Memory is behind it again: it is free. */
    @SuppressWarnings("NullAway") // The caller knows that one begins there.
    public void fill(final long address) {
        strategy.release(holes.remove(address).block);
    }

    /** Those that begin there or behind aren't needed any more, since no memory is behind them. */
    public void endAt(final long address) {
        for (Map.Entry<Long, Hole> last = holes.lastEntry();
                last != null && last.getKey() >= address;
                last = holes.lastEntry()) {
            holes.remove(last.getKey());
            strategy.release(last.getValue().block);
        }
    }
}
