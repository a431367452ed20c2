package io.outboard.pool;

import io.outboard.core.Strategy;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.LongConsumer;

/**
 * Addresses of a region whose memory has moved elsewhere. To the strategy each is a retired block, so nobody is handed them, and
 * what finds memory needn't know of them.
 *
 * <p>The main lane's lock is held.
 */
final class Holes {

    /** Of a strategy's blocks: each hole is one, and the others are needed. */
    private static final int SHARE = 4;

    private final Strategy strategy;
    private final int most;

    /** What names them, by where they begin. */
    private final NavigableMap<Long, Long> retired = new TreeMap<>();

    Holes(final Strategy strategy, final int mostBlocks) {
        this.strategy = strategy;
        most = mostBlocks / SHARE;
    }

    /** How many more there may be, if so many have memory again. */
    int room(final int filled) {
        return Math.max(0, most - retired.size() + filled);
    }

    int count() {
        return retired.size();
    }

    boolean startAt(final long address) {
        return !retired.isEmpty() && retired.containsKey(address);
    }

    /** Those that begin from there to there, in order of address. */
    void forEachIn(final long from, final long to, final LongConsumer visitor) {
        retired.subMap(from, to).keySet().forEach(visitor::accept);
    }

    /** From now on a retired block is one. */
    void add(final long address, final long block) {
        retired.put(address, block);
    }

    /** Memory is behind it again: it is free. */
    void fill(final long address) {
        final Long block = retired.remove(address);
        if (block != null) {
            strategy.release(block);
        }
    }

    /** Those that begin there or behind aren't needed any more, since no memory is behind them. */
    void endAt(final long address) {
        for (Map.Entry<Long, Long> last = retired.lastEntry();
                last != null && last.getKey() >= address;
                last = retired.lastEntry()) {
            retired.remove(last.getKey());
            strategy.release(last.getValue());
        }
    }
}
