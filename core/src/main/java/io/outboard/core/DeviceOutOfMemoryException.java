package io.outboard.core;

/**
 * Device memory is exhausted, with what a person needs to tell <em>full</em> from <em>fragmented</em>.
 *
 * <p>Strategies don't throw it: they answer {@link Strategy#NO_SPACE}. Those who hold strategies and regions do.
 */
public final class DeviceOutOfMemoryException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final long requestedBytes;
    private final long freeBytes;
    private final long largestFreeBlockBytes;
    private final String reason;

    private DeviceOutOfMemoryException(
            final String message,
            final long requestedBytes,
            final long freeBytes,
            final long largestFreeBlockBytes,
            final String reason) {
        super(message);
        this.requestedBytes = requestedBytes;
        this.freeBytes = freeBytes;
        this.largestFreeBlockBytes = largestFreeBlockBytes;
        this.reason = reason;
    }

    /**
     * The device itself has no more.
     *
     * @param requestedBytes what was asked for, in bytes
     * @param freeBytes what the device reports as free, in bytes
     * @param totalBytes what the device has, in bytes
     * @param reason the driver's own words or code, such as {@code cudaErrorMemoryAllocation (2)}
     * @return the exception, not thrown
     */
    public static DeviceOutOfMemoryException ofDevice(
            final long requestedBytes, final long freeBytes, final long totalBytes, final String reason) {
        return new DeviceOutOfMemoryException(
                "device out of memory: requested " + requestedBytes + " bytes, free " + freeBytes + " of " + totalBytes
                        + " bytes (" + reason + ")",
                requestedBytes,
                freeBytes,
                freeBytes,
                reason);
    }

    /**
     * A strategy found nothing that fits.
     *
     * @param requestedBytes what was asked for, in bytes
     * @param statistics the state of the strategy's region
     * @return the exception, not thrown
     */
    public static DeviceOutOfMemoryException ofStrategy(final long requestedBytes, final Statistics statistics) {
        final boolean fragmented = statistics.freeBytes() >= requestedBytes;
        final String reason = fragmented ? "fragmented" : "full";
        return new DeviceOutOfMemoryException(
                "region " + reason + ": requested " + requestedBytes + " bytes; " + statistics,
                requestedBytes,
                statistics.freeBytes(),
                statistics.largestFreeBlockBytes(),
                reason);
    }

    /**
     * A pool found nothing that fits, and could neither recycle nor grow.
     *
     * @param requestedBytes what was asked for, in bytes
     * @param freeBytes what the pool has free, in bytes
     * @param largestFreeBlockBytes size of its largest free block, in bytes
     * @param state the pool's state as a person reads it, on one line
     * @param holders its largest blocks in use, likewise
     * @return the exception, not thrown
     */
    public static DeviceOutOfMemoryException ofPool(
            final long requestedBytes,
            final long freeBytes,
            final long largestFreeBlockBytes,
            final String state,
            final String holders) {
        final String reason = freeBytes >= requestedBytes ? "fragmented" : "full";
        final double fragmentation =
                freeBytes <= largestFreeBlockBytes ? 0 : 1 - (double) largestFreeBlockBytes / freeBytes;
        return new DeviceOutOfMemoryException(
                "pool " + reason + ": requested " + requestedBytes + " bytes; " + state + ", largest free block "
                        + largestFreeBlockBytes + " bytes, external fragmentation "
                        + Math.round(1000 * fragmentation) / 1000.0 + "; largest holders " + holders,
                requestedBytes,
                freeBytes,
                largestFreeBlockBytes,
                reason);
    }

    /**
     * What was asked for.
     *
     * @return bytes
     */
    public long requestedBytes() {
        return requestedBytes;
    }

    /**
     * What was free, in all.
     *
     * @return bytes; less than {@link #requestedBytes} means full
     */
    public long freeBytes() {
        return freeBytes;
    }

    /**
     * The largest free block, or all that is free where the driver doesn't say.
     *
     * @return bytes; less than {@link #requestedBytes} while {@link #freeBytes} isn't means fragmented
     */
    public long largestFreeBlockBytes() {
        return largestFreeBlockBytes;
    }

    /**
     * Why, in a word or the driver's words.
     *
     * @return {@code full}, {@code fragmented}, or what the driver said
     */
    public String reason() {
        return reason;
    }
}
