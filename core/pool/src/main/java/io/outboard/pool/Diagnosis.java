package io.outboard.pool;

import io.outboard.core.BlockVisitor;
import io.outboard.core.ByteSize;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.pool.internal.arena.ArenaTotals;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.events.PoolEvents;
import io.outboard.pool.internal.growth.Growth;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.LongAdder;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import org.jspecify.annotations.Nullable;

/** What a pool tells about itself: numbers without stopping it, blocks while it stands still. Safe for any number of threads. */
final class Diagnosis {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.core");

    /** Java Flight Recorder is told of them again and again. Weak: a pool that is lost without having been closed goes. */
    private static final Set<Diagnosis> SHOWN =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    static {
        // To register a periodic event would start the recorder's machinery, though nobody has recorded yet in this
        // process.
        FlightRecorder.addListener(new FlightRecorderListener() {
            @Override
            public void recorderInitialized(final FlightRecorder recorder) {
                // Goes over a copy, since pools may come and go meanwhile.
                FlightRecorder.addPeriodicEvent(
                        PoolEvents.StatisticsEvent.class,
                        () -> List.copyOf(SHOWN).forEach(Diagnosis::record));
            }
        });
    }

    private final @Nullable String name;
    private final String label;

    /** As options name it. */
    final String policy;

    final String strategy;
    private final long limitBytes;
    private final Arenas arenas;
    private final Growth growth;
    private final DeviceMarks marks;
    private final PoolEvents events;
    private final @Nullable LeakTracker tracker;

    /** Requests that ended with an exception, since there was nothing for them. */
    private final LongAdder failures = new LongAdder();

    Diagnosis(
            final PoolBuilder builder,
            final Arenas arenas,
            final Growth growth,
            final DeviceMarks marks,
            final @Nullable LeakTracker tracker,
            final PoolEvents events) {
        this.events = events;
        name = builder.name;
        label = builder.label();
        policy = builder.policy.name().toLowerCase(Locale.ROOT).replace('_', '-');
        strategy = builder.strategy;
        limitBytes = builder.limitBytes == PoolBuilder.NO_LIMIT ? PoolStatistics.NO_LIMIT : builder.limitBytes;
        this.arenas = arenas;
        this.growth = growth;
        this.marks = marks;
        this.tracker = tracker;
    }

    PoolStatistics statistics() {
        arenas.settle();
        final ArenaTotals totals = arenas.totals;
        return new PoolStatistics(
                arenas.segments().length,
                totals.heldBytes(),
                limitBytes,
                totals.usedBytes(),
                totals.limboBytes(),
                totals.peakUsedBytes(),
                totals.liveBlocks(),
                totals.allocations(),
                marks.made(),
                totals.mappings(),
                totals.movedBytes(),
                failures.sum(),
                tracker == null ? 0 : tracker.leaks());
    }

    void requestFailed() {
        failures.increment();
    }

    // To Java Flight Recorder

    void show() {
        SHOWN.add(this);
    }

    /** Idempotent. */
    void hide() {
        SHOWN.remove(this);
    }

    /** For tests. */
    boolean isShown() {
        return SHOWN.contains(this);
    }

    private void record() {
        final PoolEvents.StatisticsEvent event = events.of(new PoolEvents.StatisticsEvent());
        if (event.isEnabled() && !arenas.isClosed()) {
            final PoolStatistics now = statistics();
            fill(event, now);
            event.policy = policy;
            event.strategy = strategy;
            event.regions = now.regions();
            event.usedBytes = now.usedBytes();
            event.peakUsedBytes = now.peakUsedBytes();
            event.liveBlocks = now.liveBlocks();
            event.allocations = now.allocations();
            event.synchronizations = now.synchronizations();
            event.mappings = now.mappings();
            event.movedBytes = now.movedBytes();
            event.failures = now.failures();
            event.leaks = now.leaks();
            event.commit();
        }
    }

    void outOfMemory(final DeviceOutOfMemoryException thrown, final PoolStatistics then) {
        final PoolEvents.OutOfMemoryEvent event = events.of(new PoolEvents.OutOfMemoryEvent());
        // Else the largest free block would be looked for in vain.
        if (event.isEnabled()) {
            fill(event, then);
            event.requestedBytes = thrown.requestedBytes();
            event.largestFreeBlockBytes = thrown.largestFreeBlockBytes();
            event.reason = thrown.reason();
            event.commit();
        }
    }

    private static void fill(final PoolEvents.StateEvent event, final PoolStatistics statistics) {
        event.heldBytes = statistics.heldBytes();
        event.limitBytes = statistics.limitBytes();
        event.limboBytes = statistics.limboBytes();
        event.freeBytes = statistics.freeBytes();
    }

    // While the pool stands still

    long largestFreeBlockBytes() {
        arenas.lockAll();
        try {
            return arenas.largestFreeBlockBytes();
        } finally {
            arenas.unlockAll();
        }
    }

    void forEachBlock(final BlockVisitor visitor) {
        arenas.lockAll();
        try {
            arenas.forEachBlock(visitor);
        } finally {
            arenas.unlockAll();
        }
    }

    List<Holder> largestHolders() {
        return new PoolDump(this, arenas, growth, tracker).holders();
    }

    void dump(final Path path) throws IOException {
        new PoolDump(this, arenas, growth, tracker).write(path, name);
    }

    /** What is still in use, when the pool is closed. */
    void reportLeft() {
        final PoolStatistics last = statistics();
        if (last.liveBlocks() > 0) {
            LOGGER.log(
                    System.Logger.Level.WARNING,
                    label + " is closed with " + last.liveBlocks()
                            + (last.liveBlocks() == 1 ? " block" : " blocks") + " in use, "
                            + ByteSize.exact(last.usedBytes()) + "; the largest: " + largestHolders());
        }
    }

    /** What {@link Pool#toString} says. */
    @Override
    public String toString() {
        return label + " [" + policy + ", " + strategy + ", "
                + (arenas.isClosed() ? "closed" : statistics().toString()) + "]";
    }
}
