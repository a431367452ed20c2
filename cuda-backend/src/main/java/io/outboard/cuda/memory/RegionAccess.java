package io.outboard.cuda.memory;

import io.outboard.core.Pieces;
import java.util.List;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;

/**
 * Which devices read and write the memory of a {@link CudaGrowableRegion}: its own, and others that are told of it.
 *
 * <p>External lock required: the region's monitor.
 */
final class RegionAccess {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.cuda");

    private final VirtualMemoryCalls memory;

    /** Its own. */
    private final int device;

    private final SortedSet<Integer> devices;
    private final Pieces pieces;

    RegionAccess(
            final VirtualMemoryCalls memory, final int device, final SortedSet<Integer> devices, final Pieces pieces) {
        this.memory = memory;
        this.device = device;
        this.devices = devices;
        this.pieces = pieces;
    }

    /**
     * Lets all devices that are to see it read and write there. Another one that it can't be shown to isn't to see it any more: else
     * no memory could be had for this one, either.
     */
    @Nullable
    CudaFailureException show(final long address, final long bytes) {
        for (final int each : List.copyOf(devices)) {
            final CudaFailureException failure = set(address, bytes, each, true);
            if (failure != null && each == device) {
                return failure;
            }
            if (failure != null) {
                LOGGER.log(System.Logger.Level.WARNING, "device " + each + " doesn't see a pool's memory", failure);
                devices.remove(each);
            }
        }
        return null;
    }

    /** See {@link CudaGrowableRegion#show}. */
    void add(final int peer) {
        if (devices.contains(peer)) {
            return;
        }
        for (final long piece : pieces.all()) {
            final CudaFailureException failure = set(piece, pieces.bytesAt(piece), peer, true);
            if (failure != null) {
                setNone(peer);
                throw failure;
            }
        }
        devices.add(peer);
    }

    /** See {@link CudaGrowableRegion#hide}. */
    void remove(final int peer) {
        if (peer != device && devices.remove(peer)) {
            final CudaFailureException failure = setNone(peer);
            if (failure != null) {
                throw failure;
            }
        }
    }

    private @Nullable CudaFailureException setNone(final int peer) {
        CudaFailureException failure = null;
        for (final long piece : pieces.all()) {
            failure = CudaFailureException.first(failure, set(piece, pieces.bytesAt(piece), peer, false));
        }
        return failure;
    }

    private @Nullable CudaFailureException set(
            final long address, final long bytes, final int peer, final boolean readsAndWrites) {
        return CudaGrowableRegion.failureOf("cuMemSetAccess", memory.setAccess(address, bytes, peer, readsAndWrites));
    }
}
