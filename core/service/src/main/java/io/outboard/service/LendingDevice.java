package io.outboard.service;

import io.outboard.core.DeviceOutOfMemoryException;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link Lender} lends memory of: for each lease memory of its own, behind a file descriptor, which another
 * process maps.
 *
 * <p>The lender asks for it, sends the descriptor, and forgets both: so the client's mapping is all that keeps the
 * memory, and the system gives it out again when the last mapping is gone, however the client ended. What is made must
 * be zero.
 *
 * <p>Thread-safety: an implementation must be safe for any number of threads. Cost: a call may take as long as it
 * likes; nobody else waits for it.
 */
public interface LendingDevice extends AutoCloseable {

    /**
     * Memory of this machine instead of a device's: files that are memory only. The same protocol, descriptors and
     * processes, without a GPU.
     *
     * @param limitBytes how much there is to lend, in bytes, a multiple of 2 MiB, {@code 0 < limitBytes}
     * @return the device
     * @throws IllegalArgumentException if {@code limitBytes} is outside of its range
     * @throws IOException if this isn't Linux, or the JDK is older than 22
     */
    static LendingDevice memory(final long limitBytes) throws IOException {
        return new MemoryDevice(limitBytes);
    }

    /**
     * Which device it is: clients compare it with their own.
     *
     * @return at most 32 bytes of UTF-8, such as {@code memory}
     */
    String name();

    /**
     * What sizes of leases are multiples of.
     *
     * @return bytes, a power of two
     */
    long unitBytes();

    /**
     * How much there is to lend.
     *
     * @return bytes, a multiple of {@link #unitBytes}
     */
    long limitBytes();

    /**
     * Makes memory for a lease.
     *
     * @param bytes how much, {@code 0 < bytes}, a multiple of {@link #unitBytes}
     * @return memory that is zero, to be closed once it is sent
     * @throws DeviceOutOfMemoryException if there is none now, since what others had isn't back yet, say; the
     *     lender tries again
     * @throws IOException if it can't be made otherwise
     */
    Memory create(long bytes) throws IOException;

    /** Ends this side's use of the device; what clients have mapped stays theirs. */
    @Override
    void close();

    /** Memory of one lease, as long as the lender has it. */
    interface Memory extends AutoCloseable {

        /**
         * What another process maps it by.
         *
         * @return a descriptor of this process, valid until {@link #close}
         */
        int descriptor();

        /**
         * Another descriptor of the same memory, which can be mapped to be read only.
         *
         * @return memory to be closed once it is sent, or null if the device has no such descriptors: then clients
         *     that open a shared lease read-only see to that themselves
         * @throws IOException if it can't be had now
         */
        default @Nullable Memory readOnly() throws IOException {
            return null;
        }

        /** Closes the descriptor, and lets go of whatever else this process has of the memory. Idempotent. */
        @Override
        void close();
    }
}
