package io.outboard.cuda.memory;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.core.MemorySource;
import io.outboard.core.Pieces;
import io.outboard.core.Region;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Consumer;
import jcuda.driver.CUresult;
import org.jspecify.annotations.Nullable;

/**
 * A region of device memory that grows in place, by the driver's virtual memory calls. Each piece is created and mapped for itself,
 * since the driver maps and unmaps only what was created in one go; so it can move to other addresses, of which there are 16 times as
 * many as the device has memory.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: some 40 microseconds for each piece that is added or moved, and 30 for one
 * that is given back, whatever its size up to 128 MiB; but for {@link #close} none waits for the device. When the device has no
 * more, {@link DeviceOutOfMemoryException}.
 *
 * <p>Such memory belongs to no context: it outlives the one that it was made for. It can't be shared by {@code
 * cudaIpcGetMemHandle}, and other devices see it only if they are {@linkplain #show told}; copies between devices work.
 */
// A scope is used by being open.
@SuppressWarnings("try")
final class CudaGrowableRegion implements GrowableRegion {

    private final VirtualMemoryCalls memory;
    private final CudaCalls calls;
    private final long context;
    private final StreamCaptures captures;
    private final int device;
    private final Region region;
    private final Pieces pieces;
    private final Consumer<CudaGrowableRegion> onClose;

    /** Who reads and writes it. */
    private final RegionAccess access;

    private boolean closed;
    private boolean gone;

    private CudaGrowableRegion(
            final VirtualMemoryCalls memory,
            final CudaCalls calls,
            final long context,
            final StreamCaptures captures,
            final int device,
            final SortedSet<Integer> devices,
            final Pieces pieces,
            final Consumer<CudaGrowableRegion> onClose) {
        this.memory = memory;
        this.calls = calls;
        this.context = context;
        this.captures = captures;
        this.device = device;
        access = new RegionAccess(memory, device, devices, pieces);
        this.pieces = pieces;
        this.onClose = onClose;
        region = pieces.region();
    }

    /**
     * Reserves addresses.
     *
     * @param memory the driver's calls
     * @param calls CUDA
     * @param context what is current while the driver is asked, and waited for
     * @param captures what memory isn't taken away during
     * @param device number of its device
     * @param peers numbers of other devices that are to see it
     * @param bytes most memory, {@code 0 < bytes}
     * @param addressBytes most addresses, {@code 0 < addressBytes}
     * @param onClose told that all was given back, perhaps more than once
     * @return a region without memory; or nothing if the device can't do it, or an argument is less than its unit
     * @throws CudaFailureException if CUDA fails otherwise
     */
    static Optional<CudaGrowableRegion> reserve(
            final VirtualMemoryCalls memory,
            final CudaCalls calls,
            final long context,
            final StreamCaptures captures,
            final int device,
            final SortedSet<Integer> peers,
            final long bytes,
            final long addressBytes,
            final Consumer<CudaGrowableRegion> onClose) {
        try (ContextScope scope = new ContextScope(calls, context)) {
            final long totalBytes = scope.memory().totalBytes();
            final long[] unitBytes = new long[1];
            final int known = memory.granularity(unitBytes, device);
            if (known == CUresult.CUDA_ERROR_NOT_SUPPORTED) {
                return Optional.empty();
            }
            check("cuMemGetAllocationGranularity", known);
            final long memoryBytes = Math.min(bytes, totalBytes);
            final long sizeBytes =
                    Math.min(memoryBytes * MemorySource.ADDRESSES_FOR_A_BYTE, addressBytes) & -unitBytes[0];
            if (sizeBytes == 0 || memoryBytes < unitBytes[0]) {
                return Optional.empty();
            }
            final long[] address = new long[1];
            final int reserved = memory.reserve(address, sizeBytes, unitBytes[0]);
            if (reserved == CUresult.CUDA_ERROR_OUT_OF_MEMORY || reserved == CUresult.CUDA_ERROR_NOT_SUPPORTED) {
                return Optional.empty();
            }
            check("cuMemAddressReserve", reserved);
            final SortedSet<Integer> devices = new TreeSet<>(peers);
            devices.add(device);
            final Pieces pieces = new Pieces(new Region(address[0], sizeBytes), unitBytes[0]);
            return Optional.of(
                    new CudaGrowableRegion(memory, calls, context, captures, device, devices, pieces, onClose));
        }
    }

