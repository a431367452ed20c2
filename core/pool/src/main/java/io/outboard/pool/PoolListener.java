package io.outboard.pool;

import io.outboard.core.DeviceOutOfMemoryException;

/**
 * A pool listener hears of each block that a pool hands out, takes back or resizes, on the thread that asked for it and
 * without a lock of the pool's. It serves tests and tools; {@link PoolBuilder#listener} sets it.
 *
 * <p>Implementations are safe for any number of threads. Only {@link #allocating} and {@link #freeing} may
 * throw, and none may call the pool. Each method does nothing by default.
 */
public interface PoolListener {

    /** The value that stands for no stream: a block isn't for, or wasn't freed on, a certain one. */
    long NO_STREAM = -1;

    /**
     * Hears of a request before it is served. What it throws, the caller gets, and nothing changes.
     *
     * @param sizeBytes requested size in bytes; perhaps a wrong one, which the pool then refuses
     */
    default void allocating(final long sizeBytes) {}

    /**
     * Hears of a block that is about to be handed out.
     *
     * @param address absolute device address of its first byte
     * @param sizeBytes its size in bytes, as asked for
     * @param stream the stream that it was asked for, or {@link #NO_STREAM}
     */
    default void allocated(final long address, final long sizeBytes, final long stream) {}

    /**
     * Hears of a request for which there was no memory.
     *
     * @param sizeBytes requested size in bytes
     * @param exception what the caller gets
     */
    default void refused(final long sizeBytes, final DeviceOutOfMemoryException exception) {}

    /**
     * Hears of a free before it is done, since another thread may have the block at once. What it throws, the caller
     * gets, and nothing changes.
     *
     * @param address what was given; perhaps a wrong address, which the pool then refuses
     * @param stream the stream that it is freed on, or {@link #NO_STREAM}
     */
    default void freeing(final long address, final long stream) {}

    /**
     * Hears of a block that was trimmed or extended.
     *
     * @param address absolute device address of its first byte
     * @param newSizeBytes its size in bytes, as asked for
     */
    default void resized(final long address, final long newSizeBytes) {}
}
