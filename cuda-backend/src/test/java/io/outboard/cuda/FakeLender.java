package io.outboard.cuda;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.MemoryUser;
import io.outboard.cuda.internal.memory.LeasedMemory;
import io.outboard.service.Lease;
import io.outboard.service.LendingDevice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A lender without a socket, in the client's process, has a quota, leases, and the users that it can ask to return
 * memory.
 */
public final class FakeLender implements Lease.Source {

    static final String REASON = "lender: the device is full; held by night (pid 17) 1GiB";

    private final FakeSharedMemory shared;
    private final LendingDevice device;
    private final Map<Long, Long> leases = new TreeMap<>();
    private final List<MemoryUser> users = new ArrayList<>();
    private final long mostBytes;

    /** The bytes that the lender can lend to this client in all: less than the quota if other clients have some. */
    private long lentBytes;

    private long nextNumber = 1;
    private boolean closed;
    private long wanted;
    private int returns;
    private String askedName = "";

    /** Makes a lender of the device with the number {@code device}. */
    public FakeLender(final FakeSharedMemory shared, final int device, final long mostBytes) {
        this.shared = shared;
        this.mostBytes = mostBytes;
        lentBytes = mostBytes;
        this.device = CudaLendingDevice.open(() -> shared, device, 1);
    }

    /** Returns a door to this lender, whatever path a client names. */
    public LeasedMemory.Door door(final FakeVirtualMemory memory) {
        return (socket, name, number) -> {
            askedName = name;
            return LeasedMemory.over(memory, shared, () -> this, socket, number);
        };
    }

    static Path socket() {
        return Path.of("/run/outboard/lender");
    }

    /** Returns the name with which the last client connected. */
    public String askedName() {
        return askedName;
    }

    /** Sets the bytes to lend, as if others had the rest. */
    public void lentBytes(final long bytes) {
        lentBytes = bytes;
    }

    public long leasedBytes() {
        return leases.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Returns the bytes that the client said, in its last request, it would want next. */
    long wantedBytes() {
        return wanted;
    }

    /** Returns how often leases were returned, one or several at once. */
    int returns() {
        return returns;
    }

    public int leases() {
        return leases.size();
    }

    public boolean isClosed() {
        return closed;
    }

    /** Asks users of memory to return some. */
    public void press(final long bytes) {
        List.copyOf(users).forEach(user -> user.giveBack(bytes));
    }

    public int users() {
        return users.size();
    }

    @Override
    public String device() {
        return device.name();
    }

    @Override
    public long unitBytes() {
        return device.unitBytes();
    }

    @Override
    public long quotaLeftBytes() {
        return Math.max(0, mostBytes - leasedBytes());
    }

    @Override
    public Lease lease(final long bytes, final long wantedBytes) {
        wanted = wantedBytes;
        if (bytes > lentBytes - leasedBytes()) {
            throw DeviceOutOfMemoryException.ofDevice(bytes, lentBytes - leasedBytes(), mostBytes, REASON);
        }
        try (LendingDevice.Memory made = device.create(bytes)) {
            leases.put(nextNumber, bytes);
            return new Lease(nextNumber++, bytes, shared.sent(made.descriptor()));
        } catch (final IOException e) {
            throw DeviceOutOfMemoryException.ofDevice(bytes, 0, "lender: " + e.getMessage());
        }
    }

    @Override
    public void closeDescriptor(final Lease lease) {
        shared.closeDescriptor(lease.descriptor());
    }

    @Override
    public void giveBack(final long... numbers) {
        for (final long number : numbers) {
            if (leases.remove(number) == null) {
                throw new IllegalStateException("number=" + number + " must be leased");
            }
        }
        returns += numbers.length > 0 ? 1 : 0;
    }

    @Override
    public void addUser(final MemoryUser user) {
        users.add(user);
    }

    @Override
    public void removeUser(final MemoryUser user) {
        users.remove(user);
    }

    @Override
    public void close() {
        closed = true;
        leases.clear();
    }
}
