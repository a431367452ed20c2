package io.outboard.cuda.internal.memory;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.MemorySource;
import io.outboard.core.PiecedRegion;
import io.outboard.core.Region;
import io.outboard.cuda.driver.CudaFailureException;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import jcuda.driver.CUresult;
import org.jspecify.annotations.Nullable;

/**
 * This class is a region of device memory that grows in place, by the driver's virtual memory calls. Each piece is
 * created and mapped by itself, since the driver maps and unmaps only whole allocations. So a piece can move to other
 * addresses in the region, of which there are up to 16 times as many as bytes of device memory.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: a piece of up to 128 MiB takes 40 microseconds to move, less
 * to add together with others, and 30 to give back; only {@link #close} waits for the device. When the device has no
 * more memory, {@link DeviceOutOfMemoryException} is thrown.
 *
 * <p>The memory belongs to no context, and outlives the context for which it was made. The memory can't be shared by
 * {@code cudaIpcGetMemHandle}, and other devices may use it only after {@link #show}; copies between devices always
 * work.
 */
// A scope takes effect while it is open, so its variable is never read.
@SuppressWarnings("try")
final class CudaGrowableRegion extends PiecedRegion {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.cuda");

    private final VirtualMemoryCalls memory;
    private final CudaContext context;

    /** The devices that may read and write the memory, including the region's own. */
    private final SortedSet<Integer> devices;

    private boolean gone;

    private CudaGrowableRegion(
            final VirtualMemoryCalls memory,
            final CudaContext context,
            final SortedSet<Integer> peers,
            final Region region,
            final long unitBytes) {
        super(region, unitBytes);
        this.memory = memory;
        this.context = context;
        devices = new TreeSet<>(peers);
        devices.add(context.device());
    }

    /**
     * Reserves addresses for a region that has no memory yet, of at most {@code bytes} and {@code addressBytes}, both
     * more than 0. The answer is empty if the device can't do so, or if a size is less than its unit.
     */
    static Optional<CudaGrowableRegion> reserve(
            final VirtualMemoryCalls memory,
            final CudaContext context,
            final SortedSet<Integer> peers,
            final long bytes,
            final long addressBytes) {
        final long memoryBytes = Math.min(bytes, context.memory().totalBytes());
        final long[] unitBytes = new long[1];
        final int known = memory.granularity(unitBytes, context.device());
        if (known == CUresult.CUDA_ERROR_NOT_SUPPORTED) {
            return Optional.empty();
        }
        CudaFailures.check(CudaFailures.of("cuMemGetAllocationGranularity", known));
        final long sizeBytes = Math.min(memoryBytes * MemorySource.ADDRESSES_FOR_A_BYTE, addressBytes) & -unitBytes[0];
        if (sizeBytes == 0 || memoryBytes < unitBytes[0]) {
            return Optional.empty();
        }
        final long[] address = new long[1];
        final int reserved = memory.reserve(address, sizeBytes, unitBytes[0]);
        if (reserved == CUresult.CUDA_ERROR_OUT_OF_MEMORY || reserved == CUresult.CUDA_ERROR_NOT_SUPPORTED) {
            return Optional.empty();
        }
        CudaFailures.check(CudaFailures.of("cuMemAddressReserve", reserved));
        final Region region = new Region(address[0], sizeBytes);
        return Optional.of(new CudaGrowableRegion(memory, context, peers, region, unitBytes[0]));
    }

