package io.outboard.core;

/**
 * A block in use, for those who look for what holds memory.
 *
 * @param address absolute device address of its first byte
 * @param sizeBytes its size, in bytes
 */
public record Holder(long address, long sizeBytes) {

    /**
     * The block as a person reads it.
     *
     * @return for example {@code [0x10000000000, 4096 bytes]}
     */
    @Override
    public String toString() {
        return "[0x" + Long.toHexString(address) + ", " + sizeBytes + " bytes]";
    }
}
