package io.outboard.cuda;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.cuda.internal.memory.CudaCalls;
import io.outboard.cuda.internal.memory.CudaFailures;
import io.outboard.cuda.internal.memory.DriverLibrary;
import io.outboard.cuda.internal.memory.LeasedMemory;
import io.outboard.cuda.internal.memory.NativeLibrary;
import io.outboard.cuda.internal.memory.SharedMemoryCalls;
import io.outboard.service.LendingDevice;
import java.io.IOException;
import java.util.function.Supplier;
import jcuda.driver.CUresult;

/**
 * This class is a CUDA device whose memory a {@link io.outboard.service.Lender} lends. Each lease is a separate piece
 * of physical memory, made by {@code cuMemCreate} and sent as a file descriptor. Clients map the memory by
 * {@link CudaMemorySource#connect}.
 *
 * <p>The lender's process has no context, and so takes none of the device's memory for itself; JCuda isn't needed.
 * The driver reuses memory when its last mapping is gone, and zeroes memory that another process maps.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: some 0.8 ms for 64 MiB. When the device has no more memory,
 * {@link DeviceOutOfMemoryException} is thrown, and the lender tries again.
 */
public final class CudaLendingDevice implements LendingDevice {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.cuda");

    private final SharedMemoryCalls calls;
    private final int device;
    private final String name;
    private final long unitBytes;
    private final long limitBytes;

    private CudaLendingDevice(
            final SharedMemoryCalls calls,
            final int device,
            final String name,
            final long unitBytes,
            final long limitBytes) {
        this.calls = calls;
        this.device = device;
        this.name = name;
        this.unitBytes = unitBytes;
        this.limitBytes = limitBytes;
    }

    /**
     * Opens a device of which a share is lent. Clients' contexts and kernels take some 500 MiB for each client, which
     * isn't leased, so 0.9 is a good share.
     *
     * @param device its number among those that this process sees, {@code 0 <= device}
     * @param share of all its memory, {@code 0 < share <= 1}, rounded down to whole units
     * @return the device
     * @throws IllegalArgumentException if an argument is outside of its range, or the share less than a unit
     * @throws CudaUnavailableException if the JDK is older than 22, there is no driver or no such device, or it can't
     *     lend
     */
    public static CudaLendingDevice open(final int device, final double share) {
        return open(CudaLendingDevice::driver, device, share);
    }

    static CudaLendingDevice open(final Supplier<SharedMemoryCalls> driver, final int device, final double share) {
        if (!(share > 0 && share <= 1)) {
            throw new IllegalArgumentException("share=" + share + " must be > 0 and <= 1");
        }
        return opened(driver, device, totalBytes -> (long) (totalBytes * share));
    }

    /**
     * Opens a device of which the given number of bytes is lent.
     *
     * @param device its number among those that this process sees, {@code 0 <= device}
     * @param limitBytes how much, {@code 0 < limitBytes}, at most what the device has, rounded down to whole units
     * @return the device
     * @throws IllegalArgumentException if an argument is outside of its range, or the limit less than a unit
     * @throws CudaUnavailableException if the JDK is older than 22, there is no driver or no such device, or it can't
     *     lend
     */
    public static CudaLendingDevice openBytes(final int device, final long limitBytes) {
        return openBytes(CudaLendingDevice::driver, device, limitBytes);
    }

    static CudaLendingDevice openBytes(
            final Supplier<SharedMemoryCalls> driver, final int device, final long limitBytes) {
        if (limitBytes <= 0) {
            throw new IllegalArgumentException("limitBytes=" + limitBytes + " must be > 0");
        }
        return opened(driver, device, totalBytes -> {
            if (limitBytes > totalBytes) {
                throw new IllegalArgumentException(
                        "limitBytes=" + limitBytes + " must be <= " + totalBytes + ", what device " + device + " has");
            }
            return limitBytes;
        });
    }

    private interface Limit {
        long of(long totalBytes);
    }

    private static SharedMemoryCalls driver() {
        return DriverLibrary.sharedMemory()
                .orElseThrow(() -> new CudaUnavailableException(
                        "a CUDA device can't be lent: that needs an NVIDIA driver, JDK 22 or newer, this is "
                                + Runtime.version() + ", Outboard's classes in their jar, and native access"));
    }

