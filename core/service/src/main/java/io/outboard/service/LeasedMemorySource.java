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
 * A leased memory source takes host memory from a {@link Lender} of {@link LendingDevice#memory}, for a pool that grows
 * and gives back in leases. Within leases, the pool allocates without a message to the lender.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: a lease for each piece of a region, see {@link
 * LenderConnection}. When there is no more memory, {@link DeviceOutOfMemoryException} says whether the device is full,
 * and who holds its memory, the quota is used up, or the lender is gone. What is leased stays leased.
 */
public final class LeasedMemorySource implements MemorySource {

    private final LenderConnection connection;
    private final Linux linux;

    /** The regions that can grow. The monitor guards this field and those below. */
    private final Set<LeasedRegion> growables = new HashSet<>();

    /** The regions that can't grow. All their memory is leased from the start. */
    private final Map<Region, LeasedRegion> out = new HashMap<>();

    private final Set<SharedMemory> shared = new HashSet<>();
    private boolean closed;

    private LeasedMemorySource(final LenderConnection connection, final Linux linux) {
        this.connection = connection;
        this.linux = linux;
    }

    /**
     * Connects to a lender as a client whose name is {@code pid-} and the number of this process.
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
     * @param name the client's name, which selects its quota: 1 to 32 ASCII letters, digits, {@code .}, {@code _} and
     *     {@code -}
     * @return a source, to be closed
     * @throws IllegalArgumentException if an argument is invalid
     * @throws IOException if there is no lender; if the lender is another user's, speaks another version, turns this
     *     client away or lends another device's memory; if this isn't Linux; or if the JDK is older than 22
     */
    public static LeasedMemorySource connect(final Path socket, final String name) throws IOException {
        return over(LenderConnection.connect(socket, name), socket);
    }

    /** Returns a source over a connection. Fails and closes the connection if that lends another device's memory. */
    static LeasedMemorySource over(final LenderConnection connection, final Path socket) throws IOException {
        if (!connection.device().equals(MemoryDevice.NAME)) {
            connection.close();
            throw new IOException("socket=" + socket + " must be of a lender of " + MemoryDevice.NAME + ", and lends "
                    + connection.device());
        }
        return new LeasedMemorySource(connection, LinuxCalls.find());
    }

    /**
     * Returns the connection, which knows what is leased and what the quota is.
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
     * Makes memory that other clients of the lender can map, too, without a copy, if they are told its ticket. The
     * memory is a lease of its own outside of any pool, and zero. It is counted to this client, and after that has
     * closed it, to the next client that still has it.
     *
     * @param bytes the size, {@code 0 < bytes}; rounded up to a multiple of {@link LenderConnection#unitBytes}
     * @return the memory, to be closed; {@link #close} closes it as well
     * @throws IllegalArgumentException if {@code bytes} is outside of its range
     * @throws IllegalStateException if this source is closed
     * @throws DeviceOutOfMemoryException as {@link LenderConnection#lease(long)}, or if the lender has reached its
     *     limit of shared leases. Nothing is leased
     */
    public SharedMemory share(final long bytes) {
        checkOpenNow();
        return added(SharedMemory.make(linux, connection, this::forget, bytes));
    }

    /**
     * Maps memory that another client of the lender shares.
     *
     * @param ticket the {@link SharedMemory#ticket} of the other client
     * @param isReadOnly whether this process only reads; the lender then sends a descriptor that can't be mapped for
     *     writing
     * @return the memory, to be closed; {@link #close} closes it as well
     * @throws IllegalArgumentException if {@code ticket} doesn't consist of 32 hexadecimal digits
     * @throws IllegalStateException if this source is closed
     * @throws IOException if no shared lease has the ticket, for example since all have closed it, or since the lender
     *     has been restarted; if there is no lender; or if no descriptor is left. Nothing is opened
     */
    public SharedMemory open(final String ticket, final boolean isReadOnly) throws IOException {
        checkOpenNow();
        return added(SharedMemory.open(linux, connection, this::forget, ticket, isReadOnly));
    }

    /**
     * Adds memory to those that this source closes. The memory is made before, without the lock, since the lender may
     * take long.
     */
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

    /** Returns what the quota leaves, including what others have now: they can be asked to give back. */
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
    public String scarcity() {
        return "the lender's quota for this process leaves less than is missing";
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
     * Returns a buffer over the bytes of a block.
     *
     * @param address where the bytes begin, in memory that this source has handed out
     * @param bytes how many bytes, {@code 0 < bytes}; all must be the caller's, which isn't checked. Access after they
     *     are given back ends the process
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
