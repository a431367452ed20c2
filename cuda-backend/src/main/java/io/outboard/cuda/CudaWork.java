package io.outboard.cuda;

import io.outboard.cuda.memory.ContextWork;
import io.outboard.cuda.memory.CudaCalls;
import io.outboard.cuda.memory.CudaFailureException;
import io.outboard.cuda.memory.CudaUnavailableException;
import io.outboard.cuda.memory.DevicePointers;
import io.outboard.cuda.memory.NativeLibrary;
import io.outboard.cuda.memory.StreamCaptures;
import io.outboard.pool.DeviceWork;

/**
 * What has finished in one CUDA context, for a {@link io.outboard.pool.Pool} over a {@link CudaMemorySource}: found out by
 * synchronising the context, or by events on its streams, which {@link #streamCreated} tells of.
 *
 * <p>Algorithm: a mark of all work is an event on a stream of its own, which waits for the ends of all others; see
 * {@link DeviceWork} for what a pool does with it. The default stream is known from the start, and its end is that of all blocking
 * streams, known or not. What isn't covered: work on non-blocking streams that nobody told of.
 *
 * <p>Captures into graphs are seen on blocking streams and on known ones; one that begins while the pool waits or marks is
 * broken. {@link OutboardRuntime} guards against that.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: a mark takes two calls of the driver a stream. When CUDA fails, each
 * method throws {@link CudaFailureException}; the pool then loses nothing and hands nothing out.
 */
public final class CudaWork implements DeviceWork {

    private final ContextWork work;

    CudaWork(final ContextWork work) {
        this.work = work;
    }

    /**
     * What works on a device, in the context in which {@link CudaMemorySource#open} takes memory.
     *
     * @param device its number among those that this process sees, {@code 0 <= device}
     * @return what a pool is to ask; it knows the default stream, and streams that {@link #streamCreated} tells of
     * @throws IllegalArgumentException if {@code device < 0}
     * @throws CudaUnavailableException if there is no driver, no such device, or JCuda's native library doesn't load
     */
    public static CudaWork open(final int device) {
        CudaMemorySource.checkDevice(device);
        final CudaCalls calls = NativeLibrary.load();
        return new CudaWork(
                new ContextWork(calls, DeviceOpener.open(calls, device).context(), new StreamCaptures(), true));
    }

    /**
     * Tells of a stream, so that marks of all work cover it, as {@link io.outboard.pool.ReusePolicy#TRACKED} and
     * {@link io.outboard.pool.ReusePolicy#STREAM_ORDERED} need. Again is no mistake.
     *
     * @param stream its handle, see {@link DevicePointers#handle}
     */
    public void streamCreated(final long stream) {
        work.add(stream);
    }

    /**
     * Tells that a stream is about to be destroyed, after {@link io.outboard.pool.Pool#streamEnds}. What it has been given to
     * do by now stays covered.
     *
     * @param stream its handle; nothing if it isn't known
     * @throws CudaFailureException if CUDA fails; the stream is forgotten all the same
     */
    public void streamEnds(final long stream) {
        work.streamEnds(stream);
    }

    @Override
    public boolean synchronize() {
        return work.synchronize();
    }

    /**
     * Promises that nothing works on the default stream, nor on a blocking one that {@link #streamCreated} wasn't told of. From
     * then on a mark of all work is an event on each known stream by itself. Without that, while a blocking stream works, such a
     * mark is an event on the default stream, and what blocking streams do next waits until all of them have got there.
     */
    public void defaultStreamIsUnused() {
        work.defaultStreamIsUnused();
    }

    /** {@inheritDoc} Takes two calls of the driver for all blocking streams, and two for each other known one. */
    @Override
    public boolean isIdle() {
        return work.isIdle();
    }

    @Override
    public boolean isCapturing() {
        return work.isCapturing();
    }

    @Override
    public long mark() {
        return work.mark();
    }

    @Override
    public long mark(final long stream) {
        return work.mark(stream);
    }

    @Override
    public boolean isFinished(final long mark) {
        return work.isFinished(mark);
    }

    @Override
    public void await(final long mark) {
        work.await(mark);
    }

    @Override
    public void release(final long mark) {
        work.release(mark);
    }
}
