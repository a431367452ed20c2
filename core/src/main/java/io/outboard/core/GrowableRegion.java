package io.outboard.core;

/**
 * Addresses that are reserved in one piece, and memory behind a prefix of them that grows and shrinks: a region whose blocks
 * keep their addresses while it grows. The way of the driver's virtual memory calls, which take addresses and memory apart.
 *
 * <p>Some can {@linkplain #move} memory to other addresses ({@link MemorySource#canMove}). Then the prefix has holes, and the region more addresses than there
 * is memory for:
 *
 * <pre>{@code
 *   | memory |  hole  | memory |  hole  | memory |            addresses            |
 *   0                                          endBytes()             region().sizeBytes()
 * }</pre>
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
     * How much memory is behind the region.
     *
     * @return bytes, a multiple of {@link #unitBytes}, {@code 0 <= committedBytes <= endBytes()}
     */
    long committedBytes();

    /**
     * Where the last memory ends.
     *
     * @return bytes from the first address, a multiple of {@link #unitBytes}, {@code 0 <= endBytes <= region().sizeBytes()}
     */
    default long endBytes() {
        return committedBytes();
    }

    /**
     * Takes memory away from some addresses and puts it behind others, in whole units. What it holds is lost. Waits until the device
     * has finished all work.
     *
     * @param from where it is, an address, a multiple of {@link #unitBytes} from the first; all of it has memory
     * @param to where it is to be, as well; none of it has memory, and it begins at {@link #endBytes} at the latest
     * @param bytes how much, {@code 0 < bytes}, a multiple of {@link #unitBytes}
     * @throws IllegalArgumentException if an argument is outside of these bounds; nothing changes
     * @throws IllegalStateException if the region is closed; nothing changes
     * @throws UnsupportedOperationException if it can't; nothing changes
     */
    default void move(final long from, final long to, final long bytes) {
        throw new UnsupportedOperationException("this region can't move memory");
    }

    /**
     * Puts memory behind a hole, or behind what comes after the last memory.
     *
     * @param address where, as for {@link #move}
     * @param bytes how much, {@code 0 < bytes}, a multiple of {@link #unitBytes}
     * @throws IllegalArgumentException if an argument is outside of these bounds; nothing changes
     * @throws IllegalStateException if the region is closed; nothing changes
     * @throws DeviceOutOfMemoryException if the device hasn't so much; nothing changes
     * @throws UnsupportedOperationException if it can't move memory either; nothing changes
     */
    default void fill(final long address, final long bytes) {
        throw new UnsupportedOperationException("this region can't move memory");
    }

    /**
     * Puts memory behind at least the first so many bytes, but for holes. Nothing happens if they have it.
     *
     * @param bytes {@code 0 <= bytes <= region().sizeBytes()}; rounded up to {@link #unitBytes}
     * @throws IllegalArgumentException if {@code bytes} is outside of its range; nothing changes
     * @throws IllegalStateException if the region is closed; nothing changes
     * @throws DeviceOutOfMemoryException if the device hasn't so much; nothing changes
     */
    void commit(long bytes);

    /**
     * Takes memory away from the end, as much as can be without touching the first so many bytes; holes there are none then. What one call of
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
