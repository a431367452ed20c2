package io.outboard.cuda.internal.facade;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.VirtualMemorySource;
import io.outboard.cuda.driver.CudaFailureException;
import io.outboard.cuda.internal.memory.ContextMemorySource;
import io.outboard.cuda.internal.memory.ContextWork;
import io.outboard.cuda.internal.memory.CudaCalls;
import io.outboard.cuda.internal.memory.CudaContext;
import io.outboard.cuda.internal.memory.StreamCaptures;
import io.outboard.pool.Pool;
import io.outboard.pool.ReusePolicy;
import java.util.function.IntSupplier;
import jcuda.runtime.cudaError;

/**
 * This class is the facade's pool in one CUDA context. Where CUDA has a code, methods return the code and don't throw.
 */
final class ContextPool {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.cuda");

    /** The result for an allocation that the driver has to try. */
    static final long NOT_SERVED = 0;

    /** The result for an allocation that the driver mustn't try, since another process lends the memory. */
    static final long REFUSED = -1;

    /** The most bytes with which no sum overflows. The driver is asked for a larger request, and refuses it. */
    private static final long MOST_BYTES = 1L << 48;

    /** The size of the pages that the driver maps. */
    private static final long WARM_BYTES = 2L << 20;

    private final CudaContext context;
    private final ContextMemorySource source;
    private final ContextWork work;
    private final Pool pool;
    private final boolean marks;
    private final boolean freeIsBarrier;
    private volatile long pitchUnitBytes;
    private volatile boolean live = true;

    /** Tells whether the log already says why leased memory ran out. */
    private volatile boolean hasTold;

    ContextPool(
            final CudaContext context,
            final ContextMemorySource source,
            final ContextWork work,
            final Pool pool,
            final boolean marks,
            final boolean freeIsBarrier) {
        this.context = context;
        this.source = source;
        this.work = work;
        this.pool = pool;
        this.marks = marks;
        this.freeIsBarrier = freeIsBarrier;
    }

    int device() {
        return context.device();
    }

    long context() {
        return context.handle();
    }

    Pool pool() {
        return pool;
    }

    /**
     * Does in advance what the first allocation would wait for: uses a pool over addresses without memory, so that the
     * classes of pools are loaded and linked, and lets the driver map memory once. Neither waits for the device, and
     * both are undone.
     */
    void warm() {
        try (Pool numbers = Pool.over(new VirtualMemorySource())
                .limitBytes(WARM_BYTES)
                .firstRegionBytes(WARM_BYTES)
                .reuse(ReusePolicy.STRICT, work)
                .build()) {
            numbers.free(numbers.allocate(1));
            numbers.trimTo(0);
        }
        if (!source.isLeased()) {
            source.reserve(WARM_BYTES, WARM_BYTES).ifPresent(region -> {
                final long[] begin = {region.region().address()};
                try (region) {
                    region.commit(begin[0], WARM_BYTES, WARM_BYTES);
                    region.giveBack(begin, 1);
                }
            });
        }
    }

    // The methods below allocate and free memory.

    /** Answers a device address, {@link #NOT_SERVED}, after which the driver says why, or {@link #REFUSED}. */
    long allocate(final long sizeBytes) {
        try {
            return pool.allocate(sizeBytes);
        } catch (final RuntimeException e) {
            return notServed(e);
        } catch (final OutOfMemoryError e) {
            return notServed(e);
        }
    }

    /** Allocates like {@link #allocate}, for work on a stream of this context. */
    long allocateAsync(final long sizeBytes, final long stream) {
        try {
            // For a captured stream the driver makes the allocation, and its address, part of the graph.
            return isCaptured(stream, context()) ? NOT_SERVED : pool.allocateAsync(sizeBytes, stream);
        } catch (final RuntimeException e) {
            return notServed(e);
        } catch (final OutOfMemoryError e) {
            return notServed(e);
        }
    }

    private long notServed(final OutOfMemoryError e) {
        ContextPools.tellOnce(e);
        // The driver mustn't take memory without the lender's knowledge.
        return source.isLeased() ? REFUSED : NOT_SERVED;
    }

    private long notServed(final RuntimeException e) {
        if (e instanceof DeviceOutOfMemoryException && source.isLeased()) {
            // The driver would take memory that the lender's quota refuses. The log says once why the program gets a
            // code.
            if (!hasTold) {
                hasTold = true;
                final Throwable refusal = e.getCause() == null ? e : e.getCause();
                LOGGER.log(System.Logger.Level.WARNING, "leased memory has run out: {0}", refusal.getMessage());
            }
            return REFUSED;
        }
        if (e instanceof DeviceOutOfMemoryException
                || e instanceof BlockTableFullException
                || e instanceof CudaFailureException
                // Another thread has ended the context while this one was on its way.
                || (!live && e instanceof IllegalStateException)) {
            return NOT_SERVED;
        }
        throw e;
    }

    /** Frees the block that starts at an address; returns CUDA's code. Waits for all work if frees are barriers. */
    int free(final long address) {
        try {
            pool.free(address);
            if (freeIsBarrier) {
                work.awaitAll();
            }
            return CudaCalls.SUCCESS;
        } catch (final RuntimeException e) {
            return codeOf(e);
        }
    }

