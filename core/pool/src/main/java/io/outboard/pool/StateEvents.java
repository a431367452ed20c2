package io.outboard.pool;

import io.outboard.core.DeviceOutOfMemoryException;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;

/**
 * This class tells Java Flight Recorder how pools are. It is loaded only where the runtime has the recorder. Safe for
 * any number of threads.
 */
final class StateEvents {

    /**
     * The pools that recordings tell of again and again. The set is weak, so a pool that is lost without having been
     * closed goes.
     */
    static final Set<Diagnosis> SHOWN = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    static {
        // To register a periodic event would start the recorder's machinery, though nobody may ever record.
        FlightRecorder.addListener(new FlightRecorderListener() {
            @Override
            public void recorderInitialized(final FlightRecorder recorder) {
                // The event goes over a copy, since pools may come and go meanwhile.
                FlightRecorder.addPeriodicEvent(
                        Statistics.class, () -> List.copyOf(SHOWN).forEach(StateEvents::record));
            }
        });
    }

    private StateEvents() {}

    private static void record(final Diagnosis pool) {
        final Statistics event = new Statistics();
        if (event.isEnabled() && pool.isOpen()) {
            final PoolStatistics now = pool.statistics();
            event.fill(pool, now);
            event.policy = pool.facts.policy();
            event.strategy = pool.facts.strategy();
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

    static void outOfMemory(final Diagnosis pool, final DeviceOutOfMemoryException thrown, final PoolStatistics then) {
        final OutOfMemory event = new OutOfMemory();
        // A disabled event would look for the largest free block in vain.
        if (event.isEnabled()) {
            event.fill(pool, then);
            event.requestedBytes = thrown.requestedBytes();
            event.largestFreeBlockBytes = thrown.largestFreeBlockBytes();
            event.reason = thrown.reason();
            event.commit();
        }
    }

    @Category("Outboard")
    abstract static class State extends Event {

        @Label("Pool")
        @Description("Name of the pool, or # and a number if it has none")
        String pool = "";

        @Label("Held")
        @DataAmount
        long heldBytes;

        @Label("Limit")
        @Description("Most that the pool may hold; -1 if only the device limits it")
        @DataAmount
        long limitBytes;

        @Label("Limbo")
        @Description("Freed, but possibly still in use by the device")
        @DataAmount
        long limboBytes;

        @Label("Free")
        @DataAmount
        long freeBytes;

        final void fill(final Diagnosis of, final PoolStatistics statistics) {
            pool = of.facts.eventName();
            heldBytes = statistics.heldBytes();
            limitBytes = statistics.limitBytes();
            limboBytes = statistics.limboBytes();
            freeBytes = statistics.freeBytes();
        }
    }

    @Name("io.outboard.OutOfMemory")
    @Label("Device Out of Memory")
    @Description("A pool found no memory for a request, and could neither recycle nor grow")
    static final class OutOfMemory extends State {

        @Label("Requested")
        @DataAmount
        long requestedBytes;

        @Label("Largest Free Block")
        @DataAmount
        long largestFreeBlockBytes;

        @Label("Reason")
        @Description("full or fragmented")
        String reason = "";
    }

    @Name("io.outboard.PoolStatistics")
    @Label("Pool Statistics")
    @Description("How a pool is")
    @Period("1 s")
    @StackTrace(false)
    static final class Statistics extends State {

        @Label("Policy")
        @Description("When a freed block may be handed out again")
        String policy = "";

        @Label("Strategy")
        @Description("What divides regions")
        String strategy = "";

        @Label("Regions")
        int regions;

        @Label("In Use")
        @DataAmount
        long usedBytes;

        @Label("Peak in Use")
        @DataAmount
        long peakUsedBytes;

        @Label("Live Blocks")
        long liveBlocks;

        @Label("Allocations")
        @Description("Blocks handed out so far")
        long allocations;

        @Label("Synchronizations")
        @Description("How often the pool waited for the device so far")
        long synchronizations;

        @Label("Mappings")
        @Description("How often memory was taken, moved or given back so far")
        long mappings;

        @Label("Moved")
        @Description("Memory that moved so far")
        @DataAmount
        long movedBytes;

        @Label("Failures")
        @Description("Requests so far that failed")
        long failures;

        @Label("Leaks")
        @Description("Buffers so far that were collected without having been closed")
        long leaks;
    }
}
