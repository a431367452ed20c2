package io.outboard.pool;

import static io.outboard.pool.internal.guard.JavaRuntime.LOGGER;
import static java.lang.System.Logger.Level.WARNING;

import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.Streams;
import io.outboard.pool.internal.events.PoolEvents;
import io.outboard.pool.internal.record.Recorder;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The observers tell JFR, a recording, a listener and a check of memory what a pool is asked, for two reads if none
 * listens. Safe for any number of threads.
 */
final class PoolObservers {

    private final Pool pool;
    private final PoolEvents events;
    private final long granuleBytes;
    private final @Nullable PoolListener listener;
    private final @Nullable PoisonCheck check;

    /** The recorder; null while no file is written. */
    private volatile @Nullable Recorder recorder;

    /** Whether there is a listener, a check or a recorder: one read for all. */
    private volatile boolean watched;

    PoolObservers(
            final Pool pool,
            final PoolEvents events,
            final long granuleBytes,
            final @Nullable PoolListener listener,
            final @Nullable PoisonCheck check) {
        this.pool = pool;
        this.events = events;
        this.granuleBytes = granuleBytes;
        this.listener = listener;
        this.check = check;
        watched = isAlwaysWatched();
    }

    private boolean isAlwaysWatched() {
        return listener != null || check != null;
    }

    boolean watchAllocations() {
        return watched || PoolEvents.wantsAllocations();
    }

    boolean watchFrees() {
        return watched || PoolEvents.wantsFrees();
    }

    long allocated(final long sizeBytes, final long alignmentBytes, final long stream) {
        if (listener != null) {
            listener.allocating(sizeBytes);
        }
        final PoolEvents.@Nullable Allocation event = events.beginAllocation();
        final long address;
        try {
            address = check == null
                    ? pool.allocateUnwatched(sizeBytes, alignmentBytes, stream)
                    : allocateChecked(check, sizeBytes, alignmentBytes, stream);
        } catch (final DeviceOutOfMemoryException e) {
            record(Recorder.FAILED, 0, sizeBytes, alignmentBytes, stream);
            if (listener != null) {
                listener.refused(sizeBytes, e);
            }
            throw e;
        }
        if (event != null) {
            event.done(address, sizeBytes, alignmentBytes, stream);
        }
        record(Recorder.ALLOCATED, address, sizeBytes, alignmentBytes, stream);
        if (listener != null) {
            listener.allocated(address, sizeBytes, stream);
        }
        return address;
    }

    private long allocateChecked(
            final PoisonCheck with, final long sizeBytes, final long alignmentBytes, final long stream) {
        final long address = pool.allocateUnwatched(PoisonCheck.withRedZone(sizeBytes), alignmentBytes, stream);
        try {
            with.allocated(address, sizeBytes, pool.blockBytes(address));
            with.report();
        } catch (final RuntimeException | Error e) {
            // The caller gets no address that it could free.
            try {
                with.forget(address);
            } finally {
                pool.freeUnwatched(address, Streams.ALL);
            }
            throw e;
        }
        return address;
    }

    private @Nullable Arena freeChecked(final PoisonCheck with, final long address, final long stream) {
        // This refuses what isn't a block in use, and says why.
        pool.blockBytes(address);
        final PoisonCheck.Block block = with.take(address);
        final Arena wanting;
        boolean isIdle = false;
        try {
            isIdle = with.poison(block, pool.reusePolicy() == ReusePolicy.STREAM_ORDERED ? stream : Streams.ALL);
        } finally {
            // The next block there is filled at once, so nobody may have it before its work has ended.
            wanting = pool.freeUnwatched(address, isIdle ? stream : Streams.ALL);
        }
        return wanting;
    }

    /** Frees a block, and tells with the time before, since another thread may have its address at once. */
    void freed(final long address, final long stream) {
        final Recorder to = recorder;
        final long nanos = System.nanoTime();
        final PoolEvents.@Nullable Free event = events.beginFree();
        final long sizeBytes = event == null ? 0 : pool.sizeOf(address);
        if (listener != null) {
            listener.freeing(address, stream);
        }
        final Arena wanting = check == null ? pool.freeUnwatched(address, stream) : freeChecked(check, address, stream);
        if (event != null) {
            event.done(address, sizeBytes, stream);
        }
        if (to != null) {
            to.add(nanos, Recorder.FREED, address, 0, 1, stream);
        }
        pool.askFor(wanting);
        if (check != null) {
            check.report();
        }
    }

    void resized(final long address, final long newSizeBytes) {
        record(Recorder.RESIZED, address, newSizeBytes, 1, Streams.ALL);
        if (listener != null) {
            listener.resized(address, newSizeBytes);
        }
        if (check != null) {
            check.report();
        }
    }

    private void record(
            final int kind, final long address, final long sizeBytes, final long alignmentBytes, final long stream) {
        final Recorder to = recorder;
        if (to != null) {
            to.add(System.nanoTime(), kind, address, sizeBytes, alignmentBytes, stream);
        }
    }

    synchronized Closeable startRecording(final Path file) throws IOException {
        if (recorder != null) {
            throw new IllegalStateException("the pool is being recorded already");
        }
        final Recorder started = Recorder.start(file, granuleBytes);
        recorder = started;
        watched = true;
        return () -> stopRecording(started);
    }

    /** Ends a recording, but none that was started after it. Idempotent. */
    private synchronized void stopRecording(final Recorder started) throws IOException {
        if (recorder == started) {
            recorder = null;
            watched = isAlwaysWatched();
        }
        started.close();
    }

    synchronized void stopRecording() {
        try {
            if (recorder != null) {
                stopRecording(recorder);
            }
        } catch (final IOException e) {
            LOGGER.log(WARNING, e.getMessage());
        }
    }
}
