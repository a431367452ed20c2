package io.outboard.cuda.internal.memory;

import io.outboard.core.MemoryUser;
import io.outboard.service.Lease;
import io.outboard.service.LenderConnection;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * This class makes the driver's virtual memory calls on memory that another process lends. Created memory is leased and
 * imported; released memory goes back to the lender. The driver itself does the rest, such as mapping.
 *
 * <p>A lease stays on the lender's ledger until the driver has let go of its memory, so memory that a failing driver
 * keeps isn't lent again.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: two messages for a lease, and the time of the lender's
 * device.
 */
public final class LeasedMemory implements VirtualMemoryCalls, AutoCloseable {

    private final VirtualMemoryCalls driver;
    private final SharedMemoryCalls shared;
    private final Lease.Source leases;

    /** Maps each handle to the number of its lease. */
    private final Map<Long, Long> numbers = new ConcurrentHashMap<>();

    /** This interface connects to the lender of a device's memory. */
    public interface Door {
        LeasedMemory connect(Path socket, String name, int device) throws IOException;
    }

    private LeasedMemory(final VirtualMemoryCalls driver, final SharedMemoryCalls shared, final Lease.Source leases) {
        this.driver = driver;
        this.shared = shared;
        this.leases = leases;
    }

    /** Connects with the driver of this machine. Needs JDK 22 or newer, and a lender that lends to this process. */
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

    /** This interface connects to a lender of any device. */
    public interface Connector {
        Lease.Source connect() throws IOException;
    }

    /** Connects any driver to any lender; nothing stays open if there is no lender, or if it lends another device. */
    public static LeasedMemory over(
            final VirtualMemoryCalls driver,
            final SharedMemoryCalls shared,
            final Connector lender,
            final Path socket,
            final int device)
            throws IOException {
        final String mine = nameOf(shared, device);
        final Lease.Source leases = lender.connect();
        if (!leases.device().equals(mine)) {
            leases.close();
            throw new IOException("socket=" + socket + " must be of a lender of device " + device + ", " + mine
                    + ", and lends " + leases.device());
        }
        return new LeasedMemory(driver, shared, leases);
    }

    /**
     * Returns the name by which lender and client call a device, whatever its number: as much of the device's UUID as a
     * message has room for, such as {@code cuda:8f3a6f2c-1d5e-4b8a-9c07}. {@code nvidia-smi -L} shows the whole UUID.
     */
    public static String nameOf(final SharedMemoryCalls calls, final int device) {
        final byte[] uuid = new byte[SharedMemoryCalls.UUID_BYTES];
        CudaFailures.check(CudaFailures.of("cuInit", calls.initialize()));
        CudaFailures.check(CudaFailures.of("cuDeviceGetUuid", calls.uuid(uuid, device)));
        final String hex = HexFormat.of().formatHex(uuid);
        return "cuda:" + hex.substring(0, 8) + "-" + hex.substring(8, 12) + "-" + hex.substring(12, 16) + "-"
                + hex.substring(16, 20);
    }

    /** Answers how much more may be leased, including what other clients have now. */
    public long availableBytes() {
        return leases.quotaLeftBytes();
    }

    void addUser(final MemoryUser user) {
        leases.addUser(user);
    }

    void removeUser(final MemoryUser user) {
        leases.removeUser(user);
    }

    /** {@inheritDoc} The larger unit of driver and lender serves for both, since both units are powers of two. */
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

    /** {@inheritDoc} A lease that the driver can't import goes back. */
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

    /** {@inheritDoc} The lender is told of all released leases at once. */
    @Override
    public int releaseAll(final long[] handles, final int count) {
        final long[] released = new long[count];
        int releasedCount = 0;
        int code = CudaCalls.SUCCESS;
        for (int i = 0; i < count; i++) {
            // The number is removed before the release, because the driver may reuse the handle afterwards.
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

    /** Ends the connection; the lender then takes the remaining leases off its ledger. Idempotent. */
    @Override
    public void close() {
        leases.close();
    }
}
