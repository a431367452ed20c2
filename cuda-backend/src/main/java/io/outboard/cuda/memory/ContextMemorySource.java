package io.outboard.cuda.memory;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.core.MemorySource;
import io.outboard.core.Region;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Supplier;
import jcuda.driver.CUresult;
import org.jspecify.annotations.Nullable;

/**
 * Regions of device memory that all belong to one CUDA context, whichever thread takes them. They are taken and given back
 * by the driver, so the last error that the runtime keeps for the program stays as it is, and in the relaxed mode, which no
 * capture into a graph minds. Safe for any number of threads.
 *
 * <p>Not for applications.
 */
// A scope is used by being open.
@SuppressWarnings("try")
public final class ContextMemorySource implements MemorySource {

    private final CudaCalls calls;
    private final long context;
    private final StreamCaptures captures;
    private final Supplier<Optional<VirtualMemoryCalls>> virtualMemory;
    private final int device;
    private final Set<Region> out = new LinkedHashSet<>();
    private final Set<CudaGrowableRegion> growables = new LinkedHashSet<>();

    /** Other devices that see what grows in place. */
    private final SortedSet<Integer> peers = new TreeSet<>();

    private volatile boolean closed;

    /** Without regions that grow in place. */
    public ContextMemorySource(final CudaCalls calls, final long context, final StreamCaptures captures) {
        this(calls, context, captures, Optional::empty, 0);
    }

    /**
     * With regions that grow in place, where that is possible.
     *
     * @param device number of the context's device
     */
    public ContextMemorySource(
            final CudaCalls calls,
            final long context,
            final StreamCaptures captures,
            final Supplier<Optional<VirtualMemoryCalls>> virtualMemory,
            final int device) {
        this.calls = calls;
        this.context = context;
        this.captures = captures;
        this.virtualMemory = virtualMemory;
        this.device = device;
    }

    @Override
    public synchronized Region take(final long sizeBytes) {
        if (sizeBytes <= 0) {
            throw new IllegalArgumentException("sizeBytes=" + sizeBytes + " must be > 0");
        }
        checkOpen();
        final long[] address = new long[1];
        try (ContextScope scope = new ContextScope(calls, context)) {
            final int code = StreamCaptures.relaxed(calls, () -> calls.allocate(address, sizeBytes));
            if (code == CUresult.CUDA_ERROR_OUT_OF_MEMORY) {
                final ContextScope.Memory memory = scope.memory();
                throw DeviceOutOfMemoryException.ofDevice(
                        sizeBytes,
                        memory.freeBytes(),
                        memory.totalBytes(),
                        "cuMemAlloc: " + CUresult.stringFor(code) + " (" + code + ")");
            }
            ContextScope.check(calls, "cuMemAlloc", code);
        }
        final Region region = new Region(address[0], sizeBytes);
        out.add(region);
        return region;
    }

    /** Waits for all work in the context, so no capture begins meanwhile, if there is none yet. */
    @Override
    public synchronized void giveBack(final Region region) {
        Objects.requireNonNull(region, "region");
        if (!out.contains(region)) {
            throw new IllegalArgumentException("region=" + region + " must be one that this source has out");
        }
        final boolean entered = captures.enter();
        try (ContextScope scope = new ContextScope(calls, context)) {
            ContextScope.check(
                    calls, "cuMemFree", StreamCaptures.relaxed(calls, () -> calls.release(region.address())));
            out.remove(region);
        } finally {
            if (entered) {
                captures.leave();
            }
        }
    }

    @Override
    public synchronized Optional<GrowableRegion> reserve(final long bytes, final long addressBytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("bytes=" + bytes + " must be > 0");
        }
        if (addressBytes <= 0) {
            throw new IllegalArgumentException("addressBytes=" + addressBytes + " must be > 0");
        }
        checkOpen();
        final Optional<VirtualMemoryCalls> memory = virtualMemory.get();
        if (memory.isEmpty()) {
            return Optional.empty();
        }
        final Optional<CudaGrowableRegion> reserved = CudaGrowableRegion.reserve(
                memory.get(), calls, context, captures, device, peers, bytes, addressBytes, this::forget);
        reserved.ifPresent(growables::add);
        return reserved.map(growable -> growable);
    }

    /**
     * Lets another device read and write what grows in place, also what there is later; whole regions it sees by the driver's doing.
     *
     * @param peer its number
     * @throws CudaFailureException if CUDA fails
     */
    public synchronized void show(final int peer) {
        try {
            for (final CudaGrowableRegion growable : growables) {
                growable.show(peer);
            }
            peers.add(peer);
        } finally {
            if (!peers.contains(peer)) {
                growables.forEach(growable -> growable.hide(peer));
            }
        }
    }

    /**
     * The opposite.
     *
     * @param peer its number
     * @throws CudaFailureException if CUDA fails
     */
    public synchronized void hide(final int peer) {
        peers.remove(peer);
        for (final CudaGrowableRegion growable : growables) {
            growable.hide(peer);
        }
    }

    /**
     * Closes this source without the context: that is gone, and with it all work and whole regions. What grows in place outlives it.
     *
     * @throws CudaFailureException if CUDA fails; all was tried
     */
    public synchronized void contextEnded() {
        closed = true;
        CudaFailureException failure = null;
        for (final CudaGrowableRegion growable : List.copyOf(growables)) {
            failure = CudaFailureException.first(failure, failureOf(growable::contextEnded));
        }
        growables.clear();
        out.clear();
        if (failure != null) {
            throw failure;
        }
    }

    private synchronized void forget(final CudaGrowableRegion growable) {
        growables.remove(growable);
    }

    @Override
    public long availableBytes() {
        return closed ? 0 : memory().freeBytes();
    }

    /** What the device reports, also once this source is closed. */
    public ContextScope.Memory memory() {
        try (ContextScope scope = new ContextScope(calls, context)) {
            return scope.memory();
        }
    }

    /** Tries everything that is out; what fails isn't tried again. */
    @Override
    public synchronized void close() {
        closed = true;
        CudaFailureException failure = null;
        for (final CudaGrowableRegion growable : List.copyOf(growables)) {
            failure = CudaFailureException.first(failure, failureOf(growable::close));
        }
        for (final Region region : List.copyOf(out)) {
            failure = CudaFailureException.first(failure, failureOf(() -> giveBack(region)));
        }
        growables.clear();
        out.clear();
        if (failure != null) {
            throw failure;
        }
    }

    private static @Nullable CudaFailureException failureOf(final Runnable step) {
        try {
            step.run();
            return null;
        } catch (final CudaFailureException e) {
            return e;
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the memory source is closed");
        }
    }
}
