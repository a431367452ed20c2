package io.outboard.bench.cli.trace;

/**
 * This class generates random numbers by the 32-bit generator MT19937 of Matsumoto and Nishimura (1998), as
 * {@code std::mt19937} seeds and tempers it.
 *
 * <p>Thread-safety: confined to one thread. Cost: 2.5 KB of state.
 */
final class MersenneTwister {

    private static final int WORDS = 624;
    private static final int MIDDLE = 397;
    private static final int MATRIX = 0x9908B0DF;

    private final int[] state = new int[WORDS];
    private int position = WORDS;

    MersenneTwister(final int seed) {
        state[0] = seed;
        for (int i = 1; i < WORDS; i++) {
            final int previous = state[i - 1];
            state[i] = 1812433253 * (previous ^ (previous >>> 30)) + i;
        }
    }

    /** Returns the next 32 bits, as an unsigned number. */
    long next() {
        if (position == WORDS) {
            twist();
            position = 0;
        }
        int y = state[position++];
        y ^= y >>> 11;
        y ^= (y << 7) & 0x9D2C5680;
        y ^= (y << 15) & 0xEFC60000;
        y ^= y >>> 18;
        return y & 0xFFFFFFFFL;
    }

    /**
     * Returns a whole number in {@code 0..n-1}, {@code 0 < n < 2^31}, as libstdc++ maps a draw to it (Lemire 2019,
     * algorithm 5).
     */
    long below(final long n) {
        long product = next() * n;
        long low = product & 0xFFFFFFFFL;
        if (low < n) {
            final long threshold = ((1L << 32) - n) % n;
            while (low < threshold) {
                product = next() * n;
                low = product & 0xFFFFFFFFL;
            }
        }
        return product >>> 32;
    }

    private void twist() {
        for (int i = 0; i < WORDS; i++) {
            final int y = (state[i] & 0x80000000) | (state[(i + 1) % WORDS] & 0x7FFFFFFF);
            state[i] = state[(i + MIDDLE) % WORDS] ^ (y >>> 1) ^ ((y & 1) == 0 ? 0 : MATRIX);
        }
    }
}
