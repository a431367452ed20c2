package io.outboard.cuda.memory;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.core.Region;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Optional;
import java.util.function.Consumer;
import jcuda.driver.CUresult;
import org.jspecify.annotations.Nullable;

/**
 * A region of device memory that grows in place, by the driver's virtual memory calls. Its memory consists of units of one size,
 * each created and mapped for itself, since the driver maps and unmaps only what was created in one piece. So each unit can move to
 * other addresses, and there are 16 times as many of them as the device has memory.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: some 50 microseconds for each unit that is added, moved or given back;
 * moving and giving back wait until the device has finished all work, as {@code cudaFree} does and unmapping doesn't. Eight host
 * bytes for each unit of addresses up to the last one with memory. When the device has no more, {@link DeviceOutOfMemoryException}.
 *
 * <p>Such memory can't be shared by {@code cudaIpcGetMemHandle}, and other devices don't see it by
 * {@code cudaDeviceEnablePeerAccess}; copies between devices work.
 */
// A scope is used by being open.
@SuppressWarnings("try")
final class CudaGrowableRegion implements GrowableRegion {

    /**
     * So many units are all memory: with fewer, free blocks hold fewer whole units; with more, growing and moving take longer, since
     * that is as long for a small unit as for a large one.
     */
    private static final long UNITS = 1L << 14;

    private final VirtualMemoryCalls memory;
    private final CudaCalls calls;
    private final long context;
    private final StreamCaptures captures;
    private final int device;
    private final long unitBytes;
    private final Region region;
    private final Consumer<CudaGrowableRegion> onClose;

    /** The units that have memory, by their numbers. */
    private final BitSet units = new BitSet();

    /** The driver's name of each one's memory. */
    private long[] handles = {};

    private boolean closed;
    private boolean gone;

    private CudaGrowableRegion(
            final VirtualMemoryCalls memory,
            final CudaCalls calls,
            final long context,
            final StreamCaptures captures,
            final int device,
            final long unitBytes,
            final Region region,
            final Consumer<CudaGrowableRegion> onClose) {
        this.memory = memory;
        this.calls = calls;
        this.context = context;
        this.captures = captures;
        this.device = device;
        this.unitBytes = unitBytes;
        this.region = region;
        this.onClose = onClose;
    }

    /**
     * Reserves addresses.
     *
     * @param memory the driver's calls
     * @param calls CUDA
     * @param context what is current while the driver is called
     * @param captures what memory isn't taken away during
     * @param device number of its device
     * @param bytes most memory, {@code 0 < bytes}
     * @param times how many times as many addresses as memory, {@code 0 < times}
     * @param addressBytes most addresses, {@code 0 < addressBytes}
     * @param onClose told that all was given back, perhaps more than once
     * @return a region of which nothing is committed; or nothing if the device can't do it, or {@code bytes} is less than its
     *     unit
     * @throws CudaFailureException if CUDA fails otherwise
     */
    static Optional<CudaGrowableRegion> reserve(
            final VirtualMemoryCalls memory,
            final CudaCalls calls,
            final long context,
            final StreamCaptures captures,
            final int device,
            final long bytes,
            final int times,
            final long addressBytes,
            final Consumer<CudaGrowableRegion> onClose) {
        try (ContextScope scope = new ContextScope(calls, context)) {
            final long totalBytes = scope.memory().totalBytes();
            final long[] leastUnitBytes = new long[1];
            final int known = memory.granularity(leastUnitBytes, device);
            if (known == CUresult.CUDA_ERROR_NOT_SUPPORTED) {
                return Optional.empty();
            }
            check("cuMemGetAllocationGranularity", known);
            final long memoryBytes = Math.min(bytes, totalBytes);
            final long unitBytes = Math.max(leastUnitBytes[0], Long.highestOneBit(memoryBytes / UNITS));
            final long sizeBytes = Math.min(memoryBytes * times, addressBytes) & -unitBytes;
            if (sizeBytes == 0 || memoryBytes < unitBytes) {
                return Optional.empty();
            }
            final long[] address = new long[1];
            final int reserved = memory.reserve(address, sizeBytes, unitBytes);
            if (reserved == CUresult.CUDA_ERROR_OUT_OF_MEMORY || reserved == CUresult.CUDA_ERROR_NOT_SUPPORTED) {
                return Optional.empty();
            }
            check("cuMemAddressReserve", reserved);
            return Optional.of(new CudaGrowableRegion(
                    memory, calls, context, captures, device, unitBytes, new Region(address[0], sizeBytes), onClose));
        }
    }

    @Override
    public Region region() {
        return region;
    }

    @Override
    public long unitBytes() {
        return unitBytes;
    }

    @Override
    public synchronized long committedBytes() {
        return units.cardinality() * unitBytes;
    }

    @Override
    public synchronized long endBytes() {
        return units.length() * unitBytes;
    }

    @Override
    public synchronized boolean hasMemory(final long address) {
        return region.contains(address) && units.get(unitAt(address));
    }

