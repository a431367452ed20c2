package io.outboard.pool;

import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyProvider;
import io.outboard.core.spi.Arguments;
import io.outboard.pool.internal.arena.Arena;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.arena.ChunkStrategies;
import io.outboard.pool.internal.arena.LimboRules;
import io.outboard.pool.internal.arena.Segment;
import io.outboard.pool.internal.events.PoolEvents;
import io.outboard.pool.internal.growth.Growth;
import io.outboard.pool.internal.growth.GrowthPlan;
import io.outboard.pool.internal.growth.RegionMaker;
import io.outboard.pool.internal.guard.OwnThreads;
import io.outboard.pool.internal.guard.StackReserve;
import io.outboard.pool.internal.limbo.Limbo;
import io.outboard.pool.internal.record.Recorder;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link Pool} does with blocks: which arena has to do it, what if that can't, and events for who records them. It is a class
 * of its own, so that {@link Pool} is what users read; and one object with that, since each operation comes by here.
 *
 * <p>Safe for any number of threads. What each method does, returns and throws {@link Pool} says.
 */
abstract class PoolBlocks {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.core");

    final ReusePolicy policy;
    final Arenas arenas;
    final Growth growth;
    final Recycler recycler;
    final AllocationSlowPath exhaustion;
    final Diagnosis diagnosis;
    final @Nullable LeakTracker tracker;
    final IdleMemory idle;
    private final PoolEvents events;
    private final OwnThreads threads;
    private final @Nullable String name;
    private final @Nullable Path dumpFolder;

    /** Null while nobody records. */
    private volatile @Nullable Recorder recorder;

    /** From JMX: another pool may have the name by now. */
    private final AtomicBoolean hidden = new AtomicBoolean();

    PoolBlocks(final PoolBuilder builder, final OwnThreads threads) {
        policy = builder.policy;
        name = builder.name;
        dumpFolder = builder.dumpFolder;
        this.threads = threads;
        events = new PoolEvents(builder.name);
        final StrategyProvider provider = Strategies.named(builder.strategy);
        final RegionMaker maker = new RegionMaker(builder.source, provider, builder.strategyOptions, events);
        arenas = new Arenas(
                rules(builder), builder.spreadArenas, new ChunkStrategies(provider, builder.strategyOptions));
        growth = new Growth(plan(builder), arenas, maker, events);
        recycler = new Recycler(builder, arenas, threads);
        tracker = builder.leakLevel == LeakLevel.OFF ? null : new LeakTracker(this, builder);
        diagnosis = new Diagnosis(builder, arenas, growth, recycler, tracker, events);
        exhaustion = new AllocationSlowPath(builder, arenas, growth, recycler, events, diagnosis);
        idle = new IdleMemory(builder, arenas, threads);
    }

    private static LimboRules rules(final PoolBuilder builder) {
        return switch (builder.policy) {
            case IMMEDIATE -> LimboRules.NONE;
            case STRICT -> LimboRules.synchronised(builder.limboLimitBytes, builder.work.isGuarded());
            case TRACKED -> LimboRules.marked(false);
            case STREAM_ORDERED -> LimboRules.marked(true);
        };
    }

    private static GrowthPlan plan(final PoolBuilder builder) {
        // With that policy the pool may have been told of no work, or of another device's.
        final boolean waits = builder.policy == ReusePolicy.IMMEDIATE;
        final DeviceWork work =
                waits && builder.source instanceof DeviceMemorySource source ? source.work() : builder.work;
        return new GrowthPlan(
                builder.firstRegionBytes,
                builder.limitBytes,
                builder.growInPlace,
                // While a stream is captured, nothing moves; and who isn't sure that nothing works on free memory
                // waits.
                () -> !work.isCapturing() && (!waits || work.synchronize()));
    }

    final void beginStep() {
        arenas.whole.lock();
        try {
            arenas.checkOpen();
            arenas.whole.step();
        } finally {
            arenas.whole.unlock();
        }
    }

    // Taking

    final long take(final long sizeBytes, final long alignmentBytes) {
        if (isObserved()) {
            final PoolEvents.AllocationEvent event = beginAllocation();
            return taken(
                    event, takeUnobserved(sizeBytes, alignmentBytes), sizeBytes, alignmentBytes, Limbo.ALL_STREAMS);
        }
        return takeUnobserved(sizeBytes, alignmentBytes);
    }

