package io.outboard.cuda;

import io.outboard.core.ByteSize;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.core.MemoryUser;
import io.outboard.core.Region;
import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.driver.CudaUnavailableException;
import io.outboard.cuda.internal.memory.ContextMemorySource;
import io.outboard.cuda.internal.memory.CudaCalls;
import io.outboard.cuda.internal.memory.CudaContext;
import io.outboard.cuda.internal.memory.DriverLibrary;
import io.outboard.cuda.internal.memory.LeasedMemory;
import io.outboard.cuda.internal.memory.NativeLibrary;
import io.outboard.cuda.internal.memory.StreamCaptures;
import io.outboard.cuda.internal.memory.VirtualMemoryCalls;
import io.outboard.pool.AccessibleMemorySource;
import io.outboard.pool.DeviceMemorySource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * This class takes regions of one CUDA device by {@code cuMemAlloc}, which {@code cudaMalloc} calls too, and gives them
 * back by {@code cuMemFree}. On JDK 22 and newer there are also regions that grow in place, by the driver's virtual
 * memory calls.
 *
 * <p>All regions belong to one CUDA context: the device's primary one, which the runtime uses, unless the program made
 * another context of the device current, by the driver's API, on the thread that calls {@link #open}. The thread's
 * current device and CUDA's last error stay as they were. JCuda's own exceptions may be on or off. Native libraries,
 * such as JCuda's, are first touched by {@link #open}.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: 40 microseconds and more a call, and a hundred host bytes a
 * region; {@link #giveBack} and {@link #close} wait until all work in the context has finished. When the device has no
 * more memory, a {@link DeviceOutOfMemoryException} says what the device reports as free, and CUDA's code.
 */
public final class CudaMemorySource implements DeviceMemorySource, AccessibleMemorySource {

    /** The unit that {@link #takeShare} rounds down to: the driver maps device memory by pages of 2 MiB. */
    private static final long SHARE_UNIT_BYTES = 1L << 21;

    private final CudaDevice device;
    private final CudaContext context;
    private final ContextMemorySource regions;
    private final CudaWork work;

    private CudaMemorySource(final CudaDevice device, final CudaContext context, final ContextMemorySource regions) {
        this.device = device;
        this.context = context;
        this.regions = regions;
        work = new CudaWork(context);
    }

    /**
     * Opens a device. The first call loads the native libraries and makes the device's context, which takes some 100
     * milliseconds.
     *
     * @param device its number among those that this process sees, {@code 0 <= device}
     * @return a source that has nothing out
     * @throws IllegalArgumentException if {@code device < 0}
     * @throws CudaUnavailableException if there is no driver, no such device, or JCuda's native library doesn't load; a
     *     later attempt is possible, and for the library fails again until the JVM is restarted
     */
    public static CudaMemorySource open(final int device) {
        checkDevice(device);
        return open(NativeLibrary.load(), DriverLibrary::virtualMemory, device);
    }

    /** Opens a device without regions that grow in place. */
    static CudaMemorySource open(final CudaCalls calls, final int device) {
        return open(calls, Optional::empty, device);
    }

    static CudaMemorySource open(
            final CudaCalls calls, final Supplier<Optional<VirtualMemoryCalls>> virtualMemory, final int device) {
        checkDevice(device);
        final DeviceOpener.Opened opened = DeviceOpener.open(calls, device);
        final CudaContext context = contextOf(calls, opened);
        return new CudaMemorySource(opened.device(), context, new ContextMemorySource(context, virtualMemory));
    }

    /**
     * Opens a device whose memory another process lends, an {@link io.outboard.service.Lender} over a
     * {@link CudaLendingDevice}. Regions then are leases, or consist of leases. If the lender refuses, a
     * {@link DeviceOutOfMemoryException} has the lender's message, such as who holds the memory. When the lender wants
     * memory back, a pool over this source gives back what is free in the pool.
     *
     * @param device its number among those that this process sees, {@code 0 <= device}
     * @param socket the lender's path
     * @param name by which the lender knows the quota: ASCII letters, digits, {@code .}, {@code _} and {@code -}, 1 to
     *     32 of them
     * @return a source that has nothing out
     * @throws IllegalArgumentException if an argument is outside of its range; nothing stays open
     * @throws IOException if there is no lender, or the lender is another user's, lends another device's memory or
     *     turns this process away; or if the JDK is older than 22; nothing stays open
     * @throws CudaUnavailableException if there is no driver, no such device, or JCuda's native library doesn't load
     * @throws CudaFailureException if CUDA fails; nothing stays open
     */
    public static CudaMemorySource connect(final int device, final Path socket, final String name) throws IOException {
        checkDevice(device);
        return connect(NativeLibrary.load(), LeasedMemory::connect, device, socket, name);
    }

    static CudaMemorySource connect(
            final CudaCalls calls,
            final LeasedMemory.Door lender,
            final int device,
            final Path socket,
            final String name)
            throws IOException {
        final DeviceOpener.Opened opened = DeviceOpener.open(calls, device);
        final CudaContext context = contextOf(calls, opened);
        final LeasedMemory leased = lender.connect(socket, name, device);
        final ContextMemorySource regions = new ContextMemorySource(context, leased, true);
        try {
            return new CudaMemorySource(opened.device(), context, regions);
        } catch (final RuntimeException | Error e) {
            regions.close();
            throw e;
        }
    }

    private static CudaContext contextOf(final CudaCalls calls, final DeviceOpener.Opened opened) {
        return new CudaContext(calls, opened.context(), opened.device().ordinal(), new StreamCaptures());
    }

    /**
     * Answers which device the regions are of.
     *
     * @return the facts, as read when the source was opened
     */
    public CudaDevice device() {
        return device;
    }

    /**
     * Answers the work on the device, in the context that the regions belong to. A pool over this source asks this
     * object, unless the pool is given another.
     *
     * @return the same at each call; nothing can be marked once the source is closed, so pools must be closed first
     */
    @Override
    public CudaWork work() {
        return work;
    }

    /**
     * Takes one region.
     *
     * @param sizeBytes length in bytes, {@code 0 < sizeBytes}
     * @return a region of exactly {@code sizeBytes}, aligned to 256 bytes at least; its contents are undefined
     * @throws IllegalArgumentException if {@code sizeBytes <= 0}; nothing is taken
     * @throws IllegalStateException if the source is closed; nothing is taken
     * @throws DeviceOutOfMemoryException if the device hasn't so much memory; nothing is taken
     * @throws CudaFailureException if CUDA fails otherwise; whatever was taken by then is given back by {@link #close}
     */
    @Override
    public Region take(final long sizeBytes) {
        return regions.take(sizeBytes);
    }

    /**
     * Takes one region, whose size is {@code share} of the memory that is free now, rounded down to 2 MiB. Other
     * programs on the device take memory too, and the driver needs some for kernels, so 0.9 is a good share and 1
     * seldom succeeds.
     *
     * @param share {@code 0 < share <= 1}
     * @return a region of a multiple of 2 MiB
     * @throws IllegalArgumentException if {@code share} is outside of its range; nothing is taken
     * @throws IllegalStateException if the source is closed; nothing is taken
     * @throws DeviceOutOfMemoryException if the share is less than 2 MiB, or the device hasn't so much memory in one
     *     piece; nothing is taken
     * @throws CudaFailureException if CUDA fails otherwise; whatever was taken by then is given back by {@link #close}
     */
    public Region takeShare(final double share) {
        if (!(share > 0 && share <= 1)) {
            throw new IllegalArgumentException("share=" + share + " must be > 0 and <= 1");
        }
        final long freeBytes = regions.freeBytes();
        final long sizeBytes = (long) (freeBytes * share) & -SHARE_UNIT_BYTES;
        if (sizeBytes == 0) {
            throw DeviceOutOfMemoryException.ofDevice(
                    SHARE_UNIT_BYTES,
                    freeBytes,
                    context.memory().totalBytes(),
                    "share=" + share + " is less than " + ByteSize.text(SHARE_UNIT_BYTES));
        }
        return regions.take(sizeBytes);
    }

    /**
     * Gives a region back, once all work in the context has finished; work in other contexts and on other devices isn't
     * waited for.
     *
     * @param region what {@link #take} or {@link #takeShare} returned, not given back yet
     * @throws IllegalArgumentException if the region isn't one that this source has out; nothing changes
     * @throws CudaFailureException if CUDA fails; if it was {@code cuMemFree}, the region is still out
     */
    @Override
    public void giveBack(final Region region) {
        regions.giveBack(region);
    }

    /**
     * Reserves addresses for a region that grows in place. The reservation needs JDK 22 or newer; JDK 24 and newer warn
     * unless {@code --enable-native-access=ALL-UNNAMED} is given. The region's memory can't be shared by
     * {@code cudaIpcGetMemHandle}, and {@code cudaDeviceEnablePeerAccess} doesn't show the memory to other devices;
     * {@link #show} does.
     *
     * @param bytes most memory that the region may have, {@code 0 < bytes}
     * @param addressBytes most addresses, {@code 0 < addressBytes}: up to 16 times as many as {@code bytes}, or as all
     *     memory of the device, whoever holds it, if that is less
     * @return the region; or nothing on an older JDK, where native access is denied, or if the driver or the device
     *     can't do this
     * @throws IllegalArgumentException if an argument is outside of its range; nothing is reserved
     * @throws IllegalStateException if the source is closed; nothing is reserved
     * @throws CudaFailureException if CUDA fails otherwise; nothing is reserved
     */
    @Override
    public Optional<GrowableRegion> reserve(final long bytes, final long addressBytes) {
        return regions.reserve(bytes, addressBytes);
    }

    /**
     * Lets another device read and write the memory of regions that grow in place, now and later, as
     * {@code cudaDeviceEnablePeerAccess} does for other memory. From then on, the work of that device's primary context
     * is waited for, too. A second call does nothing. A call takes some 30 microseconds for each piece of the regions.
     *
     * @param peer its number, {@code 0 <= peer}
     * @throws IllegalArgumentException if {@code peer < 0}
     * @throws CudaFailureException if CUDA fails, as it does if the devices can't reach each other
     */
    public void show(final int peer) {
        checkDevice(peer);
        work.add(DeviceOpener.open(context.calls(), peer).context());
        regions.show(peer);
    }

    /**
     * Undoes {@link #show}: work of the other device that still uses the memory fails.
     *
     * @param peer its number, {@code 0 <= peer}
     * @throws IllegalArgumentException if {@code peer < 0}
     * @throws CudaFailureException if CUDA fails
     */
    public void hide(final int peer) {
        checkDevice(peer);
        regions.hide(peer);
    }

    /**
     * {@inheritDoc} The device fills it at its own speed, beside the work of all streams but two, which are
     * waited for: the legacy default one, and the thread's own default one.
     */
    @Override
    public boolean fill(final long address, final long sizeBytes, final byte value) {
        return regions.fill(address, sizeBytes, value);
    }

    /** {@inheritDoc} It waits as {@link #fill} does. */
    @Override
    public boolean read(final long address, final ByteBuffer to) {
        return regions.read(address, to);
    }

    @Override
    public void addUser(final MemoryUser user) {
        regions.addUser(user);
    }

    @Override
    public void removeUser(final MemoryUser user) {
        regions.removeUser(user);
    }

    /**
     * Answers what the device reports as free now, to all programs; for a lender's memory, how much more the quotas
     * allow, including what others have now.
     *
     * @return bytes, 0 or more; 0 if the source is closed
     * @throws CudaFailureException if CUDA fails
     */
    @Override
    public long availableBytes() {
        return regions.availableBytes();
    }

    @Override
    public String scarcity() {
        return regions.scarcity();
    }

    /**
     * Answers what the device reports as in use now: total less free. The figure includes all processes, the driver's
     * own needs and what libraries hold; for one program, the difference between two readings says more. The method
     * works on a closed source, too.
     *
     * @return bytes, 0 or more
     * @throws CudaFailureException if CUDA fails
     */
    public long usedBytes() {
        final CudaContext.Memory memory = context.memory();
        return memory.totalBytes() - memory.freeBytes();
    }

    /**
     * Gives every region back that is still out. Idempotent.
     *
     * @throws CudaFailureException if CUDA fails; every region was tried, later failures are suppressed in the first,
     *     and the source is closed
     */
    @Override
    public void close() {
        try (work) {
            regions.close();
        }
    }

    static void checkDevice(final int device) {
        if (device < 0) {
            throw new IllegalArgumentException("device=" + device + " must be >= 0");
        }
    }
}
