package io.outboard.cuda.facade;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.InvalidAddressException;
import io.outboard.cuda.memory.ContextMemorySource;
import io.outboard.cuda.memory.ContextWork;
import io.outboard.cuda.memory.CudaCalls;
import io.outboard.cuda.memory.CudaFailureException;
import io.outboard.cuda.memory.StreamCaptures;
import io.outboard.cuda.memory.VirtualMemoryCalls;
import io.outboard.pool.Pool;
import io.outboard.pool.PoolBuilder;
import io.outboard.pool.ReusePolicy;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import jcuda.runtime.cudaError;
import org.jspecify.annotations.Nullable;

/** The facade's pool in one CUDA context: answers by codes and never throws for what CUDA has a code for. */
final class ContextPool {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.cuda");

    /** Stands for an allocation that the driver has to try. */
    static final long NOT_SERVED = 0;

    /** So many first regions of default size are what the device has, where a pool grows by whole ones. */
    private static final long FIRST_REGIONS = 32;

    /** Where it grows in place, by little. */
    private static final long FIRST_BYTES = 64L << 20;

    /** A device has no more contexts with pools than that. */
    private static final int MOST_OF_A_NAME = 100;

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

    /**
     * The context is current on the calling thread.
     *
     * @param name of the pool, to which a number is added if another has it; null for none
     */
    ContextPool(
            final @Nullable String name,
            final CudaCalls calls,
            final Supplier<Optional<VirtualMemoryCalls>> virtualMemory,
            final int device,
            final long context,
            final StreamCaptures captures,
            final PoolOptions options) {
        source = new ContextMemorySource(calls, context, captures, virtualMemory, device);
        this.calls = calls;
        this.device = device;
        this.context = context;
        this.captures = captures;
        policy = options.reuse();
        freeIsBarrier = options.freeIsBarrier();
        // A program that is told to create and destroy its streams by the facade does so; others may not.
        work = new ContextWork(calls, context, captures, marks());
        final long availableBytes = source.availableBytes();
        final long goodBytes = virtualMemory.get().isPresent()
                ? Math.min(FIRST_BYTES, availableBytes)
                : availableBytes / FIRST_REGIONS;
        final long firstBytes = options.firstRegionBytes() == 0 ? goodBytes : options.firstRegionBytes();
        final long limitBytes = Math.max(1, (long) (availableBytes * options.share()));
        final Supplier<PoolBuilder> description = () -> describe(options, firstBytes, limitBytes);
        pool = name == null ? description.get().build() : named(description, name);
    }

    private PoolBuilder describe(final PoolOptions options, final long firstBytes, final long limitBytes) {
        final PoolBuilder builder = Pool.over(source)
                .strategy(options.strategy())
                .reuse(policy, work)
                .firstRegionBytes(Math.max(1, firstBytes))
                .limitBytes(limitBytes);
        if (!options.keep().isZero()) {
            builder.keep(options.keep(), 0);
        }
        if (options.leaveBytes() > 0) {
            builder.leave(options.leaveBytes());
        }
        final Path dumpFolder = options.dumpFolder();
        return dumpFolder == null ? builder : builder.dumpFolder(dumpFolder);
    }

    /** The device may have other contexts, and the program pools of its own. If JMX doesn't work here, the pool has no name. */
    private static Pool named(final Supplier<PoolBuilder> description, final String name) {
        for (int number = 1; number <= MOST_OF_A_NAME; number++) {
            try {
                return description
                        .get()
                        .name(number == 1 ? name : name + "-" + number)
                        .build();
            } catch (final IllegalStateException e) {
                LOGGER.log(System.Logger.Level.DEBUG, "a pool can't have its name", e);
            }
        }
        return description.get().build();
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

    /** A device address, or {@link #NOT_SERVED}, whatever the reason: the driver then says why, by its code. */
    public long allocate(final long sizeBytes) {
        try {
            return pool.allocate(sizeBytes);
        } catch (final DeviceOutOfMemoryException | BlockTableFullException | CudaFailureException e) {
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
        } catch (final DeviceOutOfMemoryException | BlockTableFullException | CudaFailureException e) {
            return NOT_SERVED;
        } catch (final IllegalStateException e) {
            return ended(e);
        }
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

    /** What could still be had from here without another region, in bytes. */
    long unusedBytes() {
        return pool.statistics().freeBytes() + pool.statistics().limboBytes();
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
