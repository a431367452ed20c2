package io.outboard.spark;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.pool.DeviceBuffer;
import java.nio.ByteBuffer;
import jcuda.driver.CUdeviceptr;

/**
 * A buffer is memory of the executor's pool that one task has, from {@link OutboardSpark#buffer}. The task closes it;
 * buffers that the task forgets are freed when it ends, with a warning.
 *
 * <p>Thread-safety: safe for any number of threads; but nothing protects a thread that uses the memory while another
 * one closes the buffer. Cost: that of {@link DeviceBuffer}, some 200 bytes, and some microseconds for the stack that a
 * warning shows. When memory runs out, {@link OutboardSpark#buffer} throws {@link DeviceOutOfMemoryException}.
 */
public final class TaskBuffer implements AutoCloseable {

    private final TaskBuffers task;
    private final LentPool lent;
    private final DeviceBuffer buffer;
    private final TakenSite site;
    private final long takenBytes;

    TaskBuffer(final TaskBuffers task, final LentPool lent, final DeviceBuffer buffer, final TakenSite site) {
        this.task = task;
        this.lent = lent;
        this.buffer = buffer;
        this.site = site;
        takenBytes = buffer.sizeBytes();
    }

    /**
     * Returns where the buffer is.
     *
     * @return absolute device address of its first byte, a multiple of the pool's granule
     * @throws IllegalStateException if the buffer is closed
     */
    public long address() {
        return buffer.address();
    }

    /**
     * Returns how large the buffer is.
     *
     * @return bytes, as asked for
     * @throws IllegalStateException if the buffer is closed
     */
    public long sizeBytes() {
        return buffer.sizeBytes();
    }

    /**
     * Returns a pointer to the buffer's first byte, for JCuda. As long as the pointer can be reached, so can the block;
     * the block is freed when the buffer is closed.
     *
     * @return a pointer of its own at each call
     * @throws IllegalStateException if the buffer is closed
     * @throws UnsupportedOperationException if the lender lends this machine's memory instead of a GPU's
     */
    public CUdeviceptr pointer() {
        return lent.pointer(buffer);
    }

    /**
     * Returns the buffer's bytes, where the lender lends this machine's memory, {@code outboard serve --device memory},
     * with which a job can be tried without a GPU. What was there before isn't cleared.
     *
     * @return a direct buffer, in the machine's order as {@link ByteBuffer#order} says, not to be used once this one is
     *     closed
     * @throws IllegalStateException if the buffer is closed
     * @throws UnsupportedOperationException if the lender lends a GPU's memory
     * @throws ArithmeticException if the buffer has 2 GiB or more
     */
    public ByteBuffer view() {
        return lent.view(buffer);
    }

    /** Returns the memory to the executor's pool. Idempotent. */
    @Override
    public void close() {
        task.forget(this);
        buffer.close();
    }

    TakenSite site() {
        return site;
    }

    long takenBytes() {
        return takenBytes;
    }

    /**
     * Returns the buffer as a person reads it, closed or not.
     *
     * @return as {@link DeviceBuffer#toString}
     */
    @Override
    public String toString() {
        return buffer.toString();
    }
}
