package io.outboard.cuda;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.MemorySource;
import io.outboard.core.Region;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import jcuda.runtime.cudaError;

/**
 * Regions of device memory that all belong to one CUDA context, whichever thread takes them. They are taken and given back
 * by the driver, so the last error that the runtime keeps for the program stays as it is, and in the relaxed mode, which no
 * capture into a graph minds. Safe for any number of threads.
 */
// A scope is used by being open.
@SuppressWarnings("try")
final class ContextMemorySource implements MemorySource {

    private final CudaCalls calls;
    private final long context;
    private final StreamCaptures captures;
    private final Set<Region> out = new LinkedHashSet<>();
    private boolean closed;

    ContextMemorySource(final CudaCalls calls, final long context, final StreamCaptures captures) {
        this.calls = calls;
        this.context = context;
        this.captures = captures;
    }

    @Override
    public synchronized Region take(final long sizeBytes) {
        if (sizeBytes <= 0) {
            throw new IllegalArgumentException("sizeBytes=" + sizeBytes + " must be > 0");
        }
        if (closed) {
            throw new IllegalStateException("the memory source is closed");
        }
        final long[] address = new long[1];
        try (ContextScope scope = new ContextScope(calls, context)) {
            final int code = StreamCaptures.relaxed(calls, () -> calls.allocate(address, sizeBytes));
            if (code == cudaError.cudaErrorMemoryAllocation) {
                final DeviceScope.Memory memory = memory();
                throw DeviceOutOfMemoryException.ofDevice(
                        sizeBytes, memory.freeBytes(), memory.totalBytes(), calls.nameOf(code) + " (" + code + ")");
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
    public long availableBytes() {
        try (ContextScope scope = new ContextScope(calls, context)) {
            return memory().freeBytes();
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        CudaFailureException failure = null;
        for (final Region region : List.copyOf(out)) {
            try {
                giveBack(region);
            } catch (final CudaFailureException e) {
                failure = CudaFailureException.first(failure, e);
            }
        }
        out.clear();
        if (failure != null) {
            throw failure;
        }
    }

    private DeviceScope.Memory memory() {
        final long[] freeBytes = new long[1];
        final long[] totalBytes = new long[1];
        ContextScope.check(calls, "cuMemGetInfo", calls.contextMemoryInfo(freeBytes, totalBytes));
        return new DeviceScope.Memory(freeBytes[0], totalBytes[0]);
    }
}
