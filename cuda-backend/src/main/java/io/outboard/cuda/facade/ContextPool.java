package io.outboard.cuda.facade;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.InvalidAddressException;
import io.outboard.cuda.memory.ContextMemorySource;
import io.outboard.cuda.memory.ContextWork;
import io.outboard.cuda.memory.CudaCalls;
import io.outboard.cuda.memory.CudaFailureException;
import io.outboard.cuda.memory.StreamCaptures;
import io.outboard.pool.Pool;
import io.outboard.pool.ReusePolicy;
import java.util.function.IntSupplier;
import jcuda.runtime.cudaError;
import org.jspecify.annotations.Nullable;

/** The facade's pool in one CUDA context: answers by codes and never throws for what CUDA has a code for. */
final class ContextPool {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.cuda");

    /** Stands for an allocation that the driver has to try. */
    static final long NOT_SERVED = 0;

    /** Stands for one that the driver mustn't try, since the memory is another process's to lend. */
    static final long REFUSED = -1;

    private final CudaCalls calls;
    private final ContextMemorySource source;
    private final int device;
    private final long context;
    private final StreamCaptures captures;
    private final ContextWork work;
    private final ReusePolicy policy;
    private final boolean freeIsBarrier;
    private final Pool pool;
    private volatile long pitchUnitBytes;
    private volatile boolean live = true;

    /** Whether the log has why leased memory ran out. */
    private volatile boolean hasTold;

    /**
     * The context is current on the calling thread.
     *
     * @param name of the pool, to which a number is added if another has it; null for none
     * @param source in the context; it is the caller's if this fails
     */
    ContextPool(
            final @Nullable String name,
            final CudaCalls calls,
            final ContextMemorySource source,
            final int device,
            final long context,
            final StreamCaptures captures,
            final PoolOptions options) {
        this.source = source;
        this.calls = calls;
        this.device = device;
        this.context = context;
        this.captures = captures;
        policy = options.reuse();
        freeIsBarrier = options.freeIsBarrier();
        // A program that is told to create and destroy its streams by the facade does so; others may not.
        work = new ContextWork(calls, context, captures, marks());
        pool = PoolMaker.pool(name, source, work, options);
    }

    int device() {
        return device;
    }

    long context() {
        return context;
    }

    public Pool pool() {
        return pool;
    }

    /** False once the context, and with it all memory, is gone. */
    boolean isLive() {
        return live;
    }

    /** Whether its own threads may have something to do in a context. */
    boolean works(final long there) {
        return there == context || work.owes(there);
    }

    /** Memory that grew in place belongs to no context: it goes back here. */
    void end() {
        live = false;
        pool.endThreads();
        try {
            source.contextEnded();
        } catch (final CudaFailureException e) {
            LOGGER.log(System.Logger.Level.WARNING, "memory of a context that has ended could not be given back", e);
        }
    }

    /** Lets another device read and write all memory, now and later. */
    void show(final int viewer) {
        source.show(viewer);
    }

    void hide(final int viewer) {
        source.hide(viewer);
    }

    // Memory

    /** A device address, or {@link #NOT_SERVED}, whatever the reason: the driver then says why, by its code; or {@link #REFUSED}. */
    public long allocate(final long sizeBytes) {
        try {
            return pool.allocate(sizeBytes);
        } catch (final DeviceOutOfMemoryException e) {
            return outOfMemory(e);
        } catch (final BlockTableFullException | CudaFailureException e) {
            return NOT_SERVED;
        } catch (final IllegalStateException e) {
            return ended(e);
        }
    }

    /** The same for work on one stream, the default one or one that is known. */
    long allocateAsync(final long sizeBytes, final long stream) {
        try {
            if (isCaptured(stream)) {
                // The driver makes the allocation part of the graph, with an address that belongs to the graph.
                return NOT_SERVED;
            }
            return pool.allocateAsync(sizeBytes, stream);
        } catch (final DeviceOutOfMemoryException e) {
            return outOfMemory(e);
        } catch (final BlockTableFullException | CudaFailureException e) {
            return NOT_SERVED;
        } catch (final IllegalStateException e) {
            return ended(e);
        }
    }

    /** What a quota refuses the driver would take beside the lender's back. The program sees a code; why, the log says once. */
    private long outOfMemory(final DeviceOutOfMemoryException e) {
        if (!source.isLeased()) {
            return NOT_SERVED;
        }
        if (!hasTold) {
            hasTold = true;
            final Throwable refusal = e.getCause() == null ? e : e.getCause();
            LOGGER.log(System.Logger.Level.WARNING, "leased memory has run out: {0}", refusal.getMessage());
        }
        return REFUSED;
    }

    /** Another thread has ended the context while this one was on its way: the driver says so. */
    private long ended(final IllegalStateException e) {
        if (live) {
            throw e;
        }
        return NOT_SERVED;
    }

    /** CUDA's code for giving back what starts at an address in this pool; a barrier, if frees are to be. */
    int free(final long address) {
        final int code = giveBack(address);
        return code == CudaCalls.SUCCESS && freeIsBarrier ? synchronize() : code;
    }

    /** Not during a capture, which CUDA's own free would break. */
    private int synchronize() {
        try {
            if (!work.isCapturing()) {
                work.synchronize();
            }
            return CudaCalls.SUCCESS;
        } catch (final CudaFailureException e) {
            return e.code();
        }
    }

