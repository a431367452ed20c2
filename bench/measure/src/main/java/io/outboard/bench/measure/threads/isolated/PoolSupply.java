package io.outboard.bench.measure.threads.isolated;

import io.outboard.bench.measure.threads.ThreadSettings;
import io.outboard.core.MemorySource;
import io.outboard.core.VirtualMemorySource;
import io.outboard.cuda.CudaMemorySource;
import io.outboard.cuda.CudaWork;
import io.outboard.pool.DeviceWork;
import io.outboard.pool.Pool;
import io.outboard.pool.PoolBuilder;
import io.outboard.pool.ReusePolicy;
import java.util.concurrent.atomic.AtomicInteger;

/** This supply takes memory from a pool, either over addresses with a device that is always idle, or over a GPU. */
final class PoolSupply implements Supply {

    /** The share of a GPU's free memory that the pool may hold. */
    private static final double DEVICE_SHARE = 0.8;

    private final MemorySource source;
    private final Pool pool;

    /**
     * The number of streams, whose handles are 0 and up; 0 if blocks belong to no stream. On a GPU only the default
     * stream is used.
     */
    private final int streams;

    private final AtomicInteger given = new AtomicInteger();

    private PoolSupply(final MemorySource source, final Pool pool, final int streams) {
        this.source = source;
        this.pool = pool;
        this.streams = streams;
    }

    static PoolSupply open(final ThreadSettings settings) {
        if (settings.device() == ThreadSettings.NO_DEVICE) {
            return over(new VirtualMemorySource(), DeviceWork.NONE, settings, settings.regionBytes());
        }
        final CudaMemorySource source = CudaMemorySource.open(settings.device());
        final long limitBytes =
                settings.regionBytes() > 0 ? settings.regionBytes() : (long) (source.availableBytes() * DEVICE_SHARE);
        return over(source, CudaWork.open(settings.device()), settings, limitBytes);
    }

    private static PoolSupply over(
            final MemorySource source, final DeviceWork work, final ThreadSettings settings, final long limitBytes) {
        final ReusePolicy policy = ReusePolicy.valueOf(settings.reusePolicy());
        final PoolBuilder builder =
                Pool.over(source).strategy(settings.strategy()).reuse(policy, work);
        if (limitBytes > 0) {
            builder.limitBytes(limitBytes);
        }
        if (settings.regionBytes() > 0) {
            builder.firstRegionBytes(settings.regionBytes());
        }
        final int streams = settings.device() == ThreadSettings.NO_DEVICE ? ThreadStreams.count(settings) : 1;
        return new PoolSupply(source, builder.build(), policy == ReusePolicy.STREAM_ORDERED ? streams : 0);
    }

    @Override
    public Blocks blocks() {
        return streams == 0 ? new PlainBlocks(pool) : new OrderedBlocks(pool, given.getAndIncrement() % streams);
    }

    @Override
    public long heldBytes() {
        return pool.statistics().heldBytes();
    }

    @Override
    public long limboBytes() {
        return pool.statistics().limboBytes();
    }

    @Override
    public long liveBlocks() {
        return pool.statistics().liveBlocks();
    }

    @Override
    public long synchronizations() {
        return pool.statistics().synchronizations();
    }

    @Override
    public void close() {
        try (source) {
            pool.close();
        }
    }

    private static final class PlainBlocks extends Blocks {

        private final Pool pool;

        PlainBlocks(final Pool pool) {
            this.pool = pool;
        }

        @Override
        long allocate(final long sizeBytes) {
            return pool.allocate(sizeBytes);
        }

        @Override
        void free(final long address) {
            pool.free(address);
        }
    }

    private static final class OrderedBlocks extends Blocks {

        private final Pool pool;
        private final long stream;

        OrderedBlocks(final Pool pool, final long stream) {
            this.pool = pool;
            this.stream = stream;
        }

        @Override
        long allocate(final long sizeBytes) {
            return pool.allocateAsync(sizeBytes, stream);
        }

        @Override
        void free(final long address) {
            pool.freeAsync(address, stream);
        }
    }
}
