package io.outboard.spark;

import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.DeviceBuffer;
import io.outboard.pool.Pool;
import java.nio.ByteBuffer;
import jcuda.driver.CUdeviceptr;

/** The fake has a pool whose memory nobody lends. */
final class FakePool implements LentPool {

    private final Pool pool;
    boolean closed;

    FakePool(final long bytes) {
        pool = Pool.over(new VirtualMemorySource(bytes)).firstRegionBytes(bytes).build();
    }

    @Override
    public Pool pool() {
        return pool;
    }

    @Override
    public long leasedBytes() {
        return pool.statistics().heldBytes();
    }

    @Override
    public long guaranteedBytes() {
        return 1;
    }

    @Override
    public long mostBytes() {
        return 2;
    }

    @Override
    public ByteBuffer view(final DeviceBuffer buffer) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CUdeviceptr pointer(final DeviceBuffer buffer) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        closed = true;
        pool.close();
    }
}
