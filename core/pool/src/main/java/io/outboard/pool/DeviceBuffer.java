package io.outboard.pool;

import io.outboard.pool.internal.guard.Fields;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;
import org.jspecify.annotations.Nullable;

/**
 * A device buffer is a block of a {@link Pool} that its owner closes, instead of freeing an address. {@link
 * Pool#buffer} makes a buffer; over CUDA, {@code CudaPool.buffer} makes one that has a pointer, too.
 *
 * <p>A buffer that is collected without having been closed is a leak. At a {@link LeakLevel} other than {@code OFF} the
 * pool reports it as a warning to the logger {@code io.outboard.pool}, with the stack of its allocation where that is
 * known, and frees it if {@link PoolBuilder#reclaimLeaks} asks for that. The report is a safety net, not a way to free:
 * it comes some time after the garbage collector has found the leak, if the collector does at all.
 *
 * <p>The collector sees this object, not the address: a program that goes on with {@link #address} alone must keep the
 * buffer reachable meanwhile. The block is freed by {@link #close} only, never by {@link Pool#free}.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: that of {@link Pool#allocate(long)} and {@link Pool#free},
 * and an object of 48 bytes; {@link LeakLevel} says what looking for leaks costs.
 */
public final class DeviceBuffer implements AutoCloseable {

    private static final VarHandle CLOSED = Fields.handle(MethodHandles.lookup(), "closed", boolean.class);

    private final Pool pool;
    private final long address;
    private final long sizeBytes;

    private final long stream;
    private final LeakTracker.@Nullable Entry tracked;

    /** True once the buffer is closed. Only {@link #CLOSED} accesses this field. */
    @SuppressWarnings("UnusedVariable")
    private boolean closed;

    DeviceBuffer(
            final Pool pool,
            final long address,
            final long sizeBytes,
            final long stream,
            final @Nullable LeakTracker tracker) {
        this.pool = pool;
        this.address = address;
        this.sizeBytes = sizeBytes;
        this.stream = stream;
        tracked = tracker == null ? null : tracker.new Entry(this, address, sizeBytes);
    }

    /**
     * {@return absolute device address of its first byte, a multiple of the granule}
     *
     * @throws IllegalStateException if the buffer is closed
     */
    public long address() {
        checkOpen();
        return address;
    }

    /**
     * {@return its size in bytes, as asked for; its block may be larger}
     *
     * @throws IllegalStateException if the buffer is closed
     */
    public long sizeBytes() {
        checkOpen();
        return sizeBytes;
    }

    /**
     * Gives the block back, as {@link Pool#free} does, or as {@link Pool#freeAsync} if it came from {@link
     * Pool#bufferAsync}, with whatever that throws; the buffer is closed all the same. Idempotent, from several threads
     * at a time too. If the pool is closed, nothing happens, since the block went with it.
     */
    @Override
    public void close() {
        // This decides which thread frees the block, and publishes nothing else, so no order is needed.
        if (!CLOSED.compareAndSet(this, false, true)) {
            return;
        }
        try {
            if (tracked != null) {
                tracked.end();
            }
        } finally {
            // Until the entry has ended, the collector mustn't take the buffer for lost.
            Reference.reachabilityFence(this);
        }
        pool.freeIfOpen(address, stream);
    }

    private void checkOpen() {
        // Opaque access is enough: the use of a buffer isn't ordered with a close by another thread anyway.
        if ((boolean) CLOSED.getOpaque(this)) {
            throw new IllegalStateException("the buffer is closed");
        }
    }

    /** {@return for example {@code [0x10000000000, 4KiB]}, with {@code , closed} if it is} */
    @Override
    public String toString() {
        final String open = new Holder(address, sizeBytes).toString();
        return (boolean) CLOSED.getOpaque(this) ? open.substring(0, open.length() - 1) + ", closed]" : open;
    }
}
