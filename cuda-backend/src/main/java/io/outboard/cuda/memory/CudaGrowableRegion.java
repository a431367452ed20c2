package io.outboard.cuda.memory;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.core.Region;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.function.Consumer;
import jcuda.driver.CUresult;
import org.jspecify.annotations.Nullable;

/**
 * A region of device memory that grows in place, by the driver's virtual memory calls: each {@link #commit} creates one piece
 * of memory and maps it behind the last one; each piece is unmapped as a whole, since the driver can't do otherwise.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: 40 microseconds and more to grow, whatever the size up to some
 * hundred MiB; shrinking waits until the device has finished all work, as {@code cudaFree} does and unmapping doesn't.
 * Some forty host bytes a piece. When the device has no more, {@link DeviceOutOfMemoryException}.
 *
 * <p>Such memory can't be shared by {@code cudaIpcGetMemHandle}, and other devices don't see it by
 * {@code cudaDeviceEnablePeerAccess}; copies between devices work.
 */
// A scope is used by being open.
@SuppressWarnings("try")
final class CudaGrowableRegion implements GrowableRegion {

    private final VirtualMemoryCalls memory;
    private final CudaCalls calls;
    private final long context;
    private final int device;
    private final long unitBytes;
    private final Region region;
    private final Consumer<CudaGrowableRegion> onClose;

    /** Where pieces begin, from the region's start, the last one first. */
    private final Deque<Long> pieces = new ArrayDeque<>();

    private long committedBytes;
    private boolean closed;
    private boolean gone;

    private CudaGrowableRegion(
            final VirtualMemoryCalls memory,
            final CudaCalls calls,
            final long context,
            final int device,
            final long unitBytes,
            final Region region,
            final Consumer<CudaGrowableRegion> onClose) {
        this.memory = memory;
        this.calls = calls;
        this.context = context;
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
     * @param device number of its device
     * @param bytes most to reserve, {@code 0 < bytes}
     * @param onClose told that all was given back, perhaps more than once
     * @return a region of which nothing is committed; or nothing if the device can't do it, or {@code bytes} is less than its
     *     unit
     * @throws CudaFailureException if CUDA fails otherwise
     */
    static Optional<CudaGrowableRegion> reserve(
            final VirtualMemoryCalls memory,
            final CudaCalls calls,
            final long context,
            final int device,
            final long bytes,
            final Consumer<CudaGrowableRegion> onClose) {
        try (ContextScope scope = new ContextScope(calls, context)) {
            final long totalBytes = scope.memory().totalBytes();
            final long[] unitBytes = new long[1];
            final int known = memory.granularity(unitBytes, device);
            if (known == CUresult.CUDA_ERROR_NOT_SUPPORTED) {
                return Optional.empty();
            }
            check("cuMemGetAllocationGranularity", known);
            final long sizeBytes = Math.min(bytes, totalBytes) & -unitBytes[0];
            if (sizeBytes == 0) {
                return Optional.empty();
            }
            final long[] address = new long[1];
            final int reserved = memory.reserve(address, sizeBytes, unitBytes[0]);
            if (reserved == CUresult.CUDA_ERROR_OUT_OF_MEMORY || reserved == CUresult.CUDA_ERROR_NOT_SUPPORTED) {
                return Optional.empty();
            }
            check("cuMemAddressReserve", reserved);
            return Optional.of(new CudaGrowableRegion(
                    memory, calls, context, device, unitBytes[0], new Region(address[0], sizeBytes), onClose));
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
        return committedBytes;
    }

    @Override
    public synchronized void commit(final long bytes) {
        if (bytes < 0 || bytes > region.sizeBytes()) {
            throw new IllegalArgumentException("bytes=" + bytes + " must be >= 0 and <= " + region.sizeBytes());
        }
        checkOpen();
        if (bytes > committedBytes) {
            final long pieceBytes = ((bytes + unitBytes - 1) & -unitBytes) - committedBytes;
            try (ContextScope scope = new ContextScope(calls, context)) {
                final ContextScope.Memory free = scope.memory();
                addPiece(pieceBytes, free);
            }
        }
    }

    @Override
    public synchronized void decommit(final long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("bytes=" + bytes + " must be >= 0");
        }
        checkOpen();
        if (!pieces.isEmpty() && pieces.getFirst() >= bytes) {
            try (ContextScope scope = new ContextScope(calls, context)) {
                removePieces(bytes);
            }
        }
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
        try (ContextScope scope = new ContextScope(calls, context)) {
            removePieces(0);
            check("cuMemAddressFree", memory.freeAddresses(region.address(), region.sizeBytes()));
            gone = true;
        }
    }

    private void addPiece(final long pieceBytes, final ContextScope.Memory free) {
        final long address = region.address() + committedBytes;
        final long[] handle = new long[1];
        final int created = memory.create(handle, pieceBytes, device);
        if (created == CUresult.CUDA_ERROR_OUT_OF_MEMORY) {
            throw DeviceOutOfMemoryException.ofDevice(
                    pieceBytes, free.freeBytes(), free.totalBytes(), "CUDA_ERROR_OUT_OF_MEMORY (" + created + ")");
        }
        check("cuMemCreate", created);
        CudaFailureException failure = failureOf("cuMemMap", memory.map(address, pieceBytes, handle[0]));
        final boolean mapped = failure == null;
        // From here on the mapping keeps the memory; without one it goes at once.
        failure = CudaFailureException.first(failure, failureOf("cuMemRelease", memory.release(handle[0])));
        if (failure == null) {
            failure = failureOf("cuMemSetAccess", memory.setAccess(address, pieceBytes, device));
        }
        if (failure != null) {
            if (mapped) {
                CudaFailureException.first(failure, failureOf("cuMemUnmap", memory.unmap(address, pieceBytes)));
            }
            throw failure;
        }
        pieces.push(committedBytes);
        committedBytes += pieceBytes;
    }

    private void removePieces(final long keptBytes) {
        if (!pieces.isEmpty()) {
            check("cuCtxSynchronize", memory.synchronize());
        }
        while (!pieces.isEmpty() && pieces.getFirst() >= keptBytes) {
            final long start = pieces.getFirst();
            check("cuMemUnmap", memory.unmap(region.address() + start, committedBytes - start));
            pieces.pop();
            committedBytes = start;
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

    private static @Nullable CudaFailureException failureOf(final String call, final int code) {
        return code == CudaCalls.SUCCESS ? null : new CudaFailureException(call, code, CUresult.stringFor(code));
    }
}