    @Override
    public synchronized void commit(final long bytes) {
        if (bytes < 0 || bytes > region.sizeBytes()) {
            throw new IllegalArgumentException("bytes=" + bytes + " must be >= 0 and <= " + region.sizeBytes());
        }
        checkOpen();
        final int first = units.length();
        final int end = (int) ((bytes + unitBytes - 1) / unitBytes);
        if (end > first) {
            add(first, end);
        }
    }

    @Override
    public synchronized void fill(final long address, final long bytes) {
        checkOpen();
        if (bytes <= 0 || bytes % unitBytes != 0 || bytes > region.sizeBytes()) {
            throw new IllegalArgumentException(
                    "bytes=" + bytes + " must be > 0, a multiple of " + unitBytes + " and <= " + region.sizeBytes());
        }
        final int first = unitOf("address", address);
        final int end = first + (int) (bytes / unitBytes);
        final int next = units.nextSetBit(first);
        if (first > units.length() || bytes > region.endAddress() - address || (next >= 0 && next < end)) {
            throw new IllegalArgumentException(
                    "address=" + address + " must be in a hole, or where memory ends, with room for bytes=" + bytes);
        }
        add(first, end);
    }

    /** All or nothing: memory for units that have none, side by side. */
    private void add(final int first, final int end) {
        if (handles.length < end) {
            handles = Arrays.copyOf(handles, Math.max(end, 2 * handles.length));
        }
        final long[] handle = new long[1];
        int created = first;
        int mapped = first;
        boolean done = false;
        try (ContextScope scope = new ContextScope(calls, context)) {
            try {
                for (; created < end; created++) {
                    final int code = memory.create(handle, unitBytes, device);
                    if (code == CUresult.CUDA_ERROR_OUT_OF_MEMORY) {
                        final long haveBytes = (created - first) * unitBytes;
                        final ContextScope.Memory free = scope.memory();
                        throw DeviceOutOfMemoryException.ofDevice(
                                (end - first) * unitBytes,
                                free.freeBytes() + haveBytes,
                                free.totalBytes(),
                                "CUDA_ERROR_OUT_OF_MEMORY (" + code + ")");
                    }
                    check("cuMemCreate", code);
                    handles[created] = handle[0];
                }
                for (; mapped < end; mapped++) {
                    check("cuMemMap", memory.map(addressOf(mapped), unitBytes, handles[mapped]));
                }
                check("cuMemSetAccess", memory.setAccess(addressOf(first), (end - first) * unitBytes, device));
                done = true;
            } finally {
                if (!done) {
                    undo(first, mapped, created);
                }
            }
        }
        units.set(first, end);
    }

    /** A failure here is one more of a driver that has failed: the memory is lost. */
    private void undo(final int first, final int mapped, final int created) {
        if (mapped > first) {
            memory.unmap(addressOf(first), (mapped - first) * unitBytes);
        }
        for (int unit = first; unit < created; unit++) {
            memory.release(handles[unit]);
        }
    }

