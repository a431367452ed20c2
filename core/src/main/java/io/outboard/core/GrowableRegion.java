package io.outboard.core;

/**
 * Addresses that are reserved in one piece, and memory behind a prefix of them that grows and shrinks: a region whose blocks
 * keep their addresses while it grows. The way of the driver's virtual memory calls, which take addresses and memory apart.
 *
 * <p>Some can {@linkplain #move} memory to other addresses ({@link MemorySource#canMove}). Then the prefix has holes, and the
 * region more addresses than there is memory for:
 *
 * <pre>{@code
 *   | memory |  hole  | memory |  hole  | memory |            addresses            |
 *   0                                          endBytes()             region().sizeBytes()
 * }</pre>
 *
 * <p>While work is recorded that waiting for the device would break, such as a capture into a graph, {@link #move},
 * {@link #giveBack} and {@link #decommit} may do nothing, where the region knows of it: {@link #hasMemory} and {@link #endBytes} say
 * what was done.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: that of the driver for each unit that gets, loses or moves memory,
 * some tens of microseconds; they are never on the path of an allocation that finds memory.
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
     * Whether a unit has memory.
     *
     * @param address anywhere in it
     * @return whether there is memory; false outside of the region
     */
    default boolean hasMemory(final long address) {
        return address >= region().address() && address < region().address() + endBytes();
    }

    /**
     * Takes memory away from some units and puts it behind others. What it holds is lost. Waits until the device has finished all work,
     * once for all.
     *
     * @param from where each begins that is to give its memory; each has memory
     * @param to where each begins that is to have it; none has memory, and each begins at {@link #endBytes} at the latest once those
     *     before it have theirs
     * @param count how many of each, {@code 0 <= count}
     * @throws IllegalArgumentException if an argument is outside of these bounds; nothing changes
     * @throws IllegalStateException if the region is closed; nothing changes
     * @throws UnsupportedOperationException if it can't; nothing changes
     * @throws RuntimeException if the device fails: then some have moved and others haven't, and memory that can't be put anywhere
     *     went back to the device; {@link #hasMemory} says where there is some
     */
    default void move(final long[] from, final long[] to, final int count) {
        throw new UnsupportedOperationException("this region can't move memory");
    }

    /**
     * Gives the memory of some units back to the device: each is a hole then, or beyond {@link #endBytes}. Waits until the device has
     * finished all work, once for all.
     *
     * @param from where each begins; each has memory
     * @param count how many, {@code 0 <= count}
     * @throws IllegalArgumentException if an argument is outside of these bounds; nothing changes
     * @throws IllegalStateException if the region is closed; nothing changes
     * @throws UnsupportedOperationException if it can't; nothing changes
     * @throws RuntimeException if the device fails: then some have gone and others haven't, which {@link #hasMemory} says
     */
    default void giveBack(final long[] from, final int count) {
        throw new UnsupportedOperationException("this region can't give back memory but at its end");
    }

    /**
     * Puts memory behind a hole, or behind what comes after the last memory.
     *
     * @param address where it is to be, a multiple of {@link #unitBytes} from the first; none of it has memory, and it begins at
     *     {@link #endBytes} at the latest
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
     * Takes all memory away behind the first so many bytes. Waits until the device has finished all work if anything goes.
     *
     * @param bytes what must stay, {@code 0 <= bytes}; rounded up to {@link #unitBytes}
     * @throws IllegalArgumentException if {@code bytes < 0}; nothing changes
     * @throws IllegalStateException if the region is closed; nothing changes
     */
    void decommit(long bytes);

    /** Gives memory and addresses back. Idempotent. */
    @Override
    void close();
}
