package io.outboard.cuda;

import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.cuda.internal.memory.ContextWork;
import io.outboard.cuda.internal.memory.CudaCalls;
import io.outboard.cuda.internal.memory.CudaContext;
import io.outboard.cuda.internal.memory.NativeLibrary;
import io.outboard.cuda.internal.memory.StreamCaptures;
import io.outboard.pool.DeviceWork;

/**
 * This class tells a {@link io.outboard.pool.Pool} over a {@link CudaMemorySource} what has finished in one CUDA
 * context.
 *
 * <p>Algorithm: a mark of all work is an event of the context ({@code cuCtxRecordEvent}, of driver 12.5 and newer, on
 * JDK 22 and newer). The event covers all streams of all libraries, the unfinished work of destroyed streams, copies
 * and graphs, and delays none of them. On older drivers and JDKs the context is synchronised instead, by a thread of
 * our own while the device works.
 *
 * <p>While a stream is captured into a graph, nothing may be marked or asked, since a mark or a question would end the
 * capture. Captures on blocking streams are seen, but a capture that begins during a question is broken. Captures on
 * non-blocking streams aren't seen, and must be announced by {@link #capture}.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: 1 microsecond for a mark and its question on an idle device,
 * up to 9 beside threads that launch; 64 events. When CUDA fails, each method throws {@link CudaFailureException}; the
 * pool then loses nothing and hands nothing out.
 */
public final class CudaWork implements DeviceWork, AutoCloseable {

    private final CudaContext context;
    private final ContextWork work;

    /** This object stands for a capture that was announced. */
    public interface Capture extends AutoCloseable {

        /**
         * Says that the capture has ended. If the capture is of a thread's own default stream, that thread must call
         * this method. Idempotent.
         */
        @Override
        void close();
    }

    CudaWork(final CudaContext context) {
        this.context = context;
        work = new ContextWork(context);
    }

    /**
     * Opens a device, for its work in the context in which {@link CudaMemorySource#open} takes memory.
     *
     * @param device its number among those that this process sees, {@code 0 <= device}
     * @return the object for a pool to ask
     * @throws IllegalArgumentException if {@code device < 0}
     * @throws CudaUnavailableException if there is no driver, no such device, or JCuda's native library doesn't load
     */
    public static CudaWork open(final int device) {
        CudaMemorySource.checkDevice(device);
        final CudaCalls calls = NativeLibrary.load();
        return new CudaWork(
                new CudaContext(calls, DeviceOpener.open(calls, device).context(), device, new StreamCaptures()));
    }

    /**
     * Announces that a stream is about to be captured into a graph. Until the capture is closed, nothing is marked or
     * asked, so freed memory is reused later, and the pool grows meanwhile. If a thread is asking at this moment, this
     * method waits for that thread, some 300 ms at most.
     *
     * @param stream its handle, see {@link DevicePointers#handle}
     * @return the capture; close it when the capture has ended, or didn't begin
     * @throws IllegalStateException if a capture of the stream is announced already
     */
    public Capture capture(final long stream) {
        final StreamCaptures captures = context.captures();
        if (!captures.begin(stream, context.handle())) {
            throw new IllegalStateException("stream=0x" + Long.toHexString(stream) + " is being captured already");
        }
        return () -> captures.ended(stream);
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
    public void awaitAll() {
        work.awaitAll();
    }

    @Override
    public void release(final long mark) {
        work.release(mark);
    }

    @Override
    public boolean isCapturing() {
        return work.isCapturing();
    }

    @Override
    public long idOf(final long stream) {
        return work.idOf(stream);
    }

    /** Lets marks cover the work of another context, which may use the memory from now on. */
    void add(final long other) {
        work.add(other);
    }

    /** Destroys the events, once no pool uses them any more; from then on nothing can be marked. Idempotent. */
    @Override
    public void close() {
        work.close();
    }
}
