package io.outboard.pool;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a busy device on a thread of its own, so that no thread that wants memory is held up by a kernel: it waits for a
 * moment, which is no longer than taking a region would take, and else the pool grows. One synchronisation at a time, for all
 * batches that were in limbo when it began:
 *
 * <pre>
 *   IDLE --begin--> RUNNING --the device has finished, or fails--> DONE --collect--> IDLE
 * </pre>
 *
 * <p>{@link #begin} and {@link #collect} are called under the limbo lock; the others are safe for any number of threads. The
 * thread is made when a device is first found busy, and ends after ten seconds without work. Makes no garbage.
 */
final class Synchronizer {

    private static final int IDLE = 0;
    private static final int RUNNING = 1;
    private static final int DONE = 2;

    /** Taking a region takes as long. Tests whose device is soon finished raise it, since their threads may find no core. */
    private static final long MOMENT_NS = Long.getLong("outboard.pool.momentNs", 100_000);

    /** Before the first sleep: some microseconds, as long as a small kernel. */
    private static final int SPINS = 200;

    private static final long SLEEP_NS = 10_000;

    private static final long THREAD_IDLE_MS = 10_000;

    private final DeviceWork work;
    private final PoolEvents events;
    private final String threadName;

    /** Written under the monitor. */
    private volatile int state = IDLE;

    /** Owned by the thread while it runs, else guarded by the limbo lock. */
    private final Limbo.Chain taken = new Limbo.Chain();

    private boolean synchronised;
    private @Nullable Throwable failure;

    /** Guarded by the monitor. */
    private @Nullable Thread thread;

    private boolean ended;

    Synchronizer(final DeviceWork work, final @Nullable String poolName, final PoolEvents events) {
        this.work = work;
        this.events = events;
        threadName = "outboard-" + (poolName == null ? "pool" : poolName) + "-synchronizer";
    }

    /** Begins to wait for what these batches wait for, unless it still waits for others; then they stay where they are. */
    synchronized void begin(final Limbo.Chain waiting) {
        if (state != IDLE || ended) {
            return;
        }
        if (thread == null) {
            final Thread starting = new Thread(this::run, threadName);
            starting.setDaemon(true);
            starting.start();
            thread = starting;
        }
        for (Limbo.Batch batch = waiting.poll(); batch != null; batch = waiting.poll()) {
            taken.add(batch);
        }
        state = RUNNING;
        notifyAll();
    }

    /**
     * Waits until what has begun has finished.
     *
     * @param asLongAsItTakes else for a moment
     * @return true if {@link #collect} is worth while
     */
    boolean await(final boolean asLongAsItTakes) {
        if (state == RUNNING) {
            awaitMoment();
            if (asLongAsItTakes) {
                awaitDone();
            }
        }
        return state == DONE;
    }

    private void awaitMoment() {
        final long begin = System.nanoTime();
        for (int spins = 0; state == RUNNING; spins++) {
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else if (System.nanoTime() - begin > MOMENT_NS) {
                return;
            } else {
                LockSupport.parkNanos(this, SLEEP_NS);
            }
        }
    }

    private synchronized void awaitDone() {
        boolean interrupted = false;
        while (state == RUNNING) {
            try {
                wait();
            } catch (final InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Takes what has finished.
     *
     * @param waiting gets the batches back that the device couldn't be waited for, since a stream is captured
     * @return true if {@link #finished} has the batches that the device has finished with
     * @throws RuntimeException what the device failed with; their batches are in {@code waiting} again
     */
    synchronized boolean collect(final Limbo.Chain waiting) {
        if (state != DONE) {
            return false;
        }
        state = IDLE;
        if (synchronised) {
            return true;
        }
        for (Limbo.Batch batch = taken.poll(); batch != null; batch = taken.poll()) {
            waiting.add(batch);
        }
        final Throwable thrown = failure;
        failure = null;
        if (thrown instanceof RuntimeException exception) {
            throw exception;
        }
        if (thrown instanceof Error error) {
            throw error;
        }
        return false;
    }

    /** What {@link #collect} has taken: to be emptied before the limbo lock is released. */
    Limbo.Chain finished() {
        return taken;
    }

    /** Shows what it waits for. The limbo lock is held, so none of it comes back meanwhile. */
    void forEach(final Limbo.Visitor visitor) {
        Limbo.forEach(taken, visitor);
    }

    /** Waits for what has begun, and ends the thread. */
    synchronized void end() {
        awaitDone();
        ended = true;
        notifyAll();
    }

    // The thread

    private void run() {
        while (awaitWork()) {
            boolean done = false;
            Throwable thrown = null;
            try {
                final PoolEvents.@Nullable SynchronisedEvent event = events.beginSynchronised();
                done = work.synchronize();
                if (event != null && done) {
                    event.commit(true);
                }
            } catch (final Throwable e) {
                thrown = e;
            }
            synchronized (this) {
                synchronised = done;
                failure = thrown;
                state = DONE;
                notifyAll();
            }
        }
    }

    /** False if there was none for long, or never will be. */
    private synchronized boolean awaitWork() {
        final long begin = System.nanoTime();
        while (state != RUNNING) {
            final long leftMs = THREAD_IDLE_MS - (System.nanoTime() - begin) / 1_000_000;
            if (ended || leftMs <= 0) {
                thread = null;
                return false;
            }
            try {
                wait(leftMs);
            } catch (final InterruptedException ignored) {
                // Nobody has a reason to; there may be work all the same.
            }
        }
        return true;
    }
}
