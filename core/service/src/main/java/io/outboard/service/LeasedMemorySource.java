package io.outboard.service;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.core.MemorySource;
import io.outboard.core.MemoryUser;
import io.outboard.core.Region;
import io.outboard.service.internal.linux.Linux;
import io.outboard.service.internal.linux.LinuxCalls;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Memory of a {@link Lender} that lends this machine's ({@link LendingDevice#memory}), for a pool that grows and gives
 * back in leases. The pool allocates inside of them without a message.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: a lease for each piece of a region, see {@link
 * LenderConnection}. When there is no more, {@link DeviceOutOfMemoryException} says whether that is the device, and who
 * holds it, the quota, or that the lender is gone; what is leased stays as it is then.
 */
public final class LeasedMemorySource implements MemorySource {

    private final LenderConnection connection;
    private final Linux linux;

    /** Guarded by the monitor, as the others. */
    private final Set<LeasedRegion> growables = new HashSet<>();

    /** Those that don't grow: all is leased from the start. */
    private final Map<Region, LeasedRegion> out = new HashMap<>();

    private final Set<SharedMemory> shared = new HashSet<>();
    private boolean closed;

    private LeasedMemorySource(final LenderConnection connection, final Linux linux) {
        this.connection = connection;
        this.linux = linux;
    }

    /**
     * Connects to a lender, by a name of this process's own: {@code pid-} and its number.
     *
     * @param socket the lender's path
     * @return a source, to be closed
     * @throws IOException as {@link #connect(Path, String)}
     */
    public static LeasedMemorySource connect(final Path socket) throws IOException {
        return connect(socket, "pid-" + ProcessHandle.current().pid());
    }

    /**
     * Connects to a lender.
     *
     * @param socket the lender's path
     * @param name by which it knows the quota: ASCII letters, digits, {@code .}, {@code _} and {@code -}, 1 to 32
     *     of them
     * @return a source, to be closed
     * @throws IllegalArgumentException if an argument is none
     * @throws IOException if there is no lender, it is another user's, speaks another version, turns this client
     *     away or lends another device's memory; or if this isn't Linux, or the JDK older than 22
     */
    public static LeasedMemorySource connect(final Path socket, final String name) throws IOException {
        return over(LenderConnection.connect(socket, name), socket);
    }

    /** Over a connection, which is closed if it is another device's. */
    static LeasedMemorySource over(final LenderConnection connection, final Path socket) throws IOException {
        if (!connection.device().equals(MemoryDevice.NAME)) {
            connection.close();
            throw new IOException("socket=" + socket + " must be of a lender of " + MemoryDevice.NAME + ", and lends "
                    + connection.device());
        }
        return new LeasedMemorySource(connection, LinuxCalls.find());
    }

    /**
     * The connection, which tells what is leased and what the quota is.
     *
     * @return the connection; this source closes it
     */
    public LenderConnection connection() {
        return connection;
    }

    @Override
    public synchronized Region take(final long sizeBytes) {
        if (sizeBytes <= 0) {
            throw new IllegalArgumentException("sizeBytes=" + sizeBytes + " must be > 0");
        }
        checkOpen();
        final long unitBytes = connection.unitBytes();
        if (sizeBytes > connection.mostBytes()) {
            throw DeviceOutOfMemoryException.ofDevice(
                    sizeBytes, availableBytes(), connection.mostBytes(), "more than the lender may ever lend");
        }
        final long wholeBytes = (sizeBytes + unitBytes - 1) & -unitBytes;
        final LeasedRegion leased = LeasedRegion.reserve(linux, connection, wholeBytes, this::forget)
                .orElseThrow(() -> DeviceOutOfMemoryException.ofDevice(sizeBytes, 0, "no addresses left"));
        boolean done = false;
        try {
            leased.commit(leased.region().address(), wholeBytes, wholeBytes);
            done = true;
        } finally {
            if (!done) {
                leased.close();
            }
        }
        growables.add(leased);
        final Region region = new Region(leased.region().address(), sizeBytes);
        out.put(region, leased);
        return region;
    }

    @Override
    public synchronized void giveBack(final Region region) {
        final LeasedRegion leased = out.remove(Objects.requireNonNull(region, "region"));
        if (leased == null) {
            throw new IllegalArgumentException("region=" + region + " must be one that this source has out");
        }
        leased.close();
    }

