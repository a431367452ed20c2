package io.outboard.spark;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.pool.DeviceBuffer;
import java.nio.ByteBuffer;
import jcuda.driver.CUdeviceptr;

/**
 * Memory of the executor's pool that one task has, from {@link OutboardSpark#buffer}. The task closes it; what it
 * forgets is freed when it ends, with a warning.
 *
 * <p>Thread-safety: safe for any number of threads; as ever, one that uses the memory while another closes it is on its
 * own. Cost: that of {@link DeviceBuffer}, some 200 bytes, and some microseconds for the stack that a warning shows.
 * When memory runs out, {@link OutboardSpark#buffer} throws {@link DeviceOutOfMemoryException}.
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
     * Where it is.
     *
     * @return absolute device address of its first byte, a multiple of the pool's granule
     * @throws IllegalStateException if the buffer is closed
     */
    public long address() {
        return buffer.address();
    }

    /**
     * How large it is.
     *
     * @return bytes, as asked for
     * @throws IllegalStateException if the buffer is closed
     */
    public long sizeBytes() {
        return buffer.sizeBytes();
    }

    /**
     * A pointer to its first byte, for JCuda. As long as it can be reached, so can the block; the block goes back when
     * the buffer is closed.
     *
     * @return a pointer of its own at each call
     * @throws IllegalStateException if the buffer is closed
     * @throws UnsupportedOperationException if the lender lends this machine's memory instead of a GPU's
     */
    public CUdeviceptr pointer() {
        return lent.pointer(buffer);
    }

    /**
     * Its bytes, where the lender lends this machine's memory, {@code outboard serve --device memory}: so a job is
     * tried without a GPU. What was there before isn't cleared.
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

    /** Gives the memory back to the executor's pool. Idempotent. */
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
     * The buffer as a person reads it, closed or not.
     *
     * @return as {@link DeviceBuffer#toString}
     */
    @Override
    public String toString() {
        return buffer.toString();
    }
}