    private static CudaLendingDevice opened(
            final Supplier<SharedMemoryCalls> driver, final int device, final Limit limit) {
        CudaMemorySource.checkDevice(device);
        final SharedMemoryCalls calls = driver.get();
        final long[] totalBytes = new long[1];
        final long[] unitBytes = new long[1];
        final String name;
        try {
            name = LeasedMemory.nameOf(calls, device);
        } catch (final CudaFailureException e) {
            throw new CudaUnavailableException(
                    "device=" + device + " can't be lent: " + e.getMessage() + NativeLibrary.hiddenDevices(), e);
        }
        checkOpened(device, "cuDeviceTotalMem", calls.totalBytes(totalBytes, device));
        checkOpened(device, "cuMemGetAllocationGranularity", calls.granularity(unitBytes, device));
        final long limitBytes = limit.of(totalBytes[0]) & -unitBytes[0];
        if (limitBytes == 0) {
            throw new IllegalArgumentException(
                    "what is lent of device=" + device + " must be >= " + unitBytes[0] + " bytes, of " + totalBytes[0]);
        }
        final CudaLendingDevice opened = new CudaLendingDevice(calls, device, name, unitBytes[0], limitBytes);
        opened.tryOut();
        return opened;
    }

    private static void checkOpened(final int device, final String call, final int code) {
        if (code != CudaCalls.SUCCESS) {
            throw new CudaUnavailableException("device=" + device + " can't be lent: " + failure(call, code));
        }
    }

    /**
     * Makes a lease, to find out whether the device and the system have descriptors for memory, as some lack them. A
     * full device can't be tried, and is accepted.
     */
    private void tryOut() {
        try {
            create(unitBytes).close();
        } catch (final DeviceOutOfMemoryException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "the device is full at first", e);
        } catch (final IOException e) {
            throw new CudaUnavailableException("device=" + device + " can't be lent: " + e.getMessage(), e);
        }
    }

    private static String failure(final String call, final int code) {
        return call + ": " + CudaFailures.driverNameOf(code) + " (" + code + ")";
    }

    /** {@inheritDoc} The name is {@code cuda:} and the beginning of the UUID, which every process sees alike. */
    @Override
    public String name() {
        return name;
    }

    @Override
    public long unitBytes() {
        return unitBytes;
    }

    @Override
    public long limitBytes() {
        return limitBytes;
    }

    @Override
    public Memory create(final long bytes) throws IOException {
        final long[] handle = new long[1];
        final int created = calls.create(handle, bytes, device);
        if (created == CUresult.CUDA_ERROR_OUT_OF_MEMORY) {
            throw DeviceOutOfMemoryException.ofDevice(bytes, 0, failure("cuMemCreate", created));
        }
        if (created != CudaCalls.SUCCESS) {
            throw new IOException(failure("cuMemCreate", created));
        }
        final int[] descriptor = new int[1];
        final int exported = calls.exportDescriptor(descriptor, handle[0]);
        if (exported != CudaCalls.SUCCESS) {
            release(calls, handle[0]);
            throw new IOException(failure("cuMemExportToShareableHandle", exported));
        }
        return new Made(calls, handle[0], descriptor[0]);
    }

    /** {@inheritDoc} There is nothing to close: leases are closed by the lender. */
    @Override
    public void close() {
        // The driver's start can't be undone.
    }

    /** Releases memory. If that fails, the driver keeps it until this process ends. */
    private static void release(final SharedMemoryCalls calls, final long handle) {
        final int code = calls.release(handle);
        if (code != CudaCalls.SUCCESS) {
            LOGGER.log(System.Logger.Level.WARNING, "memory is lost: " + failure("cuMemRelease", code));
        }
    }

    private static final class Made implements Memory {

        private final SharedMemoryCalls calls;
        private final long handle;
        private final int descriptor;
        private boolean closed;

        Made(final SharedMemoryCalls calls, final long handle, final int descriptor) {
            this.calls = calls;
            this.handle = handle;
            this.descriptor = descriptor;
        }

        @Override
        public int descriptor() {
            return descriptor;
        }

        @Override
        public synchronized void close() {
            if (!closed) {
                closed = true;
                calls.closeDescriptor(descriptor);
                release(calls, handle);
            }
        }
    }
}