    @Override
    public synchronized Optional<GrowableRegion> reserve(final long bytes, final long addressBytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("bytes=" + bytes + " must be > 0");
        }
        if (addressBytes <= 0) {
            throw new IllegalArgumentException("addressBytes=" + addressBytes + " must be > 0");
        }
        checkOpen();
        final long unitBytes = connection.unitBytes();
        final long memoryBytes = Math.min(bytes, connection.mostBytes());
        final long sizeBytes = Math.min(addressBytes, memoryBytes * ADDRESSES_FOR_A_BYTE) & -unitBytes;
        if (sizeBytes == 0 || memoryBytes < unitBytes) {
            return Optional.empty();
        }
        final Optional<LeasedRegion> reserved = LeasedRegion.reserve(linux, connection, sizeBytes, this::forget);
        reserved.ifPresent(growables::add);
        return reserved.map(region -> region);
    }

    /**
     * Makes memory that other clients of the lender can have, too, without a copy: those that are told its ticket. It
     * is a lease of its own, not a pool's, and zero. It is counted to this client, then to the next one that still has
     * it.
     *
     * @param bytes how much, {@code 0 < bytes}; rounded up to a multiple of {@link LenderConnection#unitBytes}
     * @return the memory, to be closed; {@link #close} closes it as well
     * @throws IllegalArgumentException if {@code bytes} is outside of its range
     * @throws IllegalStateException if this source is closed
     * @throws DeviceOutOfMemoryException as {@link LenderConnection#lease(long)}, or if the lender has as many
     *     shared leases as it may. Nothing is leased
     */
    public SharedMemory share(final long bytes) {
        checkOpenNow();
        return added(SharedMemory.make(linux, connection, this::forget, bytes));
    }

    /**
     * Maps memory that another client of the lender shares.
     *
     * @param ticket the other's {@link SharedMemory#ticket}
     * @param isReadOnly whether this process is to read only; its lender gives it a descriptor then that can't be
     *     mapped otherwise
     * @return the memory, to be closed; {@link #close} closes it as well
     * @throws IllegalArgumentException if {@code ticket} doesn't consist of 32 hexadecimal digits
     * @throws IllegalStateException if this source is closed
     * @throws IOException if no shared lease has the ticket: all have closed it, say, or the lender has been
     *     started anew since it was made; or if there is no lender, or no descriptor left. Nothing is opened
     */
    public SharedMemory open(final String ticket, final boolean isReadOnly) throws IOException {
        checkOpenNow();
        return added(SharedMemory.open(linux, connection, this::forget, ticket, isReadOnly));
    }

    /** Made without this source's lock, since the lender may take its time. */
    private SharedMemory added(final SharedMemory memory) {
        boolean isLate;
        synchronized (this) {
            isLate = closed;
            if (!isLate) {
                shared.add(memory);
            }
        }
        if (isLate) {
            memory.close();
            checkOpenNow();
        }
        return memory;
    }

    private synchronized void checkOpenNow() {
        checkOpen();
    }

    private synchronized void forget(final SharedMemory memory) {
        shared.remove(memory);
    }

    private synchronized void forget(final LeasedRegion region) {
        growables.remove(region);
    }

    /** What the quota leaves, also where others have it now: they may be made to give back. */
    @Override
    public long availableBytes() {
        synchronized (this) {
            if (closed) {
                return 0;
            }
        }
        return connection.quotaLeftBytes();
    }

    @Override
    public void addUser(final MemoryUser user) {
        connection.addUser(user);
    }

    @Override
    public void removeUser(final MemoryUser user) {
        connection.removeUser(user);
    }

    /**
     * The bytes of a block, to be read and written.
     *
     * @param address where it begins, in memory that this source has out
     * @param bytes how many, {@code 0 < bytes}; all must be the caller's, which isn't checked. To touch them once
     *     they are given back ends the process
     * @return a direct buffer, in the machine's order as {@link ByteBuffer#order} says
     */
    public ByteBuffer view(final long address, final int bytes) {
        return linux.view(address, bytes);
    }

    @Override
    public void close() {
        final Set<LeasedRegion> left;
        final Set<SharedMemory> leftShared;
        synchronized (this) {
            closed = true;
            left = Set.copyOf(growables);
            leftShared = Set.copyOf(shared);
            out.clear();
        }
        left.forEach(LeasedRegion::close);
        leftShared.forEach(SharedMemory::close);
        connection.close();
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the memory source is closed");
        }
    }
}
