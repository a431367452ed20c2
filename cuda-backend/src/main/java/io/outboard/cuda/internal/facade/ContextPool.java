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

/** The facade's pool in one CUDA context: answers by codes and never throws for what CUDA has a code for. */
final class ContextPool {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.cuda");

    /** Stands for an allocation that the driver has to try. */
    static final long NOT_SERVED = 0;

    /** Stands for one that the driver mustn't try, since the memory is another process's to lend. */
    static final long REFUSED = -1;

    /** Above it addresses are the driver's business: it refuses. No device has so much, and no sum overflows. */
    private static final long MOST_BYTES = 1L << 48;

    /** A page of the driver's. */
    private static final long WARM_BYTES = 2L << 20;

    private final CudaContext context;
    private final ContextMemorySource source;
    private final ContextWork work;
    private final Pool pool;
    private final boolean marks;
    private final boolean freeIsBarrier;
    private volatile long pitchUnitBytes;
    private volatile boolean live = true;

    /** Whether the log has why leased memory ran out. */
    private volatile boolean hasTold;

    ContextPool(
            final CudaContext context,
            final ContextMemorySource source,
            final ContextWork work,
            final Pool pool,
            final PoolOptions options) {
        this.context = context;
        this.source = source;
        this.work = work;
        this.pool = pool;
        marks = options.reuse() != ReusePolicy.IMMEDIATE;
        freeIsBarrier = options.freeIsBarrier();
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
     * Does once what the first allocation would wait for: loads and links the classes of a pool, by one over mere numbers, and has the driver
     * map memory. Nothing of that waits for the device, and nothing of it stays.
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

    // Memory

    /** A device address, or {@link #NOT_SERVED}, whatever the reason: the driver then says why, by its code; or {@link #REFUSED}. */
    long allocate(final long sizeBytes) {
        try {
            return pool.allocate(sizeBytes);
        } catch (final RuntimeException e) {
            return notServed(e);
        } catch (final OutOfMemoryError e) {
            return notServed(e);
        }
    }

    /** The same for work on a stream of this context. */
    long allocateAsync(final long sizeBytes, final long stream) {
        try {
            // For a captured one the driver makes the allocation part of the graph, with an address that belongs to the
            // graph.
            return isCaptured(stream, context()) ? NOT_SERVED : pool.allocateAsync(sizeBytes, stream);
        } catch (final RuntimeException e) {
            return notServed(e);
        } catch (final OutOfMemoryError e) {
            return notServed(e);
        }
    }

    private long notServed(final OutOfMemoryError e) {
        ContextPools.tellOnce(e);
        // What is leased mustn't be taken beside the lender's back.
        return source.isLeased() ? REFUSED : NOT_SERVED;
    }

    private long notServed(final RuntimeException e) {
        if (e instanceof DeviceOutOfMemoryException && source.isLeased()) {
            // What a quota refuses the driver would take beside the lender's back. The program sees a code; why, the
            // log says once.
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

    /** CUDA's code for freeing what starts at an address in this pool; a barrier, if frees are to be. */
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

    /** The same for memory that only work on one stream of {@code home} uses, and no barrier; 0 if the thread has no context, so no work. */
    int freeAsync(final long address, final long stream, final long home) {
        try {
            if (home != 0 && isCaptured(stream, home)) {
                // The block would be free again after each launch of the graph, which nobody here hears of.
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

    /** A failure of CUDA's is an earlier kernel's, as a rule, which the driver's own calls report from now on, too. */
    private static int codeOf(final RuntimeException e) {
        if (e instanceof InvalidAddressException) {
            return cudaError.cudaErrorInvalidValue;
        }
        if (e instanceof final CudaFailureException failure) {
            return failure.code();
        }
        throw e;
    }

    /** What can be had from here and from the device, which reports so much as free; of a lender's no more than that may lend. */
    long withUnused(final long deviceBytes) {
        final long moreBytes = source.isLeased() ? Math.min(deviceBytes, source.availableBytes()) : deviceBytes;
        return moreBytes + pool.statistics().freeBytes() + pool.statistics().limboBytes();
    }

    /** Asks the driver for memory; where it has nothing left, once more without what the pool holds and doesn't use. The context is current. */
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

    /** Gives regions without a block in use back to the driver. True if there were any. */
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

    /** The pitch of a row that the pool is to serve, 512 bytes, say, for widths from 1 to 512; 0 if the driver is to. The context is current. */
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

    /** What pitches are multiples of, as the driver shows it for a width of one byte: a power of two; 0 if it fails. */
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

    // Contexts

    /** False once the context, and with it all memory, is gone. */
    boolean isLive() {
        return live;
    }

    /** Lets another context's device read and write all memory, now and later; its work is waited for from now on. */
    void show(final long viewer, final int viewerDevice) {
        cover(viewer);
        source.show(viewerDevice);
    }

    void hide(final int viewerDevice) {
        source.hide(viewerDevice);
    }

    /** Work in another context may use the memory. */
    void cover(final long other) {
        if (marks && other != context()) {
            work.add(other);
        }
    }

    /** Ends a context by a call, or another one's, while no thread of the pool's own is in one. */
    void whileThreadsRest(final Runnable action) {
        pool.whileThreadsRest(() -> work.whileThreadsRest(action));
    }

    /** Memory that grew in place belongs to no context: it goes back here. */
    void contextEnded(final long gone) {
        work.contextEnded(gone);
        if (gone != context()) {
            return;
        }
        live = false;
        pool.endThreads();
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
