package io.outboard.spark;

import io.outboard.pool.DeviceBuffer;
import io.outboard.pool.Pool;
import io.outboard.pool.PoolBuilder;
import io.outboard.service.LeasedMemorySource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.function.Consumer;
import jcuda.driver.CUdeviceptr;

/** The class has a pool over a lender of this machine's memory, with which a job can be tried without a GPU. */
final class MemoryPool implements LentPool {

    /** The name of the device in {@code outboard serve --device memory}. */
    static final String DEVICE = "memory";

    private final LeasedMemorySource source;
    private final Pool pool;

    private MemoryPool(final LeasedMemorySource source, final Pool pool) {
        this.source = source;
        this.pool = pool;
    }

    static MemoryPool open(final Path socket, final String name, final Consumer<PoolBuilder> customiser)
            throws IOException {
        final LeasedMemorySource source = LeasedMemorySource.connect(socket, name);
        boolean done = false;
        try {
            final PoolBuilder builder = Pool.over(source);
            customiser.accept(builder);
            final MemoryPool opened = new MemoryPool(source, builder.build());
            done = true;
            return opened;
        } finally {
            if (!done) {
                source.close();
            }
        }
    }

    @Override
    public Pool pool() {
        return pool;
    }

    @Override
    public long leasedBytes() {
        return source.connection().leasedBytes();
    }

    @Override
    public long guaranteedBytes() {
        return source.connection().guaranteedBytes();
    }

    @Override
    public long mostBytes() {
        return source.connection().mostBytes();
    }

    @Override
    public ByteBuffer view(final DeviceBuffer buffer) {
        return source.view(buffer.address(), Math.toIntExact(buffer.sizeBytes()));
    }

    @Override
    public CUdeviceptr pointer(final DeviceBuffer buffer) {
        throw new UnsupportedOperationException(
                "the lender lends this machine's memory, which no GPU sees: use view()");
    }

    @Override
    public void close() {
        try (source) {
            pool.close();
        }
    }
}
