package io.outboard.cuda.internal.memory;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.core.MemorySource;
import io.outboard.core.MemoryUser;
import io.outboard.core.Region;
import io.outboard.cuda.driver.CudaFailureException;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;
import jcuda.driver.CUresult;
import org.jspecify.annotations.Nullable;

/**
 * Regions of device memory that all belong to one CUDA context, whichever thread takes them. They are taken and given back
 * by the driver, so the last error that the runtime keeps for the program stays as it is, and in the relaxed mode, which no
 * capture into a graph minds. Safe for any number of threads.
 */
// A scope is used by being open.
@SuppressWarnings("try")
public final class ContextMemorySource implements MemorySource {

    private final CudaContext context;
    private final Supplier<Optional<VirtualMemoryCalls>> virtualMemory;

    /** What all memory is leased through; null if it is the driver's. */
    private final @Nullable LeasedMemory leased;

    /** How each goes back. */
    private final Map<Region, Runnable> out = new LinkedHashMap<>();

    private final Set<CudaGrowableRegion> growables = new LinkedHashSet<>();

    /** Other devices that see what grows in place. */
    private final SortedSet<Integer> peers = new TreeSet<>();

    private volatile boolean closed;

    /** Without regions that grow in place. */
    public ContextMemorySource(final CudaContext context) {
        this(context, Optional::empty);
    }

    /** With regions that grow in place, where that is possible. */
    public ContextMemorySource(final CudaContext context, final Supplier<Optional<VirtualMemoryCalls>> virtualMemory) {
        this(context, virtualMemory, null);
    }

    /** With memory that is leased; what it is leased through is closed with this source. */
    public ContextMemorySource(final CudaContext context, final LeasedMemory leased, final boolean growsInPlace) {
        this(context, () -> growsInPlace ? Optional.of(leased) : Optional.empty(), leased);
    }

    private ContextMemorySource(
            final CudaContext context,
            final Supplier<Optional<VirtualMemoryCalls>> virtualMemory,
            final @Nullable LeasedMemory leased) {
        this.context = context;
        this.virtualMemory = virtualMemory;
        this.leased = leased;
    }

    @Override
    public synchronized Region take(final long sizeBytes) {
        if (sizeBytes <= 0) {
            throw new IllegalArgumentException("sizeBytes=" + sizeBytes + " must be > 0");
        }
        checkOpen();
        if (leased != null) {
            return lease(leased, sizeBytes);
        }
        final CudaCalls calls = context.calls();
        final long[] address = new long[1];
        try (ContextScope scope = new ContextScope(calls, context.handle())) {
            final int code = StreamCaptures.relaxed(calls, () -> calls.allocate(address, sizeBytes));
            if (code == CUresult.CUDA_ERROR_OUT_OF_MEMORY) {
                throw context.outOfMemory("cuMemAlloc", code, sizeBytes);
            }
            CudaFailures.check("cuMemAlloc", code);
        }
        final Region region = new Region(address[0], sizeBytes);
        out.put(region, () -> release(region));
        return region;
    }

    private Region lease(final LeasedMemory memory, final long sizeBytes) {
        final long availableBytes = memory.availableBytes();
        if (sizeBytes > availableBytes) {
            throw DeviceOutOfMemoryException.ofDevice(sizeBytes, availableBytes, scarcity());
        }
        final long[] unitBytes = new long[1];
        CudaFailures.check("cuMemGetAllocationGranularity", memory.granularity(unitBytes, context.device()));
        final long wholeBytes = (sizeBytes + unitBytes[0] - 1) & -unitBytes[0];
        final CudaGrowableRegion whole = CudaGrowableRegion.reserve(memory, context, peers, wholeBytes, wholeBytes)
                .map(this::keep)
                .orElseThrow(() -> DeviceOutOfMemoryException.ofDevice(sizeBytes, availableBytes, "no addresses left"));
        try {
            whole.commit(whole.region().address(), wholeBytes, wholeBytes);
        } catch (final RuntimeException | Error e) {
            whole.close();
            throw e;
        }
        final Region region = new Region(whole.region().address(), sizeBytes);
        out.put(region, whole::close);
        return region;
    }

    @Override
    public synchronized void giveBack(final Region region) {
        final Runnable end = out.get(Objects.requireNonNull(region, "region"));
        if (end == null) {
            throw new IllegalArgumentException("region=" + region + " must be one that this source has out");
        }
        end.run();
        out.remove(region);
    }

    /** Waits for all work in the context, so no capture begins meanwhile, if there is none yet. */
    private void release(final Region region) {
        final CudaCalls calls = context.calls();
        context.captures().guarded(() -> {
            try (ContextScope scope = new ContextScope(calls, context.handle())) {
                CudaFailures.check("cuMemFree", StreamCaptures.relaxed(calls, () -> calls.release(region.address())));
                // Also if what follows fails.
                out.remove(region);
            }
        });
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
        return virtualMemory
                .get()
                .flatMap(memory -> CudaGrowableRegion.reserve(memory, context, peers, bytes, addressBytes))
                .map(this::keep);
    }

    private CudaGrowableRegion keep(final CudaGrowableRegion added) {
        growables.removeIf(CudaGrowableRegion::isGone);
        growables.add(added);
        return added;
    }

    /** Lets another device read and write what grows in place, also what there is later; whole regions it sees by the driver's doing. */
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

    /** The opposite. */
    public synchronized void hide(final int peer) {
        peers.remove(peer);
        for (final CudaGrowableRegion growable : growables) {
            growable.hide(peer);
        }
    }

    /** Closes this source without the context: that is gone, and with it all work and whole regions. What grows in place outlives it. */
    public synchronized void contextEnded() {
        out.clear();
        closeAll(CudaGrowableRegion::contextEnded);
    }

    @Override
    public void addUser(final MemoryUser user) {
        if (leased != null) {
            leased.addUser(user);
        }
    }

    @Override
    public void removeUser(final MemoryUser user) {
        if (leased != null) {
            leased.removeUser(user);
        }
    }

    /** Whether all memory is another process's to lend. */
    public boolean isLeased() {
        return leased != null;
    }

    /** Whether there are regions that grow in place, unless the device can't. */
    public boolean growsInPlace() {
        return virtualMemory.get().isPresent();
    }

    /** Of leased memory what the lender may lend yet, also where others have it now: they may be made to give back. */
    @Override
    public long availableBytes() {
        return closed ? 0 : freeBytes();
    }

    @Override
    public String scarcity() {
        return leased == null
                ? MemorySource.super.scarcity()
                : "the lender's quota for this process leaves less than is missing";
    }

    /** The same as {@link #availableBytes}, also once this source is closed. */
    public long freeBytes() {
        return leased == null ? context.memory().freeBytes() : leased.availableBytes();
    }

    /** Tries everything that is out; what fails isn't tried again. */
    @Override
    public synchronized void close() {
        closeAll(CudaGrowableRegion::close);
    }

    private void closeAll(final Consumer<CudaGrowableRegion> end) {
        closed = true;
        CudaFailureException failure = null;
        for (final CudaGrowableRegion growable : List.copyOf(growables)) {
            failure = CudaFailures.first(failure, CudaFailures.of(() -> end.accept(growable)));
        }
        if (leased != null) {
            // All that was out is among those that grow.
            leased.close();
        } else {
            for (final Runnable giveBack : List.copyOf(out.values())) {
                failure = CudaFailures.first(failure, CudaFailures.of(giveBack));
            }
        }
        growables.clear();
        out.clear();
        CudaFailures.check(failure);
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the memory source is closed");
        }
    }
}
