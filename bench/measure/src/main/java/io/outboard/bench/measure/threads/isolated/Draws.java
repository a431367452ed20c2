package io.outboard.bench.measure.threads.isolated;

import io.outboard.bench.cli.trace.SplitMix64;
import io.outboard.bench.measure.threads.ThreadSettings;

/**
 * The random choices of one thread, a slot and a size each, are drawn beforehand and repeated in a circle, so that
 * drawing isn't measured. Confined to one thread at a time.
 */
final class Draws {

    private static final int COUNT = 1 << 13;
    private static final int SLOT_SHIFT = 44;
    private static final long BYTES_MASK = (1L << SLOT_SHIFT) - 1;

    private final long[] draws = new long[COUNT];
    private int next;

    /** {@code seed} decides the choices. */
    Draws(final ThreadSettings settings, final int slots, final long seed) {
        final SplitMix64 random = new SplitMix64(seed);
        final double logSmallest = Math.log((double) settings.smallestBytes());
        final double logRange = Math.log((double) settings.largestBytes()) - logSmallest;
        for (int i = 0; i < COUNT; i++) {
            final long slot = random.below(slots);
            final long bytes = (long) StrictMath.exp(logSmallest + random.unit() * logRange);
            draws[i] =
                    slot << SLOT_SHIFT | Math.max(settings.smallestBytes(), Math.min(bytes, settings.largestBytes()));
        }
    }

    /** Returns the next pair of choices. */
    long next() {
        next = (next + 1) & (COUNT - 1);
        return draws[next];
    }

    static int slot(final long draw) {
        return (int) (draw >>> SLOT_SHIFT);
    }

    static long bytes(final long draw) {
        return draw & BYTES_MASK;
    }
}
