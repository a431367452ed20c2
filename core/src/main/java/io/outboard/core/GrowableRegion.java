package io.outboard.core;

/**
 * Addresses that are reserved in one piece, and memory behind a prefix of them that grows and shrinks: a region whose blocks
 * keep their addresses while it grows. The way of the driver's virtual memory calls, which take addresses and memory apart.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: that of the driver for {@link #commit} and {@link #decommit}, some
 * tens of microseconds; they are never on the path of an allocation that finds memory.
 */
public interface GrowableRegion extends AutoCloseable {

    /**
     * All addresses that are reserved, most of which nothing may back.
     *
     * @return the region, whose size is a multiple of {@link #unitBytes}
     */
    Region region();

    /**
     * What {@link #commit} rounds up to.
     *
     * @return bytes, a power of two
     */
    long unitBytes();

    /**
     * How much memory is behind the region, from its first address on.
     *
     * @return bytes, a multiple of {@link #unitBytes}, {@code 0 <= committedBytes <= region().sizeBytes()}
     */
    long committedBytes();

    /**
     * Puts memory behind at least the first so many bytes. Nothing happens if they have it.
     *
     * @param bytes {@code 0 <= bytes <= region().sizeBytes()}; rounded up to {@link #unitBytes}
     * @throws IllegalArgumentException if {@code bytes} is outside of its range; nothing changes
     * @throws IllegalStateException if the region is closed; nothing changes
     * @throws DeviceOutOfMemoryException if the device hasn't so much; nothing changes
     */
    void commit(long bytes);

    /**
     * Takes memory away from the end, as much as can be without touching the first so many bytes. What one call of
     * {@link #commit} added may go only in one piece, so more than a unit may stay. Waits until the device has finished all
     * work if anything goes.
     *
     * @param bytes what must stay, {@code 0 <= bytes}
     * @throws IllegalArgumentException if {@code bytes < 0}; nothing changes
     * @throws IllegalStateException if the region is closed; nothing changes
     */
    void decommit(long bytes);

    /** Gives memory and addresses back. Idempotent. */
    @Override
    void close();
}
