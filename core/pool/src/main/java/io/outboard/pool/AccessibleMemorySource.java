package io.outboard.pool;

import io.outboard.core.MemorySource;
import java.nio.ByteBuffer;

/**
 * This source has memory that the host can fill and read, which a pool with a {@linkplain PoolBuilder#check check} does
 * with its blocks. Both methods wait until they are done, and throw what the device fails with. Safe for any number of
 * threads.
 */
public interface AccessibleMemorySource extends MemorySource {

    /**
     * Gives each byte of a range one value.
     *
     * @param address absolute device address of the first byte, in memory that this source has out
     * @param sizeBytes how many bytes, {@code 0 < sizeBytes}
     * @param value what each byte is afterwards
     * @return false if nothing was done, since a stream is being captured into a graph, or the memory is gone
     */
    boolean fill(long address, long sizeBytes, byte value);

    /**
     * Copies a range to host memory.
     *
     * @param address absolute device address of the first byte, in memory that this source has out
     * @param to direct, at position 0; its limit says how many bytes. Neither changes
     * @return false if nothing was done, since a stream is being captured into a graph, or the memory is gone
     */
    boolean read(long address, ByteBuffer to);
}
