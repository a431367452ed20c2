package io.outboard.core;

/**
 * A region is one contiguous range of device addresses, obtained in one piece from a {@link MemorySource}.
 *
 * <p>A region is only a pair of numbers: it doesn't own the memory, and nothing needs to back it (see
 * {@link VirtualMemorySource}). Immutable, so safe for any number of threads.
 *
 * @param address absolute device address of the first byte, {@code 0 <= address}
 * @param sizeBytes length in bytes, {@code 0 < sizeBytes}, with {@code address + sizeBytes <= 2^63 - 1}
 */
public record Region(long address, long sizeBytes) {

    /**
     * Checks the range.
     *
     * @param address absolute device address of the first byte
     * @param sizeBytes length in bytes
     * @throws IllegalArgumentException if the range is empty, negative or ends beyond 2^63 - 1
     */
    public Region {
        if (address < 0) {
            throw new IllegalArgumentException("address=" + address + " must be >= 0");
        }
        if (sizeBytes <= 0) {
            throw new IllegalArgumentException("sizeBytes=" + sizeBytes + " must be > 0");
        }
        if (sizeBytes > Long.MAX_VALUE - address) {
            throw new IllegalArgumentException(
                    "sizeBytes=" + sizeBytes + " must be <= 2^63 - 1 - address, with address=" + address);
        }
    }

    /**
     * Tells the first address after the region.
     *
     * @return {@code address + sizeBytes}
     */
    public long endAddress() {
        return address + sizeBytes;
    }

    /**
     * Tells whether an address lies in the region.
     *
     * @param candidate any number
     * @return true if {@code address <= candidate < endAddress}
     */
    public boolean contains(final long candidate) {
        return candidate >= address && candidate < address + sizeBytes;
    }

    /**
     * Writes the range as a person reads it.
     *
     * @return for example {@code [0x10000000000..0x10000100000), 1MiB}
     */
    @Override
    public String toString() {
        return "[0x" + Long.toHexString(address) + "..0x" + Long.toHexString(endAddress()) + "), "
                + ByteSize.exact(sizeBytes);
    }
}
