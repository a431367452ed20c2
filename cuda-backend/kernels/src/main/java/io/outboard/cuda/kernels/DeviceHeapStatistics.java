package io.outboard.cuda.kernels;

/**
 * This record tells what is in use in an in-kernel heap, as {@link DeviceHeap#statistics} found by a scan. Immutable,
 * so safe for any number of threads. Sizes are of whole chunks, their headers included.
 *
 * @param capacityBytes sum of all chunks, in bytes
 * @param usedChunks chunks that kernels hold
 * @param usedBytes their sizes together, in bytes
 * @param freeChunks chunks that are free
 * @param freeBytes their sizes together, in bytes
 * @param largestFreeBytes longest run of free chunks side by side, in bytes: a request joins them
 * @param largestFreeChunkBytes largest single free chunk, in bytes
 * @param misuses frees that were refused since the heap was formatted: second frees, or frees of pointers that aren't
 *     the heap's
 * @param internalFragmentation equation 2 of Vinkler and Havran 2014: the share of a used chunk that wasn't requested,
 *     as the mean over used chunks, {@code 0 <= internalFragmentation < 1}; NaN if no chunk is in use or requests
 *     aren't tracked
 */
public record DeviceHeapStatistics(
        long capacityBytes,
        long usedChunks,
        long usedBytes,
        long freeChunks,
        long freeBytes,
        long largestFreeBytes,
        long largestFreeChunkBytes,
        long misuses,
        double internalFragmentation) {

    /** The number of words that the kernel leaves that sums up. */
    static final int WORDS = 10;

    static DeviceHeapStatistics of(final long... words) {
        final long tracked = words[7];
        return new DeviceHeapStatistics(
                words[0],
                words[1],
                words[2],
                words[3],
                words[4],
                words[5],
                words[9],
                words[6],
                tracked == 0 ? Double.NaN : Double.longBitsToDouble(words[8]) / tracked);
    }

    /**
     * Computes equation 3 of Vinkler and Havran 2014, with free chunks side by side taken as one.
     *
     * @return 0 if all free memory lies together or nothing is free; nearer to 1 the more the free memory is scattered
     */
    public double externalFragmentation() {
        return scattered(largestFreeBytes);
    }

    /**
     * Computes equation 3 over single chunks, as the paper does.
     *
     * @return 0 if one chunk has all free memory or nothing is free; nearer to 1 the more the free memory is divided
     */
    public double externalFragmentationOfChunks() {
        return scattered(largestFreeChunkBytes);
    }

    private double scattered(final long largestBytes) {
        return freeBytes == 0 ? 0 : 1 - largestBytes / (double) freeBytes;
    }
}
