package io.outboard.cuda.internal.memory;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.GrowableRegion;
import io.outboard.core.MemoryUser;
import io.outboard.core.Region;
import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.pool.AccessibleMemorySource;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.WeakHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import jcuda.driver.CUresult;
import org.jspecify.annotations.Nullable;

/**
 * This class is a source of device memory for one CUDA context; any thread may take memory. Memory is taken by the
 * driver, so that the last error that the runtime keeps for the program doesn't change, and in the relaxed mode, which
 * doesn't disturb captures into graphs. Safe for any number of threads.
 */
// A scope takes effect while it is open, so its variable is never read.
@SuppressWarnings("try")
public final class ContextMemorySource implements AccessibleMemorySource {

    private final CudaContext context;
    private final Supplier<Optional<VirtualMemoryCalls>> virtualMemory;

    /** The connection to the lender of all memory; null if the driver gives the memory. */
    private final @Nullable LeasedMemory leased;

    /** For each region that is taken, the action that gives the region back. */
    private final Map<Region, Runnable> out = new LinkedHashMap<>();

    private final Set<CudaGrowableRegion> growables = new LinkedHashSet<>();

    /** Other devices that see the memory of regions that grow in place. */
    private final SortedSet<Integer> peers = new TreeSet<>();

    /**
     * The users of the memory. References are weak, so that a pool that was never closed can be collected; its memory
     * is given back when this source is closed.
     */
    private final Set<MemoryUser> users = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    private volatile boolean closed;

    /** Makes a source without regions that grow in place. */
    public ContextMemorySource(final CudaContext context) {
        this(context, Optional::empty);
    }

    /** Makes a source with regions that grow in place, where that is possible. */
    public ContextMemorySource(final CudaContext context, final Supplier<Optional<VirtualMemoryCalls>> virtualMemory) {
        this(context, virtualMemory, null);
    }

    /** Makes a source of leased memory, which closes {@code leased} at its own end. */
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

    /** Gives a region back. The driver waits for all work in the context, so no capture may begin meanwhile. */
    private void release(final Region region) {
        final CudaCalls calls = context.calls();
        context.captures().guarded(() -> {
            try (ContextScope scope = new ContextScope(calls, context.handle())) {
                CudaFailures.check("cuMemFree", StreamCaptures.relaxed(calls, () -> calls.release(region.address())));
                // The region is gone, even if a later step fails.
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

    @Override
    public boolean fill(final long address, final long sizeBytes, final byte value) {
        return isDone("cuMemsetD8Async", calls -> calls.fill(address, sizeBytes, value));
    }

    @Override
    public boolean read(final long address, final ByteBuffer to) {
        return isDone("cuMemcpyDtoHAsync", calls -> calls.read(to, address));
    }

    /** Makes a call while no capture can begin and the context can't end; answers false if either has happened. */
    private boolean isDone(final String name, final ToIntFunction<CudaCalls> call) {
        final CudaCalls calls = context.calls();
        if (!context.captures().enter()) {
            return false;
        }
        try {
            if (closed) {
                return false;
            }
            try (ContextScope scope = new ContextScope(calls, context.handle())) {
                final int code = StreamCaptures.relaxed(calls, () -> call.applyAsInt(calls));
                if (!CudaContext.isOfCapture(code)) {
                    CudaFailures.check(name, code);
                    return true;
                }
                return false;
            }
        } finally {
            context.captures().leave();
        }
    }

    /** Lets another device use regions that grow in place; for other regions, the driver does so itself. */
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

    /** Hides the memory of regions that grow in place from another device. */
    public synchronized void hide(final int peer) {
        peers.remove(peer);
        for (final CudaGrowableRegion growable : growables) {
            growable.hide(peer);
        }
    }

    /**
     * Closes this source after its context has ended. The end of a context frees the driver's regions, but not regions
     * that grow in place, which are freed here.
     */
    public void contextEnded() {
        List.copyOf(users).forEach(MemoryUser::sourceEnded);
        synchronized (this) {
            out.clear();
            closeAll(CudaGrowableRegion::contextEnded);
        }
    }

    /** Runs an action, such as the end of the context, while no user's own thread uses the memory. */
    public void whileUsersRest(final Runnable action) {
        Runnable within = action;
        for (final MemoryUser user : List.copyOf(users)) {
            final Runnable inner = within;
            within = () -> user.whileResting(inner);
        }
        within.run();
    }

    @Override
    public void addUser(final MemoryUser user) {
        users.add(user);
        if (leased != null) {
            leased.addUser(user);
        }
    }

    @Override
    public void removeUser(final MemoryUser user) {
        users.remove(user);
        if (leased != null) {
            leased.removeUser(user);
        }
    }

    /** Answers whether another process lends all memory. */
    public boolean isLeased() {
        return leased != null;
    }

    /** Answers whether regions may grow in place, if the device can do so. */
    public boolean growsInPlace() {
        return virtualMemory.get().isPresent();
    }

    /**
     * {@inheritDoc} For leased memory, the memory of other clients counts, too, because the lender may make them give
     * memory back.
     */
    @Override
    public long availableBytes() {
        return closed ? 0 : freeBytes();
    }

    @Override
    public String scarcity() {
        return leased == null
                ? AccessibleMemorySource.super.scarcity()
                : "the lender's quota for this process leaves less than is missing";
    }

    /** Answers the same as {@link #availableBytes}, even once this source is closed. */
    public long freeBytes() {
        return leased == null ? context.memory().freeBytes() : leased.availableBytes();
    }

    /** {@inheritDoc} Every region is tried once; a region that can't be given back isn't tried again. */
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
            // All leased regions are among the regions that grow in place.
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