    private int giveBack(final long address) {
        try {
            pool.free(address);
            return CudaCalls.SUCCESS;
        } catch (final InvalidAddressException e) {
            return cudaError.cudaErrorInvalidValue;
        } catch (final CudaFailureException e) {
            // An earlier kernel failed, as a rule, which the driver's own calls report from now on, too.
            return e.code();
        }
    }

    /** The same for memory that only work on one stream uses, the default one of this context or one that is known. */
    int freeAsync(final long address, final long stream) {
        try {
            if (isCaptured(stream)) {
                // The block would be free again after each launch of the graph, which nobody here hears of.
                return cudaError.cudaErrorStreamCaptureUnsupported;
            }
            pool.freeAsync(address, stream);
            return CudaCalls.SUCCESS;
        } catch (final InvalidAddressException e) {
            return cudaError.cudaErrorInvalidValue;
        } catch (final CudaFailureException e) {
            return e.code();
        }
    }

    /**
     * The same for any other stream: of another context, or one that nobody told of. Its handle means nothing to the pool,
     * which may see it again for another stream, so all work has to wait for what is on it by now.
     */
    int freeAfterOther(final long address, final long stream) {
        final long[] home = new long[1];
        final int unknown = calls.streamContext(home, stream);
        if (unknown != CudaCalls.SUCCESS) {
            return unknown;
        }
        int code = CudaCalls.SUCCESS;
        // A thread without a context has no work on its default stream.
        if (home[0] != 0) {
            try {
                if (captures.any() && work.isCapturing(stream, home[0])) {
                    return cudaError.cudaErrorStreamCaptureUnsupported;
                }
                if (marks() || (policy == ReusePolicy.STRICT && home[0] != context)) {
                    work.cover(stream, home[0]);
                }
            } catch (final CudaFailureException e) {
                // The work owes that; the block isn't lost.
                code = e.code();
            }
        }
        final int freed = giveBack(address);
        return freed == CudaCalls.SUCCESS ? code : freed;
    }

    /** What can be had from here and from the device, which reports so much as free; of a lender's no more than that may lend. */
    long withUnused(final long deviceBytes) {
        final long moreBytes = source.isLeased() ? Math.min(deviceBytes, source.availableBytes()) : deviceBytes;
        return moreBytes + pool.statistics().freeBytes() + pool.statistics().limboBytes();
    }

    /** Gives regions without a block in use back to the driver. True if there were any. */
    boolean giveBackUnused() {
        try {
            final long before = pool.statistics().heldBytes();
            return before > 0 && !work.isCapturing() && pool.trimTo(0) < before;
        } catch (final CudaFailureException e) {
            return false;
        } catch (final IllegalStateException | IllegalArgumentException e) {
            if (live) {
                throw e;
            }
            return false;
        }
    }

    /**
     * What pitches are multiples of, as the driver shows it for a width of one byte.
     *
     * @return bytes, a power of two; 0 if the driver fails
     */
    long pitchUnitBytes() {
        if (pitchUnitBytes == 0) {
            pitchUnitBytes = askPitch();
        }
        return pitchUnitBytes;
    }

    private long askPitch() {
        final long[] address = new long[1];
        final long[] pitchBytes = new long[1];
        final int code = relaxed(() -> {
            final int taken = calls.allocatePitch(address, pitchBytes, 1, 1);
            return taken == CudaCalls.SUCCESS ? calls.release(address[0]) : taken;
        });
        return code == CudaCalls.SUCCESS && Long.bitCount(pitchBytes[0]) == 1 ? pitchBytes[0] : 0;
    }

    /** Calls the driver so that a stream that is captured meanwhile doesn't mind. The context is current. */
    int relaxed(final IntSupplier call) {
        return StreamCaptures.relaxed(calls, call);
    }

    void clearLastError() {
        calls.clearLastError();
    }

    // Streams

    void streamCreated(final long stream) {
        work.add(stream);
    }

    boolean knows(final long stream) {
        return work.knows(stream);
    }

    /** It is another context's; one of that handle must have been destroyed without a word. */
    void streamIsOthers(final long stream) {
        if (work.knows(stream)) {
            work.remove(stream);
            try {
                // Whatever was freed on it is marked with all streams.
                pool.streamEnds(stream);
            } catch (final CudaFailureException e) {
                // It will be later.
                return;
            }
        }
    }

    /** A stream is about to be destroyed, if it is one of this context. */
    void streamEnds(final long stream) {
        if (stream == ContextWork.DEFAULT_STREAM || !work.knows(stream)) {
            return;
        }
        try {
            if (marks()) {
                cover(stream);
            }
        } catch (final CudaFailureException e) {
            // What waits for a mark gets a later one, of all work. Or the context is broken; then nothing comes out of
            // limbo any more.
            return;
        } finally {
            work.remove(stream);
        }
    }

    private void cover(final long stream) {
        try {
            work.cover(stream);
        } finally {
            // Whatever happens, as nothing may be marked on that handle any more.
            pool.streamEnds(stream);
        }
    }

    /** Another context is gone. */
    void otherContextEnded(final long other) {
        work.contextEnded(other);
    }

    private boolean isCaptured(final long stream) {
        return captures.any() && work.isCapturing(stream, context);
    }

    private boolean marks() {
        return policy == ReusePolicy.TRACKED || policy == ReusePolicy.STREAM_ORDERED;
    }
}
