package io.outboard.pool;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The oracle knows who holds which addresses, and what the device was doing when the others were freed. It is
 * independent of the pool, and only sees what is handed out and freed. At each allocation, it checks that nobody else
 * holds any byte of the block, and that each kernel launched before the byte was freed (on its stream, if it was freed
 * on one) has ended, unless the byte is handed out on the stream on which it was freed.
 * handed out on the stream on which it was freed.
 *
 * <p>It never raises a false alarm: a block counts as free before the pool is told, and as handed out after the pool
 * has returned it. Safe for any number of threads.
 */
final class PoolOracle {

    /** The value that stands for no stream, for a block freed or allocated without one. */
    static final int NO_STREAM = -1;

    /** A block is recorded here as its holder sees it. */
    record Block(long address, long sizeBytes, int stream) {}

    /**
     * A freed record is a part of a freed block: its end, and the work that must finish before it is handed out again.
     * Its key in the map is its start.
     */
    @SuppressWarnings("ArrayRecordComponent")
    private record Freed(long end, int stream, long[] work) {}

    /** This error means that the pool handed out memory that it must not. */
    static final class HazardError extends AssertionError {

        private static final long serialVersionUID = 1L;

        HazardError(final String message) {
            super(message);
        }
    }

    private final BusyDevice device;
    private final ReentrantLock lock = new ReentrantLock();
    private final TreeMap<Long, Block> live = new TreeMap<>();
    private final TreeMap<Long, Freed> freed = new TreeMap<>();
    private long liveBytes;
    private long peakBytes;
    private long reused;

    PoolOracle(final BusyDevice device) {
        this.device = device;
    }

    /** Records that a pool has handed out a block. */
    Block allocated(final long address, final long sizeBytes, final int stream) {
        final Block block = new Block(address, sizeBytes, stream);
        lock.lock();
        try {
            final Map.Entry<Long, Block> before = live.lowerEntry(address + sizeBytes);
            if (before != null && end(before.getValue()) > address) {
                throw new HazardError(block + " overlaps " + before.getValue() + ", which is in use");
            }
            takeFrom(block);
            live.put(address, block);
            liveBytes += sizeBytes;
            peakBytes = Math.max(peakBytes, liveBytes);
        } finally {
            lock.unlock();
        }
        return block;
    }

    /** Removes what lies in the block from freed memory; parts outside of the block stay freed. */
    private void takeFrom(final Block block) {
        for (Map.Entry<Long, Freed> entry = freed.lowerEntry(end(block));
                entry != null && entry.getValue().end > block.address;
                entry = freed.lowerEntry(end(block))) {
            final long start = entry.getKey();
            final Freed part = entry.getValue();
            if ((part.stream == NO_STREAM || part.stream != block.stream) && !device.haveEnded(part.work)) {
                throw new HazardError(block + " is handed out, with bytes from " + start + " to " + part.end
                        + " that were freed on stream " + part.stream + " while kernels are running");
            }
            reused++;
            freed.remove(start);
            if (start < block.address) {
                freed.put(start, new Freed(block.address, part.stream, part.work));
            }
            if (part.end > end(block)) {
                freed.put(end(block), part);
            }
        }
    }

    /** Records that a block's holder is about to free it, on a stream if all work that uses it is on that stream. */
    void freeing(final Block block, final int stream) {
        final long[] work = stream == NO_STREAM ? device.allWork() : device.workOf(stream);
        lock.lock();
        try {
            if (!live.remove(block.address, block)) {
                throw new IllegalStateException(block + " must be in use");
            }
            liveBytes -= block.sizeBytes;
            freed.put(block.address, new Freed(end(block), stream, work));
        } finally {
            lock.unlock();
        }
    }

    long peakBytes() {
        lock.lock();
        try {
            return peakBytes;
        } finally {
            lock.unlock();
        }
    }

    /** Returns how many pieces of freed memory were handed out again. */
    long reused() {
        lock.lock();
        try {
            return reused;
        } finally {
            lock.unlock();
        }
    }

    private static long end(final Block block) {
        return block.address + block.sizeBytes;
    }
}