    @Override
    protected void addChecked(final long address, final long bytes, final long pieceBytes) {
        final long[] handles = new long[(int) ((bytes - 1) / pieceBytes) + 1];
        int added = 0;
        try {
            for (int i = 0; i < handles.length; i++) {
                final long nextBytes = Math.min(pieceBytes, bytes - i * pieceBytes);
                handles[i] = create(nextBytes, bytes - i * pieceBytes, bytes);
                CudaFailures.check(
                        CudaFailures.of("cuMemMap", memory.map(address + i * pieceBytes, nextBytes, handles[i])));
            }
            // Access is given once for all pieces, because adding a single piece takes 43 microseconds, 29 of them in
            // this call (H100, 2026-11-27).
            CudaFailures.check(showToAll(address, bytes));
            for (; added < handles.length; added++) {
                final long doneBytes = added * pieceBytes;
                addPiece(address + doneBytes, Math.min(pieceBytes, bytes - doneBytes), handles[added]);
            }
        } finally {
            // The caller gets the first failure. Unmapping a piece that couldn't be mapped does no harm.
            if (added < handles.length) {
                for (int i = 0; i < handles.length && handles[i] != 0; i++) {
                    if (i < added) {
                        removePiece(address + i * pieceBytes);
                    }
                    memory.unmap(address + i * pieceBytes, Math.min(pieceBytes, bytes - i * pieceBytes));
                    memory.release(handles[i]);
                }
            }
        }
    }

    private long create(final long bytes, final long wantedBytes, final long requestedBytes) {
        final long[] handle = new long[1];
        final int code = memory.create(handle, bytes, context.device(), wantedBytes);
        if (code == CUresult.CUDA_ERROR_OUT_OF_MEMORY) {
            throw context.outOfMemory("cuMemCreate", code, requestedBytes);
        }
        CudaFailures.check(CudaFailures.of("cuMemCreate", code));
        return handle[0];
    }

    private @Nullable CudaFailureException map(final long address, final long bytes, final long handle) {
        final CudaFailureException failure = CudaFailures.of("cuMemMap", memory.map(address, bytes, handle));
        if (failure == null) {
            addPiece(address, bytes, handle);
        }
        return failure;
    }

    @Override
    protected void giveBackChecked(final long[] begins, final int count) {
        apart(() -> CudaFailures.check(unmapAndRelease(begins, count)));
    }

    private @Nullable CudaFailureException unmapAndRelease(final long[] begins, final int count) {
        final long[] handles = new long[count];
        int unmapped = 0;
        CudaFailureException failure = null;
        for (int i = 0; i < count; i++) {
            final CudaFailureException next = unmap(begins[i]);
            if (next == null) {
                handles[unmapped++] = removePiece(begins[i]);
            }
            failure = CudaFailures.first(failure, next);
        }
        return CudaFailures.first(failure, CudaFailures.of("cuMemRelease", memory.releaseAll(handles, unmapped)));
    }

    private @Nullable CudaFailureException unmap(final long begin) {
        return CudaFailures.of("cuMemUnmap", memory.unmap(begin, pieceBytes(begin)));
    }

    @Override
    protected void moveChecked(final long[] begins, final int count) {
        if (count > 0) {
            apart(() -> moveBehind(begins, count));
        }
    }

    /**
     * Moves pieces until a call fails, and then gives devices access to the moved pieces; if that fails, all pieces
     * return to their old addresses.
     */
    private void moveBehind(final long[] begins, final int count) {
        final long first = region().address() + endBytes();
        long to = first;
        int moved = 0;
        CudaFailureException failure = null;
        while (moved < count && failure == null) {
            final long bytes = pieceBytes(begins[moved]);
            failure = unmap(begins[moved]);
            if (failure == null) {
                final long handle = removePiece(begins[moved]);
                failure = map(to, bytes, handle);
                if (failure == null) {
                    to += bytes;
                    moved++;
                } else {
                    putBack(begins[moved], bytes, handle);
                }
            }
        }
        final CudaFailureException refused = moved == 0 ? null : showToAll(first, to - first);
        if (refused != null) {
            to = first;
            for (int i = 0; i < moved; i++) {
                final long bytes = pieceBytes(to);
                memory.unmap(to, bytes);
                putBack(begins[i], bytes, removePiece(to));
                to += bytes;
            }
        }
        CudaFailures.check(CudaFailures.first(failure, refused));
    }

