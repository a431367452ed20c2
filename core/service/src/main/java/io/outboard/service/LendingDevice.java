package io.outboard.service;

import io.outboard.core.DeviceOutOfMemoryException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A lending device makes the memory that a {@link Lender} lends. Each lease has memory of its own behind a file
 * descriptor, which another process maps.
 *
 * <p>The lender asks for memory, sends the descriptor, and closes its own. So only the client's mapping keeps the
 * memory, and the system hands it out again after the last mapping, however the client ended. New memory must be zero.
 *
 * <p>Thread-safety: an implementation must be safe for any number of threads. Cost: a call may take long; only the
 * client that asked waits for it.
 */
public interface LendingDevice extends AutoCloseable {

    /**
     * Returns a device that lends host memory, from files that exist in memory only. Protocol, descriptors and
     * processes are those of a GPU's lender, without a GPU.
     *
     * @param limitBytes the memory to lend, in bytes, a multiple of 2 MiB, {@code 0 < limitBytes}
     * @return the device
     * @throws IllegalArgumentException if {@code limitBytes} is outside of its range
     * @throws IOException if this isn't Linux, or the JDK is older than 22
     */
    static LendingDevice memory(final long limitBytes) throws IOException {
        return new MemoryDevice(limitBytes);
    }

    /**
     * Returns the device's name, which clients compare with their own device's.
     *
     * @return at most 32 bytes of UTF-8, such as {@code memory}
     */
    String name();

    /**
     * Returns the unit of leases: each size is a multiple of it.
     *
     * @return bytes, a power of two
     */
    long unitBytes();

    /**
     * Returns how much memory there is to lend.
     *
     * @return bytes, a multiple of {@link #unitBytes}
     */
    long limitBytes();

    /**
     * Returns whether a user's lenders must not lend the device at the same time, since they would lend the same memory
     * twice.
     *
     * @return true, unless the limit isn't that of a real device
     */
    default boolean isExclusive() {
        return true;
    }

    /**
     * Makes memory for a lease.
     *
     * @param bytes the size, {@code 0 < bytes}, a multiple of {@link #unitBytes}
     * @return memory that is zero, to be closed once it is sent
     * @throws DeviceOutOfMemoryException if there is none now, for example since memory that others had isn't back yet;
     *     the lender tries again
     * @throws IOException if it can't be made for another reason
     */
    Memory create(long bytes) throws IOException;

    /** Ends this process's use of the device; what clients have mapped stays theirs. */
    @Override
    void close();

    /** This memory is made for one lease, and the lender has the memory until its descriptor is sent. */
    interface Memory extends AutoCloseable {

        /**
         * Returns the descriptor by which another process maps the memory.
         *
         * @return a descriptor of this process, valid until {@link #close}
         */
        int descriptor();

        /**
         * Returns another descriptor of the same memory, which can be mapped for reading only.
         *
         * @return memory to be closed once it is sent, or null if the device has no such descriptors; then clients that
         *     open a shared lease read-only must protect it themselves
         * @throws IOException if there is no such descriptor now
         */
        default @Nullable Memory readOnly() throws IOException {
            return null;
        }

        /** Closes the descriptor, and releases whatever else this process has of the memory. Idempotent. */
        @Override
        void close();
    }
}
