package io.outboard.cuda.internal.memory;

import io.outboard.core.MemoryUser;
import io.outboard.service.Lease;
import io.outboard.service.Leases;
import io.outboard.service.LenderConnection;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The driver's virtual memory calls over memory that another process lends: what they create is leased and imported, and what they
 * release is given back to the lender. All else, mapping above all, is the driver's.
 *
 * <p>A lease stays on the lender's ledger until the driver has let go of its memory, so what a failing driver keeps isn't lent again.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: to create, two messages and what the lender's device needs; an entry in a table
 * for each lease.
 */
public final class LeasedMemory implements VirtualMemoryCalls, AutoCloseable {

    private final VirtualMemoryCalls driver;
    private final SharedMemoryCalls shared;
    private final Leases leases;

    /** The lease behind each handle. */
    private final Map<Long, Long> numbers = new ConcurrentHashMap<>();

    /** Connects to the lender of a device's memory, if there is one that lends it to this process, and the JDK is new enough. */
    public interface Door {
        LeasedMemory connect(Path socket, String name, int device) throws IOException;
    }

    private LeasedMemory(final VirtualMemoryCalls driver, final SharedMemoryCalls shared, final Leases leases) {
        this.driver = driver;
        this.shared = shared;
        this.leases = leases;
    }

    /** {@link Door#connect} by the driver that is there. */
    public static LeasedMemory connect(final Path socket, final String name, final int device) throws IOException {
        return over(
                DriverLibrary.virtualMemory().orElseThrow(LeasedMemory::missing),
                DriverLibrary.sharedMemory().orElseThrow(LeasedMemory::missing),
                () -> LenderConnection.connect(socket, name),
                socket,
                device);
    }

    private static IOException missing() {
        return new IOException(
                "leases of a CUDA device need JDK 22 or newer, Outboard's classes in their jar, native access, and the"
                        + " driver's virtual memory; this is JDK " + Runtime.version());
    }

    /** Connects to a lender, or says why that can't be. */
    public interface Connector {
        Leases connect() throws IOException;
    }

    /** Over any driver and any lender; if that isn't there, or its device isn't this one, nothing stays open. */
    public static LeasedMemory over(
            final VirtualMemoryCalls driver,
            final SharedMemoryCalls shared,
            final Connector lender,
            final Path socket,
            final int device)
            throws IOException {
        final String mine = nameOf(shared, device);
        final Leases leases = lender.connect();
        if (!leases.device().equals(mine)) {
            leases.close();
            throw new IOException("socket=" + socket + " must be of a lender of device " + device + ", " + mine
                    + ", and lends " + leases.device());
        }
        return new LeasedMemory(driver, shared, leases);
    }

    /**
     * What lender and client call a device, whatever its number: as much of its UUID, as {@code nvidia-smi -L} shows it, as a message has
     * room for, such as {@code cuda:8f3a6f2c-1d5e-4b8a-9c07}.
     */
    public static String nameOf(final SharedMemoryCalls calls, final int device) {
        final byte[] uuid = new byte[SharedMemoryCalls.UUID_BYTES];
        CudaFailures.check(CudaFailures.of("cuInit", calls.initialize()));
        CudaFailures.check(CudaFailures.of("cuDeviceGetUuid", calls.uuid(uuid, device)));
        final String hex = HexFormat.of().formatHex(uuid);
        return "cuda:" + hex.substring(0, 8) + "-" + hex.substring(8, 12) + "-" + hex.substring(12, 16) + "-"
                + hex.substring(16, 20);
    }

    /** How much more may be leased, also where others have it now. */
    public long availableBytes() {
        return leases.quotaLeftBytes();
    }

    void addUser(final MemoryUser user) {
        leases.addUser(user);
    }

    void removeUser(final MemoryUser user) {
        leases.removeUser(user);
    }

    /** The larger one: both are powers of two. */
    @Override
    public int granularity(final long[] bytes, final int device) {
        final int code = driver.granularity(bytes, device);
        if (code == CudaCalls.SUCCESS) {
            bytes[0] = Math.max(bytes[0], leases.unitBytes());
        }
        return code;
    }

    @Override
    public int reserve(final long[] address, final long sizeBytes, final long alignmentBytes) {
        return driver.reserve(address, sizeBytes, alignmentBytes);
    }

    /** Leases. What the driver can't import is given back. */
    @Override
    public int create(final long[] handle, final long sizeBytes, final int device, final long wantedBytes) {
        final Lease lease = leases.lease(sizeBytes, wantedBytes);
        boolean done = false;
        try {
            CudaFailures.check(CudaFailures.of(
                    "cuMemImportFromShareableHandle", shared.importDescriptor(handle, lease.descriptor())));
            numbers.put(handle[0], lease.number());
            done = true;
        } finally {
            leases.closeDescriptor(lease);
            if (!done) {
                leases.giveBack(lease.number());
            }
        }
        return CudaCalls.SUCCESS;
    }

    @Override
    public int map(final long address, final long sizeBytes, final long handle) {
        return driver.map(address, sizeBytes, handle);
    }

    @Override
    public int setAccess(final long address, final long sizeBytes, final int device, final boolean access) {
        return driver.setAccess(address, sizeBytes, device, access);
    }

    @Override
    public int unmap(final long address, final long sizeBytes) {
        return driver.unmap(address, sizeBytes);
    }

    @Override
    public int release(final long handle) {
        return releaseAll(new long[] {handle}, 1);
    }

    /** The lender is told of all of them at once. */
    @Override
    public int releaseAll(final long[] handles, final int count) {
        final long[] released = new long[count];
        int releasedCount = 0;
        int code = CudaCalls.SUCCESS;
        for (int i = 0; i < count; i++) {
            // Before the driver gives the handle's number to another.
            final Long number = numbers.remove(handles[i]);
            final int next = driver.release(handles[i]);
            if (next == CudaCalls.SUCCESS && number != null) {
                released[releasedCount++] = number;
            }
            code = code == CudaCalls.SUCCESS ? next : code;
        }
        if (releasedCount > 0) {
            leases.giveBack(Arrays.copyOf(released, releasedCount));
        }
        return code;
    }

    @Override
    public int freeAddresses(final long address, final long sizeBytes) {
        return driver.freeAddresses(address, sizeBytes);
    }

    /** Ends the connection; what is leased still goes off the lender's ledger. Idempotent. */
    @Override
    public void close() {
        leases.close();
    }
}