    @Override
    public Region region() {
        return region;
    }

    @Override
    public long unitBytes() {
        return pieces.unitBytes();
    }

    @Override
    public synchronized long committedBytes() {
        return pieces.bytes();
    }

    @Override
    public synchronized long endBytes() {
        return pieces.endBytes();
    }

    @Override
    public synchronized long pieceFrom(final long address) {
        return pieces.from(address);
    }

    @Override
    public synchronized long pieceBytes(final long address) {
        return pieces.bytesAt(address);
    }

    @Override
    public synchronized void commit(final long address, final long bytes, final long pieceBytes) {
        checkOpen();
        pieces.checkCommit(address, bytes, pieceBytes);
        long done = 0;
        try {
            while (done < bytes) {
                final long nextBytes = Math.min(pieceBytes, bytes - done);
                add(address + done, nextBytes, bytes - done, bytes);
                done += nextBytes;
            }
        } finally {
            if (done < bytes) {
                // A failure here is one more of a driver that has failed.
                for (long piece = address; piece < address + done; piece += pieceBytes) {
                    memory.unmap(piece, pieces.bytesAt(piece));
                    memory.release(pieces.remove(piece));
                }
            }
        }
    }

    private void add(final long address, final long bytes, final long wantedBytes, final long requestedBytes) {
        final long[] handle = new long[1];
        final int code = memory.create(handle, bytes, device, wantedBytes);
        if (code == CUresult.CUDA_ERROR_OUT_OF_MEMORY) {
            throw outOfMemory(requestedBytes, code);
        }
        check("cuMemCreate", code);
        final CudaFailureException failure = map(address, bytes, handle[0]);
        if (failure != null) {
            memory.release(handle[0]);
            throw failure;
        }
        pieces.add(address, bytes, handle[0]);
    }

    private DeviceOutOfMemoryException outOfMemory(final long bytes, final int code) {
        try (ContextScope scope = new ContextScope(calls, context)) {
            final ContextScope.Memory free = scope.memory();
            return DeviceOutOfMemoryException.ofDevice(
                    bytes,
                    free.freeBytes(),
                    free.totalBytes(),
                    "cuMemCreate: " + CUresult.stringFor(code) + " (" + code + ")");
        }
    }

    /** All or nothing. */
    private @Nullable CudaFailureException map(final long address, final long bytes, final long handle) {
        CudaFailureException failure = failureOf("cuMemMap", memory.map(address, bytes, handle));
        if (failure == null) {
            failure = access.show(address, bytes);
            if (failure != null) {
                memory.unmap(address, bytes);
            }
        }
        return failure;
    }

    @Override
    public synchronized void giveBack(final long[] begins, final int count) {
        checkOpen();
        pieces.check(begins, count);
        apart(() -> {
            final CudaFailureException failure = unmapAndRelease(begins, count);
            if (failure != null) {
                throw failure;
            }
        });
    }

    private @Nullable CudaFailureException unmapAndRelease(final long[] begins, final int count) {
        final long[] handles = new long[count];
        int unmapped = 0;
        CudaFailureException failure = null;
        for (int i = 0; i < count; i++) {
            final CudaFailureException next =
                    failureOf("cuMemUnmap", memory.unmap(begins[i], pieces.bytesAt(begins[i])));
            if (next == null) {
                handles[unmapped++] = pieces.remove(begins[i]);
            }
            failure = CudaFailureException.first(failure, next);
        }
        return CudaFailureException.first(failure, failureOf("cuMemRelease", memory.releaseAll(handles, unmapped)));
    }

    @Override
    public synchronized void move(final long[] begins, final int count) {
        checkOpen();
        pieces.checkMove(begins, count);
        if (count > 0) {
            apart(() -> moveBehind(begins, count));
        }
    }

