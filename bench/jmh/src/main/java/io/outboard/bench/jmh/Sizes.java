package io.outboard.bench.jmh;

import io.outboard.bench.cli.trace.SplitMix64;

/** Sizes drawn before anything is measured. Safe for any number of threads. */
final class Sizes {

    /** A power of two, so that a mask takes an index into it. */
    static final int COUNT = 1 << 12;

    private Sizes() {}

    /** Sizes of the profile {@code paper}, 1 KiB to 16 MiB, in bytes. */
    static long[] ofPaper(final long seed) {
        final SplitMix64 random = new SplitMix64(seed);
        final long[] sizes = new long[COUNT];
        for (int i = 0; i < COUNT; i++) {
            sizes[i] = 1024 + random.below((16 << 20) - 1023);
        }
        return sizes;
    }
}
