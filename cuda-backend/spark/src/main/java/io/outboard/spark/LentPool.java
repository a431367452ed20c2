package io.outboard.spark;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.pool.DeviceBuffer;
import io.outboard.pool.Pool;
import java.nio.ByteBuffer;
import jcuda.driver.CUdeviceptr;

/**
 * The interface gives access to a pool over memory that a lender lends; implementations differ by the lender's device.
 * Safe for any number of threads; when memory runs out, the pool throws {@link DeviceOutOfMemoryException}.
 */
interface LentPool extends AutoCloseable {

    Pool pool();

    /** Returns the bytes that this process holds of the lender. */
    long leasedBytes();

    /** Returns the bytes that the quota guarantees to the name. */
    long guaranteedBytes();

    /** Returns the most bytes that the quota lets the name have. */
    long mostBytes();

    /**
     * Returns the buffer's bytes.
     *
     * @throws UnsupportedOperationException if the host can't read the memory
     */
    ByteBuffer view(DeviceBuffer buffer);

    /**
     * Returns a pointer to the buffer's first byte.
     *
     * @throws UnsupportedOperationException if the memory isn't CUDA's
     */
    CUdeviceptr pointer(DeviceBuffer buffer);

    /** Closes the pool, and returns all leases. */
    @Override
    void close();
}