    /** Frees memory that one stream of {@code home} uses, 0 if the thread has no context; the call is no barrier. */
    int freeAsync(final long address, final long stream, final long home) {
        try {
            if (home != 0 && isCaptured(stream, home)) {
                // The block would become free again at each launch of the graph, and no launch is reported to the pool.
                return cudaError.cudaErrorStreamCaptureUnsupported;
            }
            if (home == context()) {
                pool.freeAsync(address, stream);
            } else {
                if (home != 0) {
                    cover(home);
                }
                pool.free(address);
            }
            return CudaCalls.SUCCESS;
        } catch (final RuntimeException e) {
            return codeOf(e);
        }
    }

    private boolean isCaptured(final long stream, final long home) {
        return context.captures().any() && work.isCapturing(home, stream);
    }

    /** Finds CUDA's code. A failure is usually that of an earlier kernel, and all calls report it from now on. */
    private static int codeOf(final RuntimeException e) {
        if (e instanceof InvalidAddressException) {
            return cudaError.cudaErrorInvalidValue;
        }
        if (e instanceof final CudaFailureException failure) {
            return failure.code();
        }
        throw e;
    }

    /** Adds this pool's unused bytes to what the device reports as free, of which a lender may lend a part only. */
    long withUnused(final long deviceBytes) {
        final long moreBytes = source.isLeased() ? Math.min(deviceBytes, source.availableBytes()) : deviceBytes;
        return moreBytes + pool.statistics().freeBytes() + pool.statistics().limboBytes();
    }

    /** Asks the driver for memory in this current context, and once more after unused regions were given back. */
    int allocateByDriver(final boolean keepsLastError, final IntSupplier call) {
        final int code = StreamCaptures.relaxed(context.calls(), call);
        if (code != cudaError.cudaErrorMemoryAllocation || !giveBackUnused()) {
            return code;
        }
        final int second = StreamCaptures.relaxed(context.calls(), call);
        if (second == CudaCalls.SUCCESS && keepsLastError) {
            // The program knows nothing of the first attempt.
            context.calls().clearLastError();
        }
        return second;
    }

    /** Gives regions without a block in use back to the driver, and answers whether there were any. */
    boolean giveBackUnused() {
        try {
            final long before = pool.statistics().heldBytes();
            return before > 0 && !work.isCapturing() && pool.trimTo(0) < before;
        } catch (final CudaFailureException | IllegalStateException | IllegalArgumentException e) {
            if (live && !(e instanceof CudaFailureException)) {
                throw e;
            }
            return false;
        }
    }

    /** Looks for writes where none may be, if options ask for that, before the context or the process ends. */
    void checkMemory() {
        try {
            pool.checkMemory();
        } catch (final CudaFailureException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "memory can't be checked any more", e);
        }
    }

    /** Answers the pitch of rows, such as 512 bytes for widths to 512; 0 if the driver must serve them. */
    long pitchOf(final long widthBytes, final long rows) {
        if (widthBytes <= 0 || rows <= 0 || widthBytes > Integer.MAX_VALUE - 4096) {
            return 0;
        }
        if (pitchUnitBytes == 0) {
            pitchUnitBytes = askPitch();
        }
        final long pitchBytes = (widthBytes + pitchUnitBytes - 1) & -pitchUnitBytes;
        return pitchBytes == 0 || rows > MOST_BYTES / pitchBytes ? 0 : pitchBytes;
    }

    /** Asks what pitches are multiples of: a power of two, which the driver chooses for one byte; 0 if it fails. */
    private long askPitch() {
        final CudaCalls calls = context.calls();
        final long[] address = new long[1];
        final long[] pitchBytes = new long[1];
        final int code = StreamCaptures.relaxed(calls, () -> {
            final int taken = calls.allocatePitch(address, pitchBytes, 1, 1);
            return taken == CudaCalls.SUCCESS ? calls.release(address[0]) : taken;
        });
        return code == CudaCalls.SUCCESS && Long.bitCount(pitchBytes[0]) == 1 ? pitchBytes[0] : 0;
    }

    // The methods below are about contexts.

    /** Answers false once the context, and with it all memory, is gone. */
    boolean isLive() {
        return live;
    }

    /** Lets another context's device read and write all memory; the pool waits for that context's work from now on. */
    void show(final long viewer, final int viewerDevice) {
        cover(viewer);
        source.show(viewerDevice);
    }

    void hide(final int viewerDevice) {
        source.hide(viewerDevice);
    }

    /** Makes the pool wait from now on for the work of another context, which may use the memory. */
    void cover(final long other) {
        if (marks && other != context()) {
            work.add(other);
        }
    }

    /** Runs an action, such as the end of a context, while no thread of the pool's own is in a context. */
    void whileThreadsRest(final Runnable action) {
        source.whileUsersRest(() -> work.whileThreadsRest(action));
    }

    /** Forgets a context that is gone. If the context is this pool's, memory that grew in place is given back now. */
    void contextEnded(final long gone) {
        work.contextEnded(gone);
        if (gone != context()) {
            return;
        }
        live = false;
        try {
            source.contextEnded();
        } catch (final CudaFailureException e) {
            LOGGER.log(System.Logger.Level.WARNING, "memory of a context that has ended could not be given back", e);
        }
    }

    /** Ends a pool that was made early and never used. */
    void discard() {
        live = false;
        pool.close();
        source.close();
        work.close();
    }
}