    private boolean isObserved() {
        return recorder != null || PoolEvents.wantsAllocations();
    }

    private PoolEvents.@Nullable AllocationEvent beginAllocation() {
        return PoolEvents.wantsAllocations() ? events.beginAllocation() : null;
    }

    private long taken(
            final PoolEvents.@Nullable AllocationEvent event,
            final long address,
            final long sizeBytes,
            final long alignmentBytes,
            final long stream) {
        if (event != null) {
            event.commit(address, sizeBytes, alignmentBytes, stream);
        }
        final Recorder to = recorder;
        if (to != null) {
            to.allocated(address, sizeBytes, alignmentBytes, stream);
        }
        return address;
    }

    private long takeUnobserved(final long sizeBytes, final long alignmentBytes) {
        final long address = arenas.home().allocate(sizeBytes, alignmentBytes);
        return address == Strategy.NO_SPACE ? takeSlowly(sizeBytes, alignmentBytes) : address;
    }

    final long takeAsync(final long sizeBytes, final long stream) {
        if (policy != ReusePolicy.STREAM_ORDERED) {
            return take(sizeBytes, 1);
        }
        if (isObserved()) {
            final PoolEvents.AllocationEvent event = beginAllocation();
            return taken(event, takeOrdered(sizeBytes, stream), sizeBytes, 1, stream);
        }
        return takeOrdered(sizeBytes, stream);
    }

    private long takeOrdered(final long sizeBytes, final long stream) {
        Arguments.checkSize(sizeBytes);
        final long address = arenas.home().allocateOrdered(sizeBytes, recycler.granuleMask(), stream);
        return address == Strategy.NO_SPACE ? takeSlowly(sizeBytes, 1) : address;
    }

    private long takeSlowly(final long sizeBytes, final long alignmentBytes) {
        Arguments.checkSize(sizeBytes);
        Arguments.checkAlignment(alignmentBytes);
        checkOpen();
        return exhaustion.place(sizeBytes, alignmentBytes);
    }

    // Giving back

    final void giveBack(final long address, final long stream) {
        if (recorder != null || PoolEvents.wantsFrees()) {
            giveBackObserved(address, stream);
        } else {
            giveBackUnobserved(address, stream);
        }
        final Arena wanting = arenas.wanting();
        if (wanting != null) {
            recycleAsPlanned(wanting);
        }
    }

    private void recycleAsPlanned(final Arena arena) {
        try {
            recycler.recycleAsPlanned(arena);
        } catch (final StackOverflowError ignored) {
            // The block is freed, and this isn't needed now: a later free does it.
        }
    }

    private void giveBackObserved(final long address, final long stream) {
        final Recorder to = recorder;
        final long nanos = to == null ? 0 : System.nanoTime();
        if (PoolEvents.wantsFrees()) {
            final PoolEvents.FreeEvent event = events.beginFree();
            event.commit(address, giveBackUnobserved(address, stream), stream);
        } else {
            giveBackUnobserved(address, stream);
        }
        if (to != null) {
            to.freed(nanos, address, stream);
        }
    }

    /** Answers the size of the block, in bytes, if only its owner knows that. */
    private long giveBackUnobserved(final long address, final long stream) {
        final Segment chunk = arenas.chunkAt(address);
        return chunk == null ? arenas.main().free(null, address, stream) : giveBackToChunk(chunk, address, stream);
    }

    private long giveBackToChunk(final Segment chunk, final long address, final long stream) {
        final Arena owner = Objects.requireNonNull(chunk.owner);
        final Arena home = arenas.home();
        // A stream's own blocks are for the stream's next request, and events tell sizes: both are known to the owner
        // only.
        if (owner == home
                || PoolEvents.wantsFrees()
                || (stream != Limbo.ALL_STREAMS && policy == ReusePolicy.STREAM_ORDERED)) {
            return owner.free(chunk, address, stream);
        }
        if (!home.send(chunk, owner, address)) {
            owner.refuse(chunk, address);
        }
        return 0;
    }

    /** What has just been taken, as an object. */
    final DeviceBuffer own(final long address, final long sizeBytes, final long stream) {
        try {
            return new DeviceBuffer(this, address, sizeBytes, stream, tracker);
        } catch (final OutOfMemoryError e) {
            // The host has no memory for the object, and so nobody would own the block.
            freeIfOpen(address, Limbo.ALL_STREAMS);
            throw e;
        }
    }

