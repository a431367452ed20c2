package io.outboard.cuda;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.cuda.driver.DevicePointers;
import io.outboard.pool.DeviceBuffer;
import java.util.Objects;
import jcuda.driver.CUdeviceptr;

/**
 * This class is a {@link DeviceBuffer} with a JCuda pointer. A program passes the pointer to JCuda's functions and to
 * kernels, and closes the buffer.
 *
 * <pre>{@code
 * try (CudaPool gpu = CudaPool.open(0);
 *         CudaBuffer matrix = gpu.buffer(4096L * 4096 * 4)) {
 *     cudaMemcpy(matrix.pointer(), Pointer.to(values), matrix.sizeBytes(), cudaMemcpyHostToDevice);
 *     cuLaunchKernel(..., Pointer.to(Pointer.to(matrix.pointer())), null);
 * }
 * }</pre>
 *
 * <p>This class is apart from {@link DeviceBuffer} because the module of pools knows nothing of JCuda, and also serves
 * memory that isn't CUDA's. {@link #of} takes a buffer of any pool over CUDA, the pools behind the facades included.
 *
 * <p>Thread-safety: safe for any number of threads, as {@link DeviceBuffer}. Cost: that of the buffer and an object of
 * 16 bytes more; a pointer is an object of 40 bytes. When memory runs out, {@link CudaPool#buffer} throws
 * {@link DeviceOutOfMemoryException}.
 */
public final class CudaBuffer implements AutoCloseable {

    private final DeviceBuffer buffer;

    private CudaBuffer(final DeviceBuffer buffer) {
        this.buffer = Objects.requireNonNull(buffer, "buffer");
    }

    /**
     * Gives a pool's buffer a pointer. Both are the same block: closing one closes the other.
     *
     * @param buffer of a pool over a CUDA device
     * @return the buffer
     */
    public static CudaBuffer of(final DeviceBuffer buffer) {
        return new CudaBuffer(buffer);
    }

    /**
     * Makes a pointer to the first byte, for JCuda's runtime and driver alike: a {@link CUdeviceptr} is a
     * {@link jcuda.Pointer}. As long as the pointer is reachable, so is the buffer, which therefore isn't taken for a
     * leak; a launched kernel keeps neither reachable. Only {@link #close} gives the block back, never
     * {@code cudaFree}.
     *
     * @return a new pointer at each call, since JCuda changes the pointers that it is given; a pointer still has the
     *     address after the buffer is closed
     * @throws IllegalStateException if the buffer is closed
     * @throws NoClassDefFoundError if JCuda isn't on the class path
     */
    public CUdeviceptr pointer() {
        return BufferPointer.to(this);
    }

    /**
     * Answers where the buffer is.
     *
     * @return absolute device address of its first byte, a multiple of the granule
     * @throws IllegalStateException if the buffer is closed
     */
    public long address() {
        return buffer.address();
    }

    /**
     * Answers how large the buffer is.
     *
     * @return bytes, as requested; the block may be larger
     * @throws IllegalStateException if the buffer is closed
     */
    public long sizeBytes() {
        return buffer.sizeBytes();
    }

    /** Gives the block back, and throws what {@link DeviceBuffer#close} throws. Idempotent. */
    @Override
    public void close() {
        buffer.close();
    }

    /**
     * Describes the buffer for people, closed or not.
     *
     * @return as {@link DeviceBuffer#toString}
     */
    @Override
    public String toString() {
        return buffer.toString();
    }

    /**
     * This pointer keeps its buffer reachable: if the buffer were reclaimed as a leak, a program that has the pointer
     * alone would lose its memory.
     */
    private static final class BufferPointer extends CUdeviceptr {

        /** This reference is never read; it only keeps the owner reachable. */
        @SuppressWarnings("UnusedVariable")
        private final CudaBuffer owner;

        private BufferPointer(final CudaBuffer owner) {
            this.owner = owner;
            DevicePointers.set(this, owner.address());
        }

        private BufferPointer(final BufferPointer base, final long byteOffset) {
            super(base, byteOffset);
            owner = base.owner;
        }

        /** Makes a pointer here, since a buffer's own class must load without JCuda. */
        static CUdeviceptr to(final CudaBuffer owner) {
            return new BufferPointer(owner);
        }

        @Override
        public CUdeviceptr withByteOffset(final long byteOffset) {
            return new BufferPointer(this, byteOffset);
        }
    }
}
