package io.outboard.cuda;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.core.MemorySource;
import io.outboard.core.Region;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Regions of device memory, taken by {@code cudaMalloc} from one CUDA device and given back by {@code cudaFree}; and, on
 * JDK 22 and newer, regions that grow in place, by the driver's virtual memory calls.
 *
 * <p>Regions belong to the CUDA context that is current on the thread that takes them: the device's primary context,
 * unless the program made another current by the driver's API. The thread's current device is left as found. A failure
 * that is reported by an exception is cleared from CUDA's last error, so no later check finds it there. Whether JCuda's
 * own exceptions are on or off makes no difference. JCuda and its native library are first touched by {@link #open}.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: 40 microseconds and more a call; {@code cudaFree}, and so
 * {@link #giveBack} and {@link #close}, wait until all work in the region's context has finished. A hundred host bytes a region. When
 * the device has no more, {@link DeviceOutOfMemoryException}, which says what it reports as free and CUDA's code.
 */
public final class CudaMemorySource implements MemorySource {

    /** What {@link #takeShare} rounds to: the driver maps device memory by pages of 2 MiB. */
    private static final long SHARE_UNIT_BYTES = 1L << 21;

    private final CudaCalls calls;
    private final CudaDevice device;
    private final Supplier<Optional<VirtualMemoryCalls>> virtualMemory;
    private final Set<Region> out = new LinkedHashSet<>();
    private final Set<CudaGrowableRegion> growables = new LinkedHashSet<>();
    private volatile boolean closed;

    private CudaMemorySource(
            final CudaCalls calls,
            final Supplier<Optional<VirtualMemoryCalls>> virtualMemory,
            final CudaDevice device) {
        this.calls = calls;
        this.virtualMemory = virtualMemory;
        this.device = device;
    }

    /**
     * Opens a device. Loads JCuda's native library and makes the device's context, if that hasn't happened yet, which
     * takes some 100 milliseconds.
     *
     * @param device its number among those that this process sees, {@code 0 <= device}
     * @return a source that has nothing out
     * @throws IllegalArgumentException if {@code device < 0}
     * @throws CudaUnavailableException if there is no driver, no such device, or JCuda's native library doesn't load; a
     *     later attempt is possible, and for the library fails again until the JVM is restarted
     */
    public static CudaMemorySource open(final int device) {
        checkDevice(device);
        return open(NativeLibrary.load(), VirtualMemory::find, device);
    }

    /** Without regions that grow in place. */
    static CudaMemorySource open(final CudaCalls calls, final int device) {
        return open(calls, Optional::empty, device);
    }

    static CudaMemorySource open(
            final CudaCalls calls, final Supplier<Optional<VirtualMemoryCalls>> virtualMemory, final int device) {
        checkDevice(device);
        return new CudaMemorySource(calls, virtualMemory, DeviceOpener.open(calls, device));
    }

    /**
     * The device that regions come from.
     *
     * @return the facts, as read when the source was opened
     */
    public CudaDevice device() {
        return device;
    }

    /**
     * Takes one region by {@code cudaMalloc}.
     *
     * @param sizeBytes length in bytes, {@code 0 < sizeBytes}
     * @return a region of exactly {@code sizeBytes}, aligned to 256 bytes at least; its contents are undefined
     * @throws IllegalArgumentException if {@code sizeBytes <= 0}; nothing is taken
     * @throws IllegalStateException if the source is closed; nothing is taken
     * @throws DeviceOutOfMemoryException if the device hasn't so much; nothing is taken
     * @throws CudaFailureException if CUDA fails otherwise; whatever was taken by then is given back by {@link #close}
     */
    @Override
    public synchronized Region take(final long sizeBytes) {
        if (sizeBytes <= 0) {
            throw new IllegalArgumentException("sizeBytes=" + sizeBytes + " must be > 0");
        }
        checkOpen();
        try (DeviceScope scope = new DeviceScope(calls, device.ordinal())) {
            return take(scope, sizeBytes);
        }
    }

    /**
     * Takes one region, sized by what is free now: {@code share} of it, rounded down to 2 MiB. Other programs on the
     * device take memory too, and the driver needs some for kernels, so 0.9 is a good share and 1 seldom succeeds.
     *
     * @param share {@code 0 < share <= 1}
     * @return a region of a multiple of 2 MiB
     * @throws IllegalArgumentException if {@code share} is outside of its range; nothing is taken
     * @throws IllegalStateException if the source is closed; nothing is taken
     * @throws DeviceOutOfMemoryException if the share is less than 2 MiB, or the device hasn't so much in one piece;
     *     nothing is taken
     * @throws CudaFailureException if CUDA fails otherwise; whatever was taken by then is given back by {@link #close}
     */
    public synchronized Region takeShare(final double share) {
        if (!(share > 0 && share <= 1)) {
            throw new IllegalArgumentException("share=" + share + " must be > 0 and <= 1");
        }
        checkOpen();
        try (DeviceScope scope = new DeviceScope(calls, device.ordinal())) {
            final DeviceScope.Memory memory = scope.memory();
            final long sizeBytes = (long) (memory.freeBytes() * share) & -SHARE_UNIT_BYTES;
            if (sizeBytes == 0) {
                throw DeviceOutOfMemoryException.ofDevice(
                        SHARE_UNIT_BYTES,
                        memory.freeBytes(),
                        memory.totalBytes(),
                        "share=" + share + " is less than " + SHARE_UNIT_BYTES + " bytes");
            }
            return take(scope, sizeBytes);
        }
    }

    /**
     * Gives a region back by {@code cudaFree}, which waits until all work in the region's context has finished; not for other
     * contexts' and other devices'.
     *
     * @param region what {@link #take} or {@link #takeShare} returned, not given back yet
     * @throws IllegalArgumentException if the region isn't one that this source has out; nothing changes
     * @throws CudaFailureException if CUDA fails; if it was {@code cudaFree}, the region is still out
     */
    @Override
    public synchronized void giveBack(final Region region) {
        Objects.requireNonNull(region, "region");
        if (!out.contains(region)) {
            throw new IllegalArgumentException("region=" + region + " must be one that this source has out");
        }
        try (DeviceScope scope = new DeviceScope(calls, device.ordinal())) {
            scope.free(region.address());
            out.remove(region);
        }
    }

    /**
     * Reserves addresses for a region that grows in place: for all memory of the device at most, whoever holds it. Needs JDK
     * 22 or newer, and from 24 on {@code --enable-native-access=ALL-UNNAMED} to do so without a warning. Its memory can't be
     * shared by {@code cudaIpcGetMemHandle}, and {@code cudaDeviceEnablePeerAccess} doesn't show it to other devices.
     *
     * @param bytes most addresses to reserve, {@code 0 < bytes}
     * @return the region; or nothing on an older JDK, where native access is denied, or if driver or device can't
     * @throws IllegalArgumentException if {@code bytes <= 0}; nothing is reserved
     * @throws IllegalStateException if the source is closed; nothing is reserved
     * @throws CudaFailureException if CUDA fails otherwise; nothing is reserved
     */
    @Override
    public synchronized Optional<GrowableRegion> reserve(final long bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("bytes=" + bytes + " must be > 0");
        }
        checkOpen();
        final Optional<VirtualMemoryCalls> memory = virtualMemory.get();
        if (memory.isEmpty()) {
            return Optional.empty();
        }
        final Optional<CudaGrowableRegion> reserved =
                CudaGrowableRegion.reserve(memory.get(), calls, device.ordinal(), bytes, this::forget);
        reserved.ifPresent(growables::add);
        return reserved.map(growable -> growable);
    }

    private synchronized void forget(final CudaGrowableRegion growable) {
        growables.remove(growable);
    }

    /**
     * What the device reports as free now, whoever may take it.
     *
     * @return bytes, 0 or more; 0 if the source is closed
     * @throws CudaFailureException if CUDA fails
     */
    @Override
    public long availableBytes() {
        return closed ? 0 : memory().freeBytes();
    }

    /**
     * What the device reports as in use now: total less free. It counts all processes, the driver's own needs and what
     * libraries hold; for one program the difference between two readings says more. Works on a closed source too.
     *
     * @return bytes, 0 or more
     * @throws CudaFailureException if CUDA fails
     */
    public long usedBytes() {
        final DeviceScope.Memory memory = memory();
        return memory.totalBytes() - memory.freeBytes();
    }

    /**
     * Gives every region back that is still out. Idempotent.
     *
     * @throws CudaFailureException if CUDA fails; every region was tried, later failures are suppressed in the first, and
     *     the source is closed
     */
    @Override
    public synchronized void close() {
        closed = true;
        try {
            closeGrowables();
        } finally {
            growables.clear();
            if (!out.isEmpty()) {
                try (DeviceScope scope = new DeviceScope(calls, device.ordinal())) {
                    freeAll(scope);
                } finally {
                    out.clear();
                }
            }
        }
    }

    private void closeGrowables() {
        CudaFailureException failure = null;
        for (final CudaGrowableRegion growable : List.copyOf(growables)) {
            try {
                growable.close();
            } catch (final CudaFailureException e) {
                failure = CudaFailureException.first(failure, e);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private Region take(final DeviceScope scope, final long sizeBytes) {
        final Region region = new Region(scope.malloc(sizeBytes), sizeBytes);
        out.add(region);
        return region;
    }

    private DeviceScope.Memory memory() {
        try (DeviceScope scope = new DeviceScope(calls, device.ordinal())) {
            return scope.memory();
        }
    }

    private void freeAll(final DeviceScope scope) {
        CudaFailureException failure = null;
        for (final Region region : out) {
            try {
                scope.free(region.address());
            } catch (final CudaFailureException e) {
                failure = CudaFailureException.first(failure, e);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the memory source is closed");
        }
    }

    private static void checkDevice(final int device) {
        if (device < 0) {
            throw new IllegalArgumentException("device=" + device + " must be >= 0");
        }
    }
}
