package io.outboard.core;

import java.util.Arrays;

/**
 * An operation mix makes random operations on up to 64 blocks, or more, some of them retired. They are the same for the
 * same seed, and make no garbage themselves.
 */
final class OperationMix {

    /** The size of a region that is full now and then. */
    static final long REGION_BYTES = 1L << 20;

    private static final int SLOTS = 64;
    private static final BlockVisitor IGNORE = (address, sizeBytes, free) -> {};

    /** The number from which a retired block's name is taken for its slot: less than any address, and than NO_SPACE. */
    private static final long RETIRED = -2;

    private final long[] addresses;
    private long random;

    OperationMix(final long seed) {
        this(seed, SLOTS);
    }

    /** Makes a mix on up to {@code slots} blocks: a power of two, up to 2^11. */
    OperationMix(final long seed, final int slots) {
        random = seed;
        addresses = new long[slots];
        Arrays.fill(addresses, Strategy.NO_SPACE);
    }

    /** Makes one operation for each element of {@code answers}, and stores the strategy's answer there. */
    void run(final Strategy strategy, final long[] answers) {
        for (int i = 0; i < answers.length; i++) {
            random = random * 6364136223846793005L + 1442695040888963407L;
            final long choice = random >>> 17;
            final int slot = (int) (choice >>> 36) & (addresses.length - 1);
            final long held = addresses[slot];
            if (held == Strategy.NO_SPACE) {
                final long sizeBytes = 1 + (choice & 0xFFFF);
                addresses[slot] = (choice & 0x30000) == 0
                        ? strategy.allocate(sizeBytes, 256L << ((choice >>> 20) & 7))
                        : strategy.allocate(sizeBytes);
                answers[i] = addresses[slot];
            } else if (held <= RETIRED) {
                answers[i] = endRetirement(strategy, slot, RETIRED - held, (choice & 3) == 0);
            } else {
                answers[i] = change(strategy, slot, held, choice);
            }
            if (i % 1024 == 0) {
                strategy.forEachBlock(IGNORE);
                answers[i] += strategy.freeBytes();
            }
        }
    }

    private long change(final Strategy strategy, final int slot, final long held, final long choice) {
        final long sizeBytes = strategy.sizeOf(held);
        switch ((int) (choice & 7)) {
            case 0:
                strategy.trim(held, (sizeBytes + 1) / 2);
                return strategy.sizeOf(held);
            case 1:
                return strategy.extend(held, sizeBytes + 2048) ? 1 : 0;
            case 2:
            case 3:
                addresses[slot] = RETIRED - strategy.retire(held);
                return sizeBytes;
            default:
                strategy.free(held);
                addresses[slot] = Strategy.NO_SPACE;
                return sizeBytes;
        }
    }

    private long endRetirement(final Strategy strategy, final int slot, final long retired, final boolean restored) {
        final long sizeBytes = strategy.retiredBytes(retired);
        final long address = strategy.retiredAddress(retired);
        if (restored) {
            addresses[slot] = strategy.restore(retired);
            return addresses[slot] + sizeBytes - address;
        }
        addresses[slot] = Strategy.NO_SPACE;
        return strategy.release(retired);
    }

    /** Frees what is held, and releases what is retired. */
    void freeAll(final Strategy strategy) {
        for (int slot = 0; slot < addresses.length; slot++) {
            final long held = addresses[slot];
            if (held <= RETIRED) {
                strategy.release(RETIRED - held);
            } else if (held != Strategy.NO_SPACE) {
                strategy.free(held);
            }
            addresses[slot] = Strategy.NO_SPACE;
        }
    }
}