    /** As {@link Pool#freeAsync}, but nothing if the pool is closed. */
    final void freeIfOpen(final long address, final long stream) {
        try {
            giveBack(address, stream);
        } catch (final IllegalStateException e) {
            // It may have been closed meanwhile; from then on it stays so.
            if (!isClosed()) {
                throw e;
            }
        }
    }

    // In use

    final void shrink(final long address, final long newSizeBytes) {
        final Segment chunk = arenas.chunkAt(address);
        arenaOf(chunk).trim(chunk, address, newSizeBytes);
        resized(address, newSizeBytes);
    }

    final boolean grow(final long address, final long newSizeBytes) {
        final Segment chunk = arenas.chunkAt(address);
        final long extended = arenaOf(chunk).extend(chunk, address, newSizeBytes);
        final boolean done =
                extended == Segment.NEEDS_MEMORY ? growth.growAndExtend(address, newSizeBytes) : extended >= 0;
        if (done) {
            resized(address, newSizeBytes);
        }
        return done;
    }

    private void resized(final long address, final long newSizeBytes) {
        final Recorder to = recorder;
        if (to != null) {
            to.resized(address, newSizeBytes);
        }
    }

    final long measure(final long address) {
        final Segment chunk = arenas.chunkAt(address);
        return arenaOf(chunk).sizeOf(chunk, address);
    }

    private Arena arenaOf(final @Nullable Segment chunk) {
        return chunk == null ? arenas.main() : Objects.requireNonNull(chunk.owner);
    }

    final boolean isClosed() {
        return arenas.isClosed();
    }

    final void checkOpen() {
        arenas.checkOpen();
    }

    // Recording

    final synchronized Closeable startRecording(final Path file) throws IOException {
        checkOpen();
        if (recorder != null) {
            throw new IllegalStateException("the pool is being recorded already");
        }
        final Recorder started = Recorder.start(file, recycler.granuleMask() + 1);
        recorder = started;
        return () -> stopRecording(started);
    }

    /** Idempotent; another one goes on. */
    private synchronized void stopRecording(final Recorder started) throws IOException {
        if (recorder == started) {
            recorder = null;
        }
        started.close();
    }

    final synchronized void stopRecording() {
        final Recorder last = recorder;
        if (last != null) {
            try {
                stopRecording(last);
            } catch (final IOException e) {
                LOGGER.log(System.Logger.Level.WARNING, e.getMessage());
            }
        }
    }

    // Own threads, and what shows the pool

    /**
     * Does something while no thread of the pool's own uses the device, such as to end the context that memory and work belong to: to do
     * so while another thread uses it is an error that a driver needn't report. If that succeeds, {@link #endThreads} is to be
     * called within.
     *
     * <p>Cost: it waits for what these threads do, which may be to wait for the device, and they wait for the action.
     *
     * @param action it must not call this pool but for that, and mustn't be called by the pool's own threads, that is, by its source,
     *     by its {@link DeviceWork} or by a logger
     */
    public final void whileThreadsRest(final Runnable action) {
        StackReserve.claimMore();
        threads.restWhile(action);
    }

    /**
     * No thread of the pool's own uses the device any more, and JMX and JFR show the pool no more; what else the pool does is up to its
     * source, which must say that the device is gone. Waits for nothing but the file of a recording, which ends. Idempotent.
     */
    public final void endThreads() {
        threads.end();
        idle.end();
        hide();
        stopRecording();
    }

    /** The pool is made: it may be observed, and memory that isn't needed goes back from now on. */
    final void start(final Pool pool) {
        if (name != null) {
            PoolManagement.register(pool, name, dumpFolder);
        }
        try {
            PeriodicStatistics.add(diagnosis);
            idle.start(pool);
        } catch (final RuntimeException | Error e) {
            // No thread, say: the caller gets no pool that it could close, and the name is free again.
            hide();
            throw e;
        }
    }

    /** The opposite, but for what is observed by who has the pool. Idempotent. */
    final void hide() {
        PeriodicStatistics.remove(diagnosis);
        final String registered = name;
        if (registered != null && hidden.compareAndSet(false, true)) {
            PoolManagement.unregister(registered);
        }
    }
}
