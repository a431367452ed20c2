package io.outboard.service;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.Region;
import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxException;
import io.outboard.service.internal.session.Answer;
import io.outboard.service.internal.wire.Message;
import io.outboard.service.internal.wire.MessageType;
import io.outboard.service.internal.wire.Refusal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Shared memory is a lease of its own that other clients of the lender may map, too, without a copy: {@link
 * LeasedMemorySource#share} makes one, {@link LeasedMemorySource#open} maps that of another client. The lease lives
 * until all clients that have it have closed it, or are gone. Nothing keeps a client from reading what another one is
 * writing: the programs must agree on who may access it when.
 *
 * <p>Thread-safety: safe for any number of threads, but {@link #close} while others use the memory ends the process.
 * Cost: a lease, and a descriptor of the lender's.
 */
public final class SharedMemory implements AutoCloseable {

    private final Linux linux;
    private final LenderConnection connection;
    private final Consumer<SharedMemory> onClose;
    private final Region region;
    private final long lease;
    private final String ticket;
    private final boolean isReadOnly;
    private boolean closed;

    private SharedMemory(
            final Linux linux,
            final LenderConnection connection,
            final Consumer<SharedMemory> onClose,
            final Region region,
            final long lease,
            final String ticket,
            final boolean isReadOnly) {
        this.linux = linux;
        this.connection = connection;
        this.onClose = onClose;
        this.region = region;
        this.lease = lease;
        this.ticket = ticket;
        this.isReadOnly = isReadOnly;
    }

    static SharedMemory make(
            final Linux linux,
            final LenderConnection connection,
            final Consumer<SharedMemory> onClose,
            final long bytes) {
        final long unitBytes = connection.unitBytes();
        if (bytes <= 0 || bytes > Long.MAX_VALUE - unitBytes) {
            throw new IllegalArgumentException("bytes=" + bytes + " must be > 0 and what memory can have");
        }
        final long wholeBytes = (bytes + unitBytes - 1) & -unitBytes;
        final Answer answer = connection.shared(MessageType.SHARE, wholeBytes, "");
        if (!answer.is(MessageType.LEASED)) {
            throw answer.refusalOf(wholeBytes, connection.name, connection.mostBytes());
        }
        final Lease lease = connection.leaseOf(answer, wholeBytes);
        return map(linux, connection, onClose, lease, answer.last().text(), false);
    }

    static SharedMemory open(
            final Linux linux,
            final LenderConnection connection,
            final Consumer<SharedMemory> onClose,
            final String ticket,
            final boolean isReadOnly)
            throws IOException {
        if (!ticket.matches("[0-9a-f]{32}")) {
            // The message leaves out the argument, which may be a ticket with a typing error, and so nearly a secret.
            throw new IllegalArgumentException("ticket must consist of 32 hexadecimal digits");
        }
        try {
            final Answer answer = connection.shared(MessageType.OPEN, isReadOnly ? Message.READ_ONLY : 0, ticket);
            if (!answer.is(MessageType.OPENED)) {
                throw new IOException("lender: " + Refusal.of(answer.last().a()).sentence()
                        + (answer.last().text().isEmpty()
                                ? ""
                                : ": " + answer.last().text()));
            }
            return map(linux, connection, onClose, connection.leaseOf(answer, 0), ticket, isReadOnly);
        } catch (final DeviceOutOfMemoryException e) {
            throw new IOException(e.reason(), e);
        }
    }

    /** Maps the memory, and closes its descriptor. */
    private static SharedMemory map(
            final Linux linux,
            final LenderConnection connection,
            final Consumer<SharedMemory> onClose,
            final Lease lease,
            final String ticket,
            final boolean isReadOnly) {
        long address = 0;
        boolean done = false;
        try {
            address = linux.reserve(lease.bytes());
            linux.map(address, lease.bytes(), lease.descriptor(), isReadOnly);
            done = true;
        } catch (final LinuxException e) {
            throw DeviceOutOfMemoryException.ofDevice(lease.bytes(), 0, e.getMessage());
        } finally {
            connection.closeDescriptor(lease);
            if (!done) {
                connection.giveBack(lease.number());
                free(linux, address, lease.bytes());
            }
        }
        return new SharedMemory(
                linux, connection, onClose, new Region(address, lease.bytes()), lease.number(), ticket, isReadOnly);
    }

    private static void free(final Linux linux, final long address, final long bytes) {
        if (address != 0) {
            try {
                linux.free(address, bytes);
            } catch (final LinuxException e) {
                throw new IllegalStateException("addresses can't be given back: " + e.getMessage(), e);
            }
        }
    }

    /**
     * Returns where the memory is mapped in this process.
     *
     * @return an address, a multiple of the machine's page size
     */
    public long address() {
        return region.address();
    }

    /**
     * Returns the size of the memory.
     *
     * @return bytes
     */
    public long bytes() {
        return region.sizeBytes();
    }

    /**
     * Returns the ticket by which others open this memory. Whoever knows the ticket has the memory, so tell it only to
     * those that should.
     *
     * @return 32 hexadecimal digits
     */
    public String ticket() {
        return ticket;
    }

    /**
     * Returns whether this process can only read the memory.
     *
     * @return true if a write ends the process
     */
    public boolean isReadOnly() {
        return isReadOnly;
    }

    /**
     * Returns a buffer over some of the bytes. Access after {@link #close} ends the process.
     *
     * @param offset the offset of the first byte, {@code 0 <= offset}
     * @param bytes how many bytes, {@code 0 < bytes}, {@code offset + bytes <= bytes()}
     * @return a direct buffer, in the machine's order as {@link ByteBuffer#order} says; it can't be written to if this
     *     memory is read-only
     * @throws IllegalArgumentException if an argument is outside of its range
     * @throws IllegalStateException if this memory is closed
     */
    public synchronized ByteBuffer view(final long offset, final int bytes) {
        if (offset < 0 || bytes <= 0 || offset > bytes() - bytes) {
            throw new IllegalArgumentException(
                    "offset=" + offset + " and bytes=" + bytes + " must be within bytes()=" + bytes());
        }
        if (closed) {
            throw new IllegalStateException("the shared memory is closed");
        }
        final ByteBuffer view = linux.view(address() + offset, bytes);
        return isReadOnly ? view.asReadOnlyBuffer() : view;
    }

    /** Unmaps the memory, and gives this client's share in it back. Idempotent. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            free(linux, region.address(), region.sizeBytes());
            connection.giveBack(lease);
        }
        // This call must not hold the lock of this object, since elsewhere the source's lock is taken first.
        onClose.accept(this);
    }

    /**
     * Returns a text for logs, without the ticket, which is a secret.
     *
     * @return address and size
     */
    @Override
    public String toString() {
        return Objects.toString(region) + (isReadOnly ? " read-only" : "");
    }
}
