package io.outboard.pool;

import io.outboard.pool.internal.events.StatisticsEvent;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;

/**
 * Tells Java Flight Recorder again and again how the pools are, as long as it records that.
 *
 * <p>As long as nobody has recorded in this process there is a listener and no more: to register a periodic event would start the
 * recorder's machinery. Pools are kept weakly, so one that is lost without having been closed goes from here.
 *
 * <p>Safe for any number of threads.
 */
final class PeriodicStatistics {

    private static final Set<Diagnosis> POOLS =
            Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    static {
        // At once, if there is a recorder by now.
        FlightRecorder.addListener(new FlightRecorderListener() {
            @Override
            public void recorderInitialized(final FlightRecorder recorder) {
                FlightRecorder.addPeriodicEvent(StatisticsEvent.class, PeriodicStatistics::record);
            }
        });
    }

    private PeriodicStatistics() {}

    static void add(final Diagnosis pool) {
        POOLS.add(pool);
    }

    /** Nothing if it isn't there. */
    static void remove(final Diagnosis pool) {
        POOLS.remove(pool);
    }

    /** For tests: whether it is told of. */
    static boolean has(final Diagnosis pool) {
        return POOLS.contains(pool);
    }

    private static void record() {
        final List<Diagnosis> pools;
        synchronized (POOLS) {
            pools = List.copyOf(POOLS);
        }
        pools.forEach(Diagnosis::record);
    }
}
