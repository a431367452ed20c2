package io.outboard.cuda;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.core.InvalidAddressException;
import io.outboard.core.Pool;
import io.outboard.core.ReusePolicy;
import io.outboard.core.StrategyOptions;
import java.util.function.IntSupplier;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.runtime.cudaError;

/** The facade's pool in one CUDA context: answers by codes and never throws for what CUDA has a code for. */
final class DevicePool {

    /** Stands for an allocation that the driver has to try. */
    static final long NOT_SERVED = 0;

    private final CudaCalls calls;
    private final int device;
    private final long context;
    private final StreamCaptures captures;
    private final CudaWork work;
    private final ReusePolicy policy;
    private final Pool pool;
    private volatile long pitchUnitBytes;
    private volatile boolean live = true;

    /** The context is current on the calling thread. */
    DevicePool(
            final CudaCalls calls,
            final int device,
            final long context,
            final StreamCaptures captures,
            final OutboardOptions options) {
        final CudaMemorySource source = CudaMemorySource.open(calls, device);
        this.calls = calls;
        this.device = device;
        this.context = context;
        this.captures = captures;
        work = new CudaWork(calls, context, captures);
        policy = options.reuse();
        pool = Pool.over(new ContextMemorySource(calls, context, source))
                .strategy(options.strategy(), StrategyOptions.DEFAULTS)
                .reuse(policy, work)
                .firstRegionBytes(options.firstRegionBytes())
                .limitBytes(Math.max(1, (long) (source.availableBytes() * options.share())))
                .build();
    }

    int device() {
        return device;
    }

    long context() {
        return context;
    }

    Pool pool() {
        return pool;
    }

    DeviceStatistics statistics() {
        return new DeviceStatistics(device, pool.statistics());
    }

    /** False once the context, and with it all memory, is gone. */
    boolean isLive() {
        return live;
    }

    void end() {
        live = false;
    }

    // Memory

    /** A device address, or {@link #NOT_SERVED}, whatever the reason: the driver then says why, by its code. */
    long allocate(final long sizeBytes) {
        try {
            return pool.allocate(sizeBytes);
        } catch (final DeviceOutOfMemoryException | BlockTableFullException | CudaFailureException e) {
            return NOT_SERVED;
        }
    }

    /** The same for work on one stream. */
    long allocateAsync(final long sizeBytes, final long stream) {
        if (isCaptured(stream)) {
            // The driver makes the allocation part of the graph, with an address that belongs to the graph.
            return NOT_SERVED;
        }
        try {
            // Only what is known is told from a later stream with the same handle.
            return work.knows(stream) ? pool.allocateAsync(sizeBytes, stream) : pool.allocate(sizeBytes);
        } catch (final DeviceOutOfMemoryException | BlockTableFullException | CudaFailureException e) {
            return NOT_SERVED;
        }
    }

    /** CUDA's code for giving back what starts at an address in this pool. */
    int free(final long address) {
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

    /** The same for memory that only work on one stream uses. */
    int freeAsync(final long address, final long stream) {
        if (isCaptured(stream)) {
            // The block would be free again after each launch of the graph, which nobody here hears of.
            return cudaError.cudaErrorStreamCaptureUnsupported;
        }
        try {
            if (work.knows(stream)) {
                pool.freeAsync(address, stream);
            } else {
                if (marks()) {
                    work.cover(stream);
                }
                pool.free(address);
            }
            return CudaCalls.SUCCESS;
        } catch (final InvalidAddressException e) {
            return cudaError.cudaErrorInvalidValue;
        } catch (final CudaFailureException e) {
            return e.code();
        }
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
            final int taken = calls.mallocPitch(address, pitchBytes, 1, 1);
            return taken == CudaCalls.SUCCESS ? calls.free(address[0]) : taken;
        });
        return code == CudaCalls.SUCCESS && Long.bitCount(pitchBytes[0]) == 1 ? pitchBytes[0] : 0;
    }

    /** Calls the driver so that a stream that is captured meanwhile doesn't mind. */
    int relaxed(final IntSupplier call) {
        final int[] mode = {CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED};
        final boolean exchanged = calls.exchangeCaptureMode(mode) == CudaCalls.SUCCESS;
        try {
            return call.getAsInt();
        } finally {
            if (exchanged) {
                calls.exchangeCaptureMode(mode);
            }
        }
    }

    // Streams

    void streamCreated(final long stream) {
        work.add(stream);
    }

    /** A stream is about to be destroyed, if it is one of this context. */
    void streamEnds(final long stream) {
        if (!work.knows(stream)) {
            return;
        }
        try {
            if (marks()) {
                if (!isCaptured(stream)) {
                    work.cover(stream);
                }
                pool.streamEnds(stream);
            }
        } catch (final CudaFailureException e) {
            // Other streams can't be marked while one is captured; what waits for that is marked later, by the tail. Or
            // the
            // context is broken; then nothing comes out of limbo any more.
            return;
        } finally {
            work.remove(stream);
        }
    }

    private boolean isCaptured(final long stream) {
        return captures.any() && work.isCapturing(stream);
    }

    private boolean marks() {
        return policy == ReusePolicy.TRACKED || policy == ReusePolicy.STREAM_ORDERED;
    }
}
