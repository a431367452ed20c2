package io.outboard.core;

/**
 * This strategy can name a block by a <em>handle</em> in place of its address. A handle needn't be looked up, so it
 * costs less; it is for programs that keep a number for each block anyway.
 *
 * <p>A block has one name at a time, and a handle is checked as an address is: a call by handle or by address that
 * names no block in use, or one that is named in the other way, is refused, and nothing changes. Neither name tells a
 * block from another one that took its place after it was freed. All else is as {@link Strategy} says.
 */
public interface HandleStrategy extends Strategy {

    /**
     * Takes a block, as {@link #allocate(long)} does, that is named by a handle. An aligned block gets one from {@link
     * #nameByHandle}.
     *
     * @param sizeBytes as for {@link #allocate(long)}, with what that throws
     * @return the handle, not negative, or {@link #NO_SPACE} when nothing fits
     */
    long allocateByHandle(long sizeBytes);

    /**
     * Gives a block back, as {@link #free} does.
     *
     * @param handle of a block in use, void from now on
     * @throws InvalidAddressException if it names none; nothing changes
     */
    void freeByHandle(long handle);

    /**
     * Retires a block, as {@link #retire} does. {@link #restore} puts it in use under its address.
     *
     * @param handle of a block in use, void from now on
     * @return as {@link #retire}
     * @throws InvalidAddressException if it names none; nothing changes
     */
    long retireByHandle(long handle);

    /**
     * Tells where a block is.
     *
     * @param handle of a block in use
     * @return absolute device address
     * @throws InvalidAddressException if it names none
     */
    long addressOf(long handle);

    /**
     * Tells the size of a block, as {@link #sizeOf} does.
     *
     * @param handle of a block in use
     * @return bytes, a multiple of the granule
     * @throws InvalidAddressException if it names none
     */
    long sizeByHandle(long handle);

    /**
     * Gives a block a handle for its name, in place of its address. O(1).
     *
     * @param address start of a block in use
     * @return the handle, not negative
     * @throws InvalidAddressException if no block in use that its address names starts there; nothing changes
     */
    long nameByHandle(long address);

    /**
     * Gives a block its address for its name, in place of a handle: for calls that take an address alone, such as
     * {@link #trim}. {@link #nameByHandle} gives the same handle again. O(1).
     *
     * @param handle of a block in use, void from now on
     * @return absolute device address
     * @throws InvalidAddressException if it names none; nothing changes
     */
    long nameByAddress(long handle);
}
