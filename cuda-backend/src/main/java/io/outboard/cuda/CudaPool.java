package io.outboard.cuda;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.pool.DeviceBuffer;
import io.outboard.pool.Pool;
import io.outboard.pool.PoolBuilder;
import io.outboard.pool.ReusePolicy;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * This class is a {@link Pool} over a CUDA device, together with its memory source and the object that tells the pool
 * of the device's work. The policy is {@link ReusePolicy#STRICT} unless the caller chooses another: a block that is
 * freed while kernels use it isn't handed out before the kernels end. On JDK 22 and newer a pool calls the
 * driver, and JCuda isn't needed, except for {@link CudaBuffer#pointer}.
 *
 * <pre>{@code
 * try (CudaPool gpu = CudaPool.open(0);
 *         CudaBuffer matrix = gpu.buffer(4096L * 4096 * 4)) {
 *     cudaMemset(matrix.pointer(), 0, matrix.sizeBytes());
 * }
 * }</pre>
 *
 * <p>Thread-safety: safe for any number of threads. Cost: as {@link Pool}; opening a device that this process hasn't
 * used yet takes some 100 milliseconds. When memory runs out, the pool throws {@link DeviceOutOfMemoryException}.
 */
public final class CudaPool implements AutoCloseable {

    private final CudaMemorySource source;
    private final Pool pool;

    private CudaPool(final CudaMemorySource source, final Pool pool) {
        this.source = source;
        this.pool = pool;
    }

    /**
     * Opens a device, with a pool as {@link Pool#over} describes one.
     *
     * @param device its number among those that this process sees, {@code 0 <= device}
     * @return the pool, which holds nothing yet
     * @throws IllegalArgumentException if {@code device < 0}
     * @throws CudaUnavailableException if there is no driver, no such device, or JCuda's native library doesn't load
     */
    public static CudaPool open(final int device) {
        return open(device, builder -> {});
    }

    /**
     * Opens a device, with a pool as the caller describes it.
     *
     * @param device its number among those that this process sees, {@code 0 <= device}
     * @param customiser changes the description before the pool is made, for example by
     *     {@link PoolBuilder#reuse(ReusePolicy)}
     * @return the pool, which holds nothing yet
     * @throws IllegalArgumentException if {@code device < 0}, or as {@link PoolBuilder#build}; nothing stays open
     * @throws IllegalStateException as {@link PoolBuilder#build}; nothing stays open
     * @throws CudaUnavailableException if there is no driver, no such device, or JCuda's native library doesn't load
     * @throws RuntimeException what {@code customiser} throws; nothing stays open
     */
    public static CudaPool open(final int device, final Consumer<PoolBuilder> customiser) {
        Objects.requireNonNull(customiser, "customiser");
        return over(CudaMemorySource.open(device), customiser);
    }

    /**
     * Opens a device whose memory a lender lends, with a pool as {@link Pool#over} describes one.
     *
     * @param device its number among those that this process sees, {@code 0 <= device}
     * @param socket the lender's path
     * @param name by which the lender knows the quota
     * @return the pool, which holds nothing yet
     * @throws IOException as {@link CudaMemorySource#connect}
     * @throws RuntimeException as {@link CudaMemorySource#connect}
     */
    public static CudaPool connect(final int device, final Path socket, final String name) throws IOException {
        return connect(device, socket, name, builder -> {});
    }

    /**
     * Opens a device whose memory a lender lends, with a pool as the caller describes it. The pool takes leases as it
     * needs them, allocates inside of the leases without a message, and gives back what is free when the lender wants
     * memory.
     *
     * @param device its number among those that this process sees, {@code 0 <= device}
     * @param socket the lender's path
     * @param name by which the lender knows the quota
     * @param customiser changes the description before the pool is made
     * @return the pool, which holds nothing yet
     * @throws IOException as {@link CudaMemorySource#connect}
     * @throws RuntimeException as {@link CudaMemorySource#connect} and {@link #open(int, Consumer)}; nothing stays open
     */
    public static CudaPool connect(
            final int device, final Path socket, final String name, final Consumer<PoolBuilder> customiser)
            throws IOException {
        Objects.requireNonNull(customiser, "customiser");
        return over(CudaMemorySource.connect(device, socket, name), customiser);
    }