    @Override
    public synchronized void decommit(final long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("bytes=" + bytes + " must be >= 0");
        }
        checkOpen();
        final long kept = bytes / unitBytes + (bytes % unitBytes == 0 ? 0 : 1);
        if (kept < units.length()) {
            apart(() -> giveBackFrom((int) kept));
        }
    }

    @Override
    public synchronized void giveBack(final long[] from, final int count) {
        checkOpen();
        final int[] sources = sources(from, count, (BitSet) units.clone());
        if (count > 0) {
            apart(() -> {
                for (int i = 0; i < count; ) {
                    final int end = endOfRun(sources, i);
                    giveBack(sources[i], sources[end - 1] + 1);
                    i = end;
                }
            });
        }
    }

    /** Once the device has finished; not at all during a capture, which doesn't bear that. */
    private void apart(final Runnable step) {
        if (captures.enter()) {
            try (ContextScope scope = new ContextScope(calls, context)) {
                check("cuCtxSynchronize", memory.synchronize());
                step.run();
            } finally {
                captures.leave();
            }
        }
    }

    /** From the last one on, so that what is left when a call fails has no new hole. */
    private void giveBackFrom(final int kept) {
        while (units.length() > kept) {
            final int end = units.length();
            giveBack(Math.max(units.previousClearBit(end - 1) + 1, kept), end);
        }
    }

    /** Units side by side, which have memory. */
    private void giveBack(final int first, final int end) {
        check("cuMemUnmap", memory.unmap(addressOf(first), (end - first) * unitBytes));
        units.clear(first, end);
        CudaFailureException failure = null;
        for (int unit = first; unit < end; unit++) {
            failure = CudaFailureException.first(failure, failureOf("cuMemRelease", memory.release(handles[unit])));
        }
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public synchronized void move(final long[] from, final long[] to, final int count) {
        checkOpen();
        final int[] targets = new int[count];
        final BitSet after = (BitSet) units.clone();
        final int[] sources = sources(from, count, after);
        for (int i = 0; i < count; i++) {
            targets[i] = unitOf("to", to[i]);
            if (units.get(targets[i])
                    || after.get(targets[i])
                    || targets[i] > Math.max(units.length(), after.length())) {
                throw new IllegalArgumentException("to=" + to[i] + " must be in a hole, or where memory ends");
            }
            after.set(targets[i]);
        }
        if (count > 0) {
            apart(() -> move(sources, targets));
        }
    }

    /** The numbers of units that have memory, and are cleared. */
    private int[] sources(final long[] from, final int count, final BitSet after) {
        final int[] sources = new int[count];
        for (int i = 0; i < count; i++) {
            sources[i] = unitOf("from", from[i]);
            if (!after.get(sources[i])) {
                throw new IllegalArgumentException("from=" + from[i] + " must have memory");
            }
            after.clear(sources[i]);
        }
        return sources;
    }

    /**
     * Unmaps sources until a call fails, and maps what was unmapped, at the targets until a call fails, and then where it was; what
     * doesn't even get there goes back to the device.
     */
    private void move(final int[] sources, final int[] targets) {
        final int most = Arrays.stream(targets).max().orElseThrow();
        if (handles.length <= most) {
            handles = Arrays.copyOf(handles, Math.max(most + 1, 2 * handles.length));
        }
        CudaFailureException failure = null;
        int unmapped = 0;
        while (unmapped < sources.length && failure == null) {
            final int end = endOfRun(sources, unmapped);
            failure = failureOf("cuMemUnmap", memory.unmap(addressOf(sources[unmapped]), (end - unmapped) * unitBytes));
            if (failure == null) {
                units.clear(sources[unmapped], sources[unmapped] + end - unmapped);
                unmapped = end;
            }
        }
        int moved = 0;
        while (moved < unmapped && failure == null) {
            final int end = Math.min(endOfRun(targets, moved), unmapped);
            failure = map(targets[moved], sources, moved, end);
            moved = failure == null ? end : moved;
        }
        for (int i = moved; i < unmapped; i++) {
            if (map(sources[i], sources, i, i + 1) != null) {
                memory.release(handles[sources[i]]);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** All or nothing: memory that is mapped nowhere, of some sources, at addresses side by side. */
    private @Nullable CudaFailureException map(final int target, final int[] sources, final int first, final int end) {
        CudaFailureException failure = null;
        int mapped = 0;
        while (mapped < end - first && failure == null) {
            failure = failureOf(
                    "cuMemMap", memory.map(addressOf(target + mapped), unitBytes, handles[sources[first + mapped]]));
            mapped += failure == null ? 1 : 0;
        }
        if (failure == null) {
            failure = failureOf("cuMemSetAccess", memory.setAccess(addressOf(target), mapped * unitBytes, device));
        }
        if (failure == null) {
            for (int i = 0; i < mapped; i++) {
                handles[target + i] = handles[sources[first + i]];
            }
            units.set(target, target + mapped);
        } else if (mapped > 0) {
            memory.unmap(addressOf(target), mapped * unitBytes);
        }
        return failure;
    }

    /** Where units that lie side by side end. */
    private static int endOfRun(final int[] list, final int first) {
        int end = first + 1;
        while (end < list.length && list[end] == list[end - 1] + 1) {
            end++;
        }
        return end;
    }

    /**
     * Gives memory and addresses back. Idempotent.
     *
     * @throws CudaFailureException if CUDA fails; the region is closed, and a further call tries the rest
     */
    @Override
    public void close() {
        giveBack();
        // Not under this region's lock, since the source closes its regions under its own.
        onClose.accept(this);
    }

    private synchronized void giveBack() {
        closed = true;
        if (gone) {
            return;
        }
        // Nobody can wait for the end of a capture: the program itself asks.
        final boolean entered = captures.enter();
        try (ContextScope scope = new ContextScope(calls, context)) {
            if (!units.isEmpty()) {
                check("cuCtxSynchronize", memory.synchronize());
                giveBackFrom(0);
            }
            check("cuMemAddressFree", memory.freeAddresses(region.address(), region.sizeBytes()));
            gone = true;
        } finally {
            if (entered) {
                captures.leave();
            }
        }
    }

    private long addressOf(final int unit) {
        return region.address() + unit * unitBytes;
    }

    private int unitAt(final long address) {
        return (int) ((address - region.address()) / unitBytes);
    }

    private int unitOf(final String name, final long address) {
        if (!region.contains(address) || (address - region.address()) % unitBytes != 0) {
            throw new IllegalArgumentException(name + "=" + address + " must be in " + region + ", a multiple of "
                    + unitBytes + " from its begin");
        }
        return unitAt(address);
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the growable region is closed");
        }
    }

    private static void check(final String call, final int code) {
        final CudaFailureException failure = failureOf(call, code);
        if (failure != null) {
            throw failure;
        }
    }

    private static @Nullable CudaFailureException failureOf(final String call, final int code) {
        return code == CudaCalls.SUCCESS ? null : new CudaFailureException(call, code, CUresult.stringFor(code));
    }
}
