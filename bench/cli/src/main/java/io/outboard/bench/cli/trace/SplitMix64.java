package io.outboard.bench.cli.trace;

/**
 * This class generates random numbers by the generator of Steele, Lea and Flood (2014, figures 14 and 16), with the
 * mappings that define the profiles.
 *
 * <p>Thread-safety: confined to one thread.
 */
public final class SplitMix64 {

    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

    private long state;

    /**
     * Makes a generator.
     *
     * @param seed the same seed gives the same numbers
     */
    public SplitMix64(final long seed) {
        state = seed;
    }

    /**
     * Draws a number.
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
     * Draws a whole number: the high 64 bits of the unsigned product of {@code n} and a draw.
     *
     * @param n how many numbers there are to choose from, n > 0
     * @return a number in {@code 0..n-1}
     */
    public long below(final long n) {
        final long draw = next();
        // multiplyHigh treats a draw with its top bit set as draw - 2^64, so n is missing from the high half.
        return Math.multiplyHigh(draw, n) + ((draw >> 63) & n);
    }

    /**
     * Draws a number with 53 random bits.
     *
     * @return a number in [0, 1)
     */
    public double unit() {
        return (next() >>> 11) * 0x1.0p-53;
    }

    /** Draws a whole number in {@code lo..hi}, both included. */
    long uniform(final long lo, final long hi) {
        return lo + below(hi - lo + 1);
    }

    /**
     * Draws a number whose logarithm is uniform between two powers of two, cut to a whole number. The bounds are given
     * as logarithms, so that they are exact; {@code StrictMath} gives the same trace on every machine.
     */
    long logUniform(final int loLog2, final int hiLog2) {
        final long value = (long) StrictMath.pow(2.0, loLog2 + unit() * (hiLog2 - loLog2));
        return Math.max(1L << loLog2, Math.min(value, 1L << hiLog2));
    }
}
