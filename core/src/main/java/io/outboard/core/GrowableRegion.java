package io.outboard.core;

/**
 * A growable region has addresses that are reserved in one piece, and memory behind some of them, so that blocks keep
 * their addresses while the region grows and shrinks. The driver's virtual memory calls work in that way: they take
 * addresses and memory apart.
 *
 * <p>Its memory consists of <em>pieces</em>, each of which is behind addresses side by side, and goes back or
 * {@linkplain #move moves} to other addresses as a whole, which costs as much for a small one as for a large one.
 * Whoever {@linkplain #commit commits} says how large they are. What they leave behind are holes, and so there may be
 * more addresses than memory:
 *
 * <pre>{@code
 *   |  piece  |piece|  hole  |  piece  | hole |  piece  |            addresses
 *   0                                               endBytes()       region().sizeBytes()
 * }</pre>
 *
 * <p>While work is recorded that this would break, such as a capture into a graph, {@link #move} and {@link #giveBack}
 * may do nothing, where the region knows of it: {@link #pieceBytes} says what was done. Neither waits for the device:
 * the caller must know which work still uses the memory.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: that of the driver for each piece, some tens of microseconds;
 * O(log pieces) for methods that only ask. An allocation that finds memory calls none of them.
 */
public interface GrowableRegion extends AutoCloseable {

    /**
     * Tells all addresses that are reserved, most of which nothing may back.
     *
     * @return the region, whose size is a multiple of {@link #unitBytes}
     */
    Region region();

    /**
     * Tells the unit: addresses of pieces, counted from the region's first, and sizes of pieces are multiples of it.
     *
     * @return bytes, a power of two
     */
    long unitBytes();

    /**
     * Tells how much memory is behind the region.
     *
     * @return bytes, a multiple of {@link #unitBytes}, {@code 0 <= committedBytes <= endBytes()}
     */
    long committedBytes();

    /**
     * Tells where the last piece ends.
     *
     * @return bytes from the first address, a multiple of {@link #unitBytes}, {@code 0 <= endBytes <=
     *     region().sizeBytes()}
     */
    long endBytes();

    /**
     * Finds the first piece that begins at an address or behind that.
     *
     * @param address any
     * @return where the piece begins; {@code region().endAddress()} if there is none
     */
    long pieceFrom(long address);

    /**
     * Tells the size of the piece that begins at an address.
     *
     * @param address any
     * @return bytes, a multiple of {@link #unitBytes}; 0 if no piece begins there
     */
    long pieceBytes(long address);

    /**
     * Puts memory of the device behind addresses that have none.
     *
     * @param address where it is to be, a multiple of {@link #unitBytes} from the first, at {@link #endBytes} at the
     *     latest
     * @param bytes how much, {@code 0 < bytes}, a multiple of {@link #unitBytes}
     * @param pieceBytes size of each piece but the last one, which may be smaller; a multiple of {@link #unitBytes},
     *     {@code 0 < pieceBytes}
     * @throws IllegalArgumentException if an argument is outside of these bounds; nothing changes
     * @throws IllegalStateException if the region is closed; nothing changes
     * @throws DeviceOutOfMemoryException if the device has less; nothing changes
     */
    void commit(long address, long bytes, long pieceBytes);

    /**
     * Gives pieces back to the device: their addresses are holes then, or behind {@link #endBytes}.
     *
     * @param pieces where each begins
     * @param count how many, {@code 0 <= count}
     * @throws IllegalArgumentException if no piece begins at one of these, or one is named twice; nothing changes
     * @throws IllegalStateException if the region is closed; nothing changes
     * @throws RuntimeException if the device fails: then some have gone and others haven't
     */
    void giveBack(long[] pieces, int count);

    /**
     * Moves pieces to {@link #endBytes}, one behind the other. What they hold is lost.
     *
     * @param pieces where each begins; there are as many addresses behind the last one as they need
     * @param count how many, {@code 0 <= count}
     * @throws IllegalArgumentException if an argument is outside of these bounds; nothing changes
     * @throws IllegalStateException if the region is closed; nothing changes
     * @throws RuntimeException if the device fails: then some have moved and others haven't, and one that can't be put
     *     anywhere went back to the device
     */
    void move(long[] pieces, int count);

    /** Gives memory and addresses back once the device has finished all work. A second call does nothing. */
    @Override
    void close();
}
