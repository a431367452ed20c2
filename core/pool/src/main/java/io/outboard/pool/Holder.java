package io.outboard.pool;

import io.outboard.core.ByteSize;
import org.jspecify.annotations.Nullable;

/**
 * A holder is a block in use, for those who look for what holds memory.
 *
 * @param address absolute device address of its first byte
 * @param sizeBytes its size, in bytes
 * @param site the call that allocated it, as a line of a stack trace; null if that isn't known, as it is for {@link
 *     DeviceBuffer}s only, by their pool's {@link LeakLevel}
 */
public record Holder(long address, long sizeBytes, @Nullable String site) {

    /**
     * Makes a holder of a block whose origin nobody knows.
     *
     * @param address absolute device address of its first byte
     * @param sizeBytes its size, in bytes
     */
    public Holder(final long address, final long sizeBytes) {
        this(address, sizeBytes, null);
    }

    /** {@return for example {@code [0x10000000000, 4KiB]}, with {@code , allocated at} and the site if it is known} */
    @Override
    public String toString() {
        return "[0x" + Long.toHexString(address) + ", " + ByteSize.exact(sizeBytes)
                + (site == null ? "" : ", allocated at " + site) + "]";
    }
}
