package io.outboard.bench.cli.trace;

/**
 * The generator of Steele, Lea and Flood (2014, figures 14 and 16), with the mappings that the profiles are defined by.
 *
 * <p>Thread-safety: confined to one thread.
 */
public final class SplitMix64 {

    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

    private long state;

    /**
     * A generator.
     *
     * @param seed the same gives the same numbers
     */
    public SplitMix64(final long seed) {
        state = seed;
    }

    /**
     * Draws.
     *
     * @return 64 random bits
     */
    public long next() {
        state += GOLDEN_GAMMA;
        long z = state;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    /**
     * A whole number: the high 64 bits of the unsigned product with a draw.
     *
     * @param n how many there are to choose from, n > 0
     * @return one in {@code 0..n-1}
     */
    public long below(final long n) {
        final long draw = next();
        // multiplyHigh takes a draw with its top bit set for draw - 2^64, so n is missing from the high half.
        return Math.multiplyHigh(draw, n) + ((draw >> 63) & n);
    }

    /**
     * A number with 53 random bits.
     *
     * @return one in [0, 1)
     */
    public double unit() {
        return (next() >>> 11) * 0x1.0p-53;
    }

    /** A whole number in {@code lo..hi}, both included. */
    long uniform(final long lo, final long hi) {
        return lo + below(hi - lo + 1);
    }

    /**
     * A whole number whose logarithm is uniform between two powers of two, cut to a whole number. Takes the logarithms,
     * so that they are exact; {@code StrictMath}, so that every machine gives the same trace.
     */
    long logUniform(final int loLog2, final int hiLog2) {
        final long value = (long) StrictMath.pow(2.0, loLog2 + unit() * (hiLog2 - loLog2));
        return Math.max(1L << loLog2, Math.min(value, 1L << hiLog2));
    }
}
