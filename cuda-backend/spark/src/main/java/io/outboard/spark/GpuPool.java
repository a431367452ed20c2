package io.outboard.spark;

import io.outboard.cuda.CudaBuffer;
import io.outboard.cuda.CudaPool;
import io.outboard.pool.DeviceBuffer;
import io.outboard.pool.Pool;
import io.outboard.pool.PoolBuilder;
import io.outboard.service.LenderStatus;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.function.Consumer;
import jcuda.driver.CUdeviceptr;

/** The class has a pool over a lender of a CUDA device's memory. */
final class GpuPool implements LentPool {

    /** The beginning of the names of such devices. */
    static final String DEVICE = "cuda:";

    private final CudaPool pool;

    /** The lender's entry for this client after it has connected; quotas don't change afterwards. */
    private final LenderStatus.Client quota;

    private GpuPool(final CudaPool pool, final LenderStatus.Client quota) {
        this.pool = pool;
        this.quota = quota;
    }

    static GpuPool open(final int gpu, final Path socket, final String name, final Consumer<PoolBuilder> customiser)
            throws IOException {
        final CudaPool pool = CudaPool.connect(gpu, socket, name, customiser);
        boolean done = false;
        try {
            final GpuPool opened = new GpuPool(pool, quotaOf(LenderStatus.of(socket), name));
            done = true;
            return opened;
        } finally {
            if (!done) {
                pool.close();
            }
        }
    }

    /** Returns the entry of a name; all clients of a name have the same quotas. */
    static LenderStatus.Client quotaOf(final LenderStatus status, final String name) throws IOException {
        return status.clients().stream()
                .filter(client -> client.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IOException("the lender doesn't list its client " + name));
    }

    @Override
    public Pool pool() {
        return pool.pool();
    }

    /**
     * Returns the bytes that the pool holds. A pool over leases holds what is leased, except for what is asked for
     * ahead of need.
     */
    @Override
    public long leasedBytes() {
        return pool.pool().statistics().heldBytes();
    }

    @Override
    public long guaranteedBytes() {
        return quota.guaranteedBytes();
    }

    @Override
    public long mostBytes() {
        return quota.mostBytes();
    }

    @Override
    public ByteBuffer view(final DeviceBuffer buffer) {
        throw new UnsupportedOperationException(
                "the lender lends a GPU's memory, which the host doesn't see: use pointer()");
    }

    @Override
    public CUdeviceptr pointer(final DeviceBuffer buffer) {
        return CudaBuffer.of(buffer).pointer();
    }

    @Override
    public void close() {
        pool.close();
    }
}