    /** Maps a piece at its old address. If even that fails, the piece's memory goes back to the device. */
    private void putBack(final long address, final long bytes, final long handle) {
        if (map(address, bytes, handle) == null) {
            if (showToAll(address, bytes) == null) {
                return;
            }
            memory.unmap(address, bytes);
            removePiece(address);
        }
        memory.release(handle);
    }

    /** Runs a step unless a capture is under way; no capture begins during the step. */
    private void apart(final Runnable step) {
        if (context.captures().enter()) {
            try {
                step.run();
            } finally {
                context.captures().leave();
            }
        }
    }

    // The methods below give devices access to the memory.

    /**
     * Gives all devices access to memory. A peer device whose access fails is forgotten, because otherwise the region
     * would get no memory at all.
     */
    private @Nullable CudaFailureException showToAll(final long address, final long bytes) {
        for (final int each : List.copyOf(devices)) {
            final CudaFailureException failure = setAccess(address, bytes, each, true);
            if (failure != null && each == context.device()) {
                return failure;
            }
            if (failure != null) {
                LOGGER.log(System.Logger.Level.WARNING, "device " + each + " doesn't see a pool's memory", failure);
                devices.remove(each);
            }
        }
        return null;
    }

    /**
     * Lets another device read and write all memory, now and later. If CUDA fails, access is taken away again, as far
     * as possible.
     */
    synchronized void show(final int peer) {
        if (!gone && !devices.contains(peer)) {
            final CudaFailureException failure = setAccess(peer, true);
            if (failure != null) {
                setAccess(peer, false);
                throw failure;
            }
            devices.add(peer);
        }
    }

    /**
     * Hides the memory from a device that isn't the region's own. If CUDA fails, the device may still have access to
     * some pieces.
     */
    synchronized void hide(final int peer) {
        if (!gone && peer != context.device() && devices.remove(peer)) {
            CudaFailures.check(setAccess(peer, false));
        }
    }

    private @Nullable CudaFailureException setAccess(final int peer, final boolean access) {
        CudaFailureException failure = null;
        for (final long piece : pieces()) {
            failure = CudaFailures.first(failure, setAccess(piece, pieceBytes(piece), peer, access));
        }
        return failure;
    }

    private @Nullable CudaFailureException setAccess(
            final long address, final long bytes, final int peer, final boolean access) {
        return CudaFailures.of("cuMemSetAccess", memory.setAccess(address, bytes, peer, access));
    }

    // The methods below end the region.

    /** Gives memory and addresses back. If CUDA fails, the region is closed, and a further call tries the rest. */
    @Override
    public void close() {
        giveBack(true);
    }

    synchronized boolean isGone() {
        return gone;
    }

    /** Gives memory back after the end of the context, whose work has ended, too, so nothing is waited for. */
    void contextEnded() {
        giveBack(false);
    }

    private synchronized void giveBack(final boolean waits) {
        endCalls();
        if (gone) {
            return;
        }
        // The step isn't put off during a capture, because the program itself asks for it, and can't wait for the
        // capture's end.
        context.captures().guarded(() -> {
            // A broken context does no work, and its memory must be given back nevertheless.
            CudaFailureException failure = waits && committedBytes() > 0 ? CudaFailures.of(this::synchronize) : null;
            final long[] begins = pieces().stream().mapToLong(Long::longValue).toArray();
            failure = CudaFailures.first(failure, unmapAndRelease(begins, begins.length));
            if (committedBytes() == 0) {
                final Region region = region();
                final CudaFailureException kept =
                        CudaFailures.of("cuMemAddressFree", memory.freeAddresses(region.address(), region.sizeBytes()));
                gone = kept == null;
                failure = CudaFailures.first(failure, kept);
            }
            CudaFailures.check(failure);
        });
    }

    private void synchronize() {
        try (ContextScope scope = new ContextScope(context.calls(), context.handle())) {
            CudaFailures.check("cuCtxSynchronize", context.calls().synchronize());
        }
    }
}