    /** Makes a pool over a source, and closes the source if that fails. */
    static CudaPool over(final CudaMemorySource source, final Consumer<PoolBuilder> customiser) {
        try {
            final PoolBuilder builder = Pool.over(source);
            customiser.accept(builder);
            return new CudaPool(source, builder.build());
        } catch (final RuntimeException | Error e) {
            try {
                source.close();
            } catch (final CudaFailureException next) {
                e.addSuppressed(next);
            }
            throw e;
        }
    }

    /**
     * Takes a block with a JCuda pointer, see {@link Pool#buffer(long)}.
     *
     * @param sizeBytes requested size in bytes, {@code 0 < sizeBytes}
     * @return a buffer, open
     * @throws RuntimeException as {@link Pool#allocate(long)}
     */
    public CudaBuffer buffer(final long sizeBytes) {
        return owned(pool.buffer(sizeBytes));
    }

    /**
     * Takes a block with a JCuda pointer at a multiple of {@code alignmentBytes}, see {@link Pool#buffer(long, long)}.
     *
     * @param sizeBytes requested size in bytes, {@code 0 < sizeBytes}
     * @param alignmentBytes any power of two
     * @return a buffer, open
     * @throws RuntimeException as {@link Pool#allocate(long, long)}
     */
    public CudaBuffer buffer(final long sizeBytes, final long alignmentBytes) {
        return owned(pool.buffer(sizeBytes, alignmentBytes));
    }

    /**
     * Takes a block with a JCuda pointer for work on one stream, see {@link Pool#bufferAsync}.
     *
     * @param sizeBytes requested size in bytes, {@code 0 < sizeBytes}
     * @param stream handle of the stream, see {@link io.outboard.cuda.driver.DevicePointers#handle}; 0 for the default
     *     one
     * @return a buffer, open
     * @throws RuntimeException as {@link Pool#allocateAsync}
     */
    public CudaBuffer bufferAsync(final long sizeBytes, final long stream) {
        return owned(pool.bufferAsync(sizeBytes, stream));
    }

    private static CudaBuffer owned(final DeviceBuffer buffer) {
        try {
            return CudaBuffer.of(buffer);
        } catch (final OutOfMemoryError e) {
            // Without a buffer, the block would have no owner.
            buffer.close();
            throw e;
        }
    }

    /**
     * Announces that a stream is about to be captured into a graph, as {@link CudaWork#capture} does. Call this method
     * before the capture begins, and close the result when the capture has ended.
     *
     * <pre>{@code
     * try (CudaWork.Capture capture = gpu.capture(DevicePointers.handle(stream))) {
     *     cuStreamBeginCapture(stream, mode);
     *     ...
     *     cuStreamEndCapture(stream, graph);
     * }
     * }</pre>
     *
     * @param stream handle of the stream, see {@link io.outboard.cuda.driver.DevicePointers#handle}
     * @return the capture
     * @throws IllegalStateException if a capture of the stream is announced already
     */
    public CudaWork.Capture capture(final long stream) {
        return work().capture(stream);
    }

    /**
     * Answers the pool, which this object closes.
     *
     * @return the same at each call
     */
    public Pool pool() {
        return pool;
    }

    /**
     * Answers the source of the pool's regions.
     *
     * @return the same at each call
     */
    public CudaMemorySource source() {
        return source;
    }

    /**
     * Answers the object that the pool asks about the device's work, unless the customiser chose another; {@linkplain
     * CudaWork#capture captures} are announced to this object.
     *
     * @return the same at each call
     */
    public CudaWork work() {
        return source.work();
    }

    /**
     * Describes the pool and its device for people.
     *
     * @return as {@link Pool#toString}, and the device's number
     */
    @Override
    public String toString() {
        return pool + " on device " + source.device().ordinal();
    }

    /**
     * Closes the pool, which waits for the device unless its policy is {@link ReusePolicy#IMMEDIATE}, and then the
     * source. Idempotent.
     *
     * @throws CudaFailureException if CUDA fails; both are closed all the same
     */
    @Override
    public void close() {
        try (source) {
            pool.close();
        }
    }
}