    /** One by one until a call fails, and access for all at last: what fails then is put where it was. */
    private void moveBehind(final long[] begins, final int count) {
        final long first = region.address() + pieces.endBytes();
        long to = first;
        int moved = 0;
        CudaFailureException failure = null;
        while (moved < count && failure == null) {
            final long from = begins[moved];
            final long bytes = pieces.bytesAt(from);
            failure = failureOf("cuMemUnmap", memory.unmap(from, bytes));
            if (failure == null) {
                final long handle = pieces.remove(from);
                failure = failureOf("cuMemMap", memory.map(to, bytes, handle));
                if (failure == null) {
                    pieces.add(to, bytes, handle);
                    to += bytes;
                    moved++;
                } else {
                    putBack(from, bytes, handle);
                }
            }
        }
        final CudaFailureException refused = moved == 0 ? null : access.show(first, to - first);
        if (refused != null) {
            to = first;
            for (int i = 0; i < moved; i++) {
                final long bytes = pieces.bytesAt(to);
                memory.unmap(to, bytes);
                putBack(begins[i], bytes, pieces.remove(to));
                to += bytes;
            }
        }
        failure = CudaFailureException.first(failure, refused);
        if (failure != null) {
            throw failure;
        }
    }

    /** Or, if it can't even be where it was, it goes back to the device. */
    private void putBack(final long address, final long bytes, final long handle) {
        if (map(address, bytes, handle) == null) {
            pieces.add(address, bytes, handle);
        } else {
            memory.release(handle);
        }
    }

    /** Not at all during a capture: it mustn't begin meanwhile, either. */
    private void apart(final Runnable step) {
        if (captures.enter()) {
            try {
                step.run();
            } finally {
                captures.leave();
            }
        }
    }

    /**
     * Lets another device read and write all memory, also what is there later. Nothing happens if it does.
     *
     * @throws CudaFailureException if CUDA fails; then it sees nothing, as far as that can be done
     */
    synchronized void show(final int peer) {
        if (!gone) {
            access.add(peer);
        }
    }

    /**
     * The opposite. Nothing happens if it didn't, nor for the region's own device.
     *
     * @throws CudaFailureException if CUDA fails; then it may see some of it still
     */
    synchronized void hide(final int peer) {
        if (!gone) {
            access.remove(peer);
        }
    }

    /**
     * Gives memory and addresses back. Idempotent.
     *
     * @throws CudaFailureException if CUDA fails; the region is closed, and a further call tries the rest
     */
    @Override
    public void close() {
        giveBack(true);
        // Not under this region's lock, since the source closes its regions under its own.
        onClose.accept(this);
    }

    /** Its context, and with it all work, is gone: the memory isn't. */
    void contextEnded() {
        giveBack(false);
    }

    private synchronized void giveBack(final boolean waits) {
        closed = true;
        if (gone) {
            return;
        }
        // Nobody can wait for the end of a capture: the program itself asks.
        final boolean entered = captures.enter();
        try {
            // A broken context does no work any more, and its memory is to go all the same.
            CudaFailureException failure = waits && pieces.bytes() > 0 ? synchronize() : null;
            final long[] begins =
                    pieces.all().stream().mapToLong(Long::longValue).toArray();
            failure = CudaFailureException.first(failure, unmapAndRelease(begins, begins.length));
            if (pieces.bytes() == 0) {
                final CudaFailureException kept =
                        failureOf("cuMemAddressFree", memory.freeAddresses(region.address(), region.sizeBytes()));
                gone = kept == null;
                failure = CudaFailureException.first(failure, kept);
            }
            if (failure != null) {
                throw failure;
            }
        } finally {
            if (entered) {
                captures.leave();
            }
        }
    }

    private @Nullable CudaFailureException synchronize() {
        try (ContextScope scope = new ContextScope(calls, context)) {
            return failureOf("cuCtxSynchronize", memory.synchronize());
        } catch (final CudaFailureException e) {
            return e;
        }
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

    static @Nullable CudaFailureException failureOf(final String call, final int code) {
        return code == CudaCalls.SUCCESS ? null : new CudaFailureException(call, code, CUresult.stringFor(code));
    }
}
