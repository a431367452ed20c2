package io.outboard.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a busy device on a thread of its own, so that no thread that wants memory is held up by a kernel: it waits for a
 * moment, which is no longer than taking a region would take, and else the pool grows. One wait at a time, for all that was freed
 * before it began; who needs a later one asks for that.
 *
 * <p>Threads may also ask ahead of need. They mustn't pay for waking the thread each time, so it looks for a while whether it is
 * wanted again before it sleeps.
 *
 * <p>Safe for any number of threads. The thread is made when a device is first found busy, and ends after ten seconds without
 * work. Makes no garbage.
 */
final class Synchronizer {

    /** Taking a region takes as long. Tests whose device is soon finished raise it, since their threads may find no core. */
    private static final long MOMENT_NS = Long.getLong("outboard.pool.momentNs", 100_000);

    /** Before the first sleep: some microseconds, as long as a small kernel. */
    private static final int SPINS = 200;

    private static final long SLEEP_NS = 10_000;

    private static final long THREAD_IDLE_MS = 10_000;

    /** To wake a thread takes some microseconds, which this is worth where there are cores enough. */
    private static final long AWAKE_NS = Runtime.getRuntime().availableProcessors() > 2 ? 100_000 : 0;

    private static final VarHandle WANTED;

    static {
        try {
            WANTED = MethodHandles.lookup().findVarHandle(Synchronizer.class, "wanted", long.class);
        } catch (final ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Recycler recycler;
    private final String threadName;

    /** The last epoch that was asked for. By {@link #WANTED}, but for reads. */
    private volatile long wanted;

    /** Whether there is a thread that will look at what is wanted without being woken. Written under the monitor. */
    private volatile boolean awake;

    /** What that was when the wait began that goes on. Guarded so, too. */
    private long wantedBefore;

    /** The last epoch for which the device was asked, whatever the answer. Written under the monitor. */
    private volatile long tried;

    /** Of that attempt; null if it passed, or a stream was being captured. Guarded by the monitor. */
    private @Nullable Throwable failure;

    /** Guarded by the monitor. */
    private @Nullable Thread thread;

    /** Written under the monitor. */
    private volatile boolean ended;

    Synchronizer(final Recycler recycler, final @Nullable String poolName) {
        this.recycler = recycler;
        threadName = "outboard-" + (poolName == null ? "pool" : poolName) + "-synchronizer";
    }

    /** Has the device waited for until this epoch has passed, or a later one. False if it is too late for that. */
    boolean request(final long epoch) {
        long before = wanted;
        while (before < epoch && !WANTED.compareAndSet(this, before, epoch)) {
            before = wanted;
        }
        // After the write; pairs with the thread, which says that it sleeps and then looks: one sees the other.
        if (!awake && !isSettled(epoch)) {
            wake();
        }
        return !ended;
    }

    private synchronized void wake() {
        if (ended) {
            return;
        }
        if (thread == null) {
            final Thread starting = new Thread(this::run, threadName);
            starting.setDaemon(true);
            starting.start();
            thread = starting;
        }
        notifyAll();
    }

    /**
     * Waits until an epoch that was requested has passed.
     *
     * @param asLongAsItTakes else for a moment
     * @return false if it hasn't: that took longer than a moment, or a stream is being captured
     * @throws RuntimeException what the device failed with
     */
    boolean await(final long epoch, final boolean asLongAsItTakes) {
        awaitMoment(epoch);
        if (!isSettled(epoch) && !asLongAsItTakes) {
            return false;
        }
        return awaitTried(epoch) && !rethrow(epoch);
    }

    private void awaitMoment(final long epoch) {
        final long begin = System.nanoTime();
        for (int spins = 0; !isSettled(epoch); spins++) {
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else if (System.nanoTime() - begin > MOMENT_NS) {
                return;
            } else {
                LockSupport.parkNanos(this, SLEEP_NS);
            }
        }
    }

    /** False if nobody tries any more. */
    private synchronized boolean awaitTried(final long epoch) {
        boolean interrupted = false;
        while (!isSettled(epoch) && !ended) {
            try {
                wait();
            } catch (final InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return isSettled(epoch);
    }

    /** Another thread may have found the device idle since, and waited for it. */
    private boolean isSettled(final long epoch) {
        return tried >= epoch || recycler.hasPassed(epoch);
    }

    /** Whether the epoch hasn't passed all the same. */
    private synchronized boolean rethrow(final long epoch) {
        if (recycler.hasPassed(epoch)) {
            return false;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
        if (failure instanceof Error error) {
            throw error;
        }
        return true;
    }

    /** Waits for what has begun, and ends the thread. */
    void end() {
        final Thread last;
        synchronized (this) {
            ended = true;
            last = thread;
            notifyAll();
        }
        boolean interrupted = false;
        while (last != null && last.isAlive()) {
            try {
                last.join();
            } catch (final InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    // The thread

    private void run() {
        while (awaitWork()) {
            long epoch = 0;
            Throwable thrown = null;
            try {
                epoch = recycler.synchroniseAndPass();
            } catch (final Throwable e) {
                thrown = e;
            }
            synchronized (this) {
                // What was wanted when it was asked is no longer, whatever came of it.
                tried = Math.max(wantedBefore, epoch);
                failure = thrown;
                notifyAll();
            }
        }
    }

    /** False if there was no work for long, or never will be. */
    private boolean awaitWork() {
        final long begin = System.nanoTime();
        while (wanted <= tried && !ended && System.nanoTime() - begin < AWAKE_NS) {
            Thread.onSpinWait();
        }
        return sleepUntilWanted();
    }

    private synchronized boolean sleepUntilWanted() {
        final long begin = System.nanoTime();
        awake = false;
        while (wanted <= tried) {
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
        awake = true;
        wantedBefore = wanted;
        return true;
    }
}
