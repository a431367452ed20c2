package io.outboard.pool;

import static io.outboard.pool.internal.guard.JavaRuntime.LOGGER;
import static java.lang.System.Logger.Level.WARNING;

import io.outboard.core.BlockVisitor;
import io.outboard.core.ByteSize;
import io.outboard.core.DeviceOutOfMemoryException;
import io.outboard.pool.internal.arena.ArenaTotals;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.guard.JavaRuntime;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * This class reads a pool's statistics without stopping the pool, and its blocks while the pool is stopped. Safe for
 * any number of threads.
 */
final class Diagnosis {

    final Facts facts;
    private final Arenas arenas;
    private final DeviceMarks marks;
    private final @Nullable LeakTracker tracker;

    private final LongAdder failures = new LongAdder();

    /**
     * Facts are what doesn't change of a pool.
     *
     * @param label what messages call the pool
     * @param eventName what events call it
     * @param policy as options name it
     * @param limitBytes as statistics have it
     */
    record Facts(
            @Nullable String name, String label, String eventName, String policy, String strategy, long limitBytes) {}

    Diagnosis(final Facts facts, final Arenas arenas, final DeviceMarks marks, final @Nullable LeakTracker tracker) {
        this.facts = facts;
        this.arenas = arenas;
        this.marks = marks;
        this.tracker = tracker;
    }

    PoolStatistics statistics() {
        arenas.settle();
        final ArenaTotals totals = arenas.totals;
        return new PoolStatistics(
                arenas.segments().length,
                totals.heldBytes(),
                facts.limitBytes(),
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

    /** Finds the components of {@link PoolStatistics}, and what is free, by their names. */
    static Map<String, Number> numbers(final PoolStatistics statistics) {
        final Map<String, Number> numbers = new LinkedHashMap<>();
        try {
            for (final RecordComponent each : PoolStatistics.class.getRecordComponents()) {
                numbers.put(each.getName(), (Number) each.getAccessor().invoke(statistics));
            }
        } catch (final ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
        numbers.put("freeBytes", statistics.freeBytes());
        return numbers;
    }

    void requestFailed() {
        failures.increment();
    }

    void show() {
        if (JavaRuntime.HAS_FLIGHT_RECORDER) {
            StateEvents.SHOWN.add(this);
        }
    }

    void hide() {
        if (JavaRuntime.HAS_FLIGHT_RECORDER) {
            StateEvents.SHOWN.remove(this);
        }
    }

    void outOfMemory(final DeviceOutOfMemoryException thrown, final PoolStatistics then) {
        if (JavaRuntime.HAS_FLIGHT_RECORDER) {
            StateEvents.outOfMemory(this, thrown, then);
        }
    }

    boolean isOpen() {
        return !arenas.isClosed();
    }

    long largestFreeBlockBytes() {
        final long[] largest = new long[1];
        arenas.whileLocked(() -> largest[0] = arenas.largestFreeBlockBytes());
        return largest[0];
    }

    void forEachBlock(final BlockVisitor visitor) {
        arenas.whileLocked(() -> arenas.forEachBlock(visitor));
    }

    List<Holder> largestHolders() {
        return new PoolDump(this, arenas, tracker).holders();
    }

    void dump(final Path path) throws IOException {
        new PoolDump(this, arenas, tracker).write(path, facts.name());
    }

    /** Warns of what is still in use when the pool is closed. */
    void reportLeft() {
        final PoolStatistics last = statistics();
        if (last.liveBlocks() > 0) {
            LOGGER.log(
                    WARNING,
                    facts.label() + " is closed with " + last.liveBlocks()
                            + (last.liveBlocks() == 1 ? " block" : " blocks") + " in use, "
                            + ByteSize.exact(last.usedBytes()) + "; the largest: " + largestHolders());
        }
    }

    @Override
    public String toString() {
        return facts.label() + " [" + facts.policy() + ", " + facts.strategy() + ", "
                + (arenas.isClosed() ? "closed" : statistics().toString()) + "]";
    }
}
