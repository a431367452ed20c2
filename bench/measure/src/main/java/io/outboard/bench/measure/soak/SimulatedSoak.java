package io.outboard.bench.measure.soak;

import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.DeviceWork;
import io.outboard.pool.Pool;
import io.outboard.pool.PoolStatistics;
import io.outboard.pool.ReusePolicy;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * This soak tests a pool over addresses with a simulated device, so each use of a block, and its end, is known exactly.
 */
final class SimulatedSoak implements Session.Shared<UseRecord.Use> {

    /** The most that a stream may be behind; further launches on it are left out. */
    private static final long MOST_BEHIND_NS = 50_000_000;

    private final SoakClock clock;
    private final TimedDevice device;
    private final UseRecord record = new UseRecord();
    private final Pool pool;
    private final boolean ordered;
    private final AtomicInteger sessions = new AtomicInteger();

    SimulatedSoak(final SoakSettings settings, final SoakClock clock) {
        this(settings, clock, new TimedDevice(clock, settings.threads() + 1));
    }

    private SimulatedSoak(final SoakSettings settings, final SoakClock clock, final TimedDevice device) {
        this(settings, clock, device, device);
    }

    /** {@code asked} answers the pool's questions about the device's work; tests pass one that gives wrong answers. */
    SimulatedSoak(
            final SoakSettings settings, final SoakClock clock, final TimedDevice device, final DeviceWork asked) {
        this.clock = clock;
        this.device = device;
        ordered = settings.policy() == ReusePolicy.STREAM_ORDERED;
        pool = Pool.over(new VirtualMemorySource())
                .strategy(settings.strategy())
                .reuse(settings.policy(), asked)
                .limitBytes(settings.limitBytes())
                .build();
    }

    @Override
    public Session<UseRecord.Use> open() {
        return new OfThread(1 + sessions.getAndIncrement() % (device.streams() - 1));
    }

    @Override
    public PoolStatistics statistics() {
        return pool.statistics();
    }

    @Override
    public long peakLiveBytes() {
        return record.peakLiveBytes();
    }

    @Override
    public void end() {
        device.finish();
        final long kept = pool.trimTo(0);
        final PoolStatistics left = pool.statistics();
        if (record.liveBytes() != 0 || left.liveBlocks() != 0 || left.usedBytes() != 0) {
            throw new IllegalStateException("all blocks must come back: " + left);
        }
        if (kept != 0 || left.limboBytes() != 0) {
            throw new IllegalStateException("all memory must be given back when the device is idle: " + left);
        }
        pool.close();
        if (device.marksOut() != 0) {
            throw new IllegalStateException("marksOut=" + device.marksOut() + " must be 0 when the pool is closed");
        }
    }

    @Override
    public void close() {
        pool.close();
    }

    private final class OfThread implements Session<UseRecord.Use> {

        private final int stream;
        private int turns;

        OfThread(final int stream) {
            this.stream = stream;
        }

        @Override
        public UseRecord.Use allocate(final long sizeBytes) {
            final long address = ordered ? pool.allocateAsync(sizeBytes, stream) : pool.allocate(sizeBytes);
            return record.allocated(address, sizeBytes, ordered ? stream : UseRecord.ANY_STREAM, clock.nowNs());
        }

        /** Uses this thread's stream, or, if the pool promises no order on it, the next of all streams. */
        @Override
        public void use(final UseRecord.Use block, final long kernelNs) {
            final int on = ordered ? stream : turns++ % device.streams();
            block.worksUntil(device.launch(on, kernelNs, MOST_BEHIND_NS));
        }

        /**
         * Frees on this thread's stream, unless the block came from another thread: then it was used on other streams,
         * so its free isn't ordered on this one.
         */
        @Override
        public void free(final UseRecord.Use block) {
            final boolean own = ordered && block.allocatedOn() == stream;
            record.freed(block, own ? stream : UseRecord.ANY_STREAM);
            if (own) {
                pool.freeAsync(block.address, stream);
            } else {
                pool.free(block.address);
            }
        }

        @Override
        public long sizeBytes(final UseRecord.Use block) {
            return block.sizeBytes;
        }
    }
}
