package io.outboard.bench.measure.threads.isolated;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A ring hands addresses from one thread to another, in order, as many as it has room for.
 *
 * <pre>
 *   counters  ....... | produced, consumed as the producer saw it last | ....... | consumed, produced as ... | .......
 *                      16        17                                               48        49
 *   slots     [ 0 | a | b | c | 0 | 0 ]        an address, or 0 for an empty slot isn't needed: the counters tell
 * </pre>
 *
 * <p>Each side writes one counter, and reads the other's only when its last copy says that there is no room, or nothing
 * to take. Two cache lines, and the line that the processor prefetches with them, lie between the sides; otherwise each
 * side would take the other's line away on every block. Safe for one producer and one consumer. No garbage.
 */
final class Ring {

    private static final VarHandle COUNTERS = MethodHandles.arrayElementVarHandle(long[].class);

    private static final int PRODUCED = 16;
    private static final int CONSUMED_SEEN = 17;
    private static final int CONSUMED = 48;
    private static final int PRODUCED_SEEN = 49;
    private static final int COUNTERS_LENGTH = 80;

    private final long[] slots;
    private final long[] counters = new long[COUNTERS_LENGTH];

    /** {@code capacity} is a power of two. */
    Ring(final int capacity) {
        if (Integer.bitCount(capacity) != 1) {
            throw new IllegalArgumentException("capacity=" + capacity + " must be a power of two");
        }
        slots = new long[capacity];
    }

    /** Hands an address on, or returns false if there is no room; only the producer calls it. */
    boolean offer(final long address) {
        final long produced = counters[PRODUCED];
        if (produced - counters[CONSUMED_SEEN] == slots.length) {
            // The acquire pairs with the release in poll: the slot has been read before it is written again.
            counters[CONSUMED_SEEN] = (long) COUNTERS.getAcquire(counters, CONSUMED);
            if (produced - counters[CONSUMED_SEEN] == slots.length) {
                return false;
            }
        }
        slots[(int) produced & (slots.length - 1)] = address;
        // The release pairs with the acquire in poll: the address is written before the counter.
        COUNTERS.setRelease(counters, PRODUCED, produced + 1);
        return true;
    }

    /** Returns the next address, or {@link Blocks#NO_BLOCK} if there is none; only the consumer calls it. */
    long poll() {
        final long consumed = counters[CONSUMED];
        if (consumed == counters[PRODUCED_SEEN]) {
            // The acquire pairs with the release in offer.
            counters[PRODUCED_SEEN] = (long) COUNTERS.getAcquire(counters, PRODUCED);
            if (consumed == counters[PRODUCED_SEEN]) {
                return Blocks.NO_BLOCK;
            }
        }
        final long address = slots[(int) consumed & (slots.length - 1)];
        // The release pairs with the acquire in offer.
        COUNTERS.setRelease(counters, CONSUMED, consumed + 1);
        return address;
    }
}
