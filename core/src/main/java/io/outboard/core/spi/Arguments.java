package io.outboard.core.spi;

import io.outboard.core.ByteSize;
import io.outboard.core.Region;

/**
 * This class checks what callers of a strategy, or of a pool, pass, with one wording for all. It is public for
 * strategies in other modules, not for applications. Safe for any number of threads.
 */
public final class Arguments {

    private Arguments() {}

    /**
     * Checks a requested size.
     *
     * @param sizeBytes in bytes
     * @throws IllegalArgumentException unless {@code sizeBytes > 0}
     */
    public static void checkSize(final long sizeBytes) {
        if (sizeBytes <= 0) {
            throw new IllegalArgumentException("sizeBytes=" + sizeBytes + " must be > 0");
        }
    }

    /**
     * Checks a requested alignment.
     *
     * @param alignmentBytes in bytes
     * @throws IllegalArgumentException unless it is a power of two
     */
    public static void checkAlignment(final long alignmentBytes) {
        if (alignmentBytes <= 0 || (alignmentBytes & (alignmentBytes - 1)) != 0) {
            throw new IllegalArgumentException("alignmentBytes=" + alignmentBytes + " must be a power of two");
        }
    }

    /**
     * Checks what a block is to be trimmed to.
     *
     * @param newSizeBytes in bytes
     * @param sizeBytes of the block, in bytes
     * @throws IllegalArgumentException unless {@code 0 < newSizeBytes <= sizeBytes}
     */
    public static void checkTrim(final long newSizeBytes, final long sizeBytes) {
        if (newSizeBytes <= 0 || newSizeBytes > sizeBytes) {
            throw new IllegalArgumentException(
                    "newSizeBytes=" + newSizeBytes + " must be > 0 and <= the block's size, " + sizeBytes);
        }
    }

    /**
     * Makes the exception for a block that is to be extended to less than it has.
     *
     * @param newSizeBytes what was asked for, in bytes
     * @param sizeBytes of the block, in bytes
     * @return the exception, not thrown
     */
    public static IllegalArgumentException lessThanTheBlock(final long newSizeBytes, final long sizeBytes) {
        return new IllegalArgumentException(
                "newSizeBytes=" + newSizeBytes + ", rounded up, must be >= the block's size, " + sizeBytes);
    }

    /** Checks what a strategy is to divide. */
    static void checkRegion(final Region region, final long granules, final long granuleBytes) {
        if (granules == 0 || granules >= 1L << 32) {
            throw new IllegalArgumentException("region=" + region + " must have from 1 to 2^32 - 1 granules of "
                    + ByteSize.text(granuleBytes) + ": choose another granule");
        }
        if ((region.address() & (granuleBytes - 1)) != 0) {
            throw new IllegalArgumentException(
                    "region=" + region + " must start at a multiple of the granule, " + ByteSize.text(granuleBytes));
        }
    }
}
