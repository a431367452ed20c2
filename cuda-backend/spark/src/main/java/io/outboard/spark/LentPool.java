package io.outboard.spark;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.pool.DeviceBuffer;
import io.outboard.pool.Pool;
import java.nio.ByteBuffer;
import jcuda.driver.CUdeviceptr;

/**
 * A pool over what a lender lends, with what differs by the lender's device. Safe for any number of threads; when
 * memory runs out, the pool throws {@link DeviceOutOfMemoryException}.
 */
interface LentPool extends AutoCloseable {

    Pool pool();

    /** What this process holds of the lender, in bytes. */
    long leasedBytes();

    /** What the quota guarantees to the name, in bytes. */
    long guaranteedBytes();

    /** What the quota lets the name have at most, in bytes. */
    long mostBytes();

    /**
     * The buffer's bytes.
     *
     * @throws UnsupportedOperationException if the host can't read the memory
     */
    ByteBuffer view(DeviceBuffer buffer);

    /**
     * A pointer to the buffer's first byte.
     *
     * @throws UnsupportedOperationException if the memory isn't CUDA's
     */
    CUdeviceptr pointer(DeviceBuffer buffer);

    /** Closes the pool, and gives all leases back. */
    @Override
    void close();
}
