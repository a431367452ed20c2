package io.outboard.pool;

import org.jspecify.annotations.Nullable;

/**
 * A pool with a {@linkplain PoolBuilder#check check} has found that memory was written to behind the end of a block, or
 * after its free. The message names block, offset and the calls that allocated and freed the block; the suppressed
 * exceptions have the stacks of these calls. It is thrown, or reported, where the write is found, some time after it.
 */
public final class MemoryCorruptionException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** The block's first address. */
    private final long address;

    /** The block's size as it was asked for. */
    private final long sizeBytes;

    /** Where the first wrong byte is, from the block's first one. */
    private final long offsetBytes;

    MemoryCorruptionException(
            final String message,
            final long address,
            final long sizeBytes,
            final long offsetBytes,
            final Throwable allocatedAt,
            final @Nullable Throwable freedAt) {
        super(message);
        this.address = address;
        this.sizeBytes = sizeBytes;
        this.offsetBytes = offsetBytes;
        addSuppressed(allocatedAt);
        if (freedAt != null) {
            addSuppressed(freedAt);
        }
    }

    /** {@return absolute device address of the block's first byte} */
    public long address() {
        return address;
    }

    /** {@return size of the block as it was asked for, in bytes} */
    public long sizeBytes() {
        return sizeBytes;
    }

    /**
     * {@return where the first wrong byte is, in bytes from the block's first one; behind the end {@link #sizeBytes} or
     * more}
     */
    public long offsetBytes() {
        return offsetBytes;
    }
}
