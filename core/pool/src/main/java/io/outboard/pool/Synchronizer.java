package io.outboard.pool;

import io.outboard.pool.internal.guard.OwnThreads;
import io.outboard.pool.internal.guard.StackReserve;
import io.outboard.pool.internal.limbo.Epochs;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a busy device on a thread of its own, so that no thread that wants memory is held up by a kernel: it waits for a
 * moment, which is no longer than taking a region would take, and else the pool grows. One attempt at a time, which serves all
 * who need an epoch that it began after they asked, or before:
 *
 * <pre>
 *   request 7 --> attempt 3 begins --> epoch 7 begins ---- synchronise ---- it passes --> attempt 3 is done
 *                                         request 7: attempt 3 will do
 *                                         request 8: attempt 4
 * </pre>
 *
 * <p>An attempt may fail, or find that a stream is being captured; who asks afterwards gets another. Threads may also ask ahead of
 * need. They mustn't pay for waking the thread each time, so it looks for a while whether it is wanted again before it sleeps.
 *
 * <p>Safe for any number of threads. The thread is made when it is first wanted, and ends after ten seconds without work. Makes
 * no garbage.
 */
final class Synchronizer {

    /** In place of an attempt: nobody waits for one. */
    static final long NO_ATTEMPT = 0;

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
    private final Epochs epochs;
    private final OwnThreads threads;
    private final String threadName;

    /** Made with the pool: to link it takes a millisecond, which would be some free's. */
    private final Runnable attempts = this::run;

    /** The last attempt that is to be made. By {@link #WANTED}, but for reads. */
    private volatile long wanted;

    /** The last that was begun. Written by the thread. */
    private volatile long begun;

    /** The epoch that it began; none as long as that is 0. */
    private volatile long epochBegun;

    /** The last that is done, whatever came of it. Written under the monitor. */
    private volatile long done;

    /** What that failed with; null if its epoch passed, or a stream was being captured. Guarded by the monitor. */
    private @Nullable Throwable failure;

    /** Whether there is a thread that will look at what is wanted without being woken. Written under the monitor. */
    private volatile boolean awake;

    /** Guarded by the monitor. */
    private @Nullable Thread thread;

    /** Written under the monitor. */
    private volatile boolean ended;

    Synchronizer(
            final Recycler recycler, final Epochs epochs, final OwnThreads threads, final @Nullable String poolName) {
        this.threads = threads;
        this.recycler = recycler;
        this.epochs = epochs;
        threadName = "outboard-" + (poolName == null ? "pool" : poolName) + "-synchronizer";
    }

    /** Has the device waited for, so that this epoch passes, or a later one. The attempt, or {@link #NO_ATTEMPT}. */
    long request(final long epoch) {
        final long last = begun;
        // In this order: the epoch is that of this attempt if no other has begun since.
        final boolean covered = last > done && epochBegun >= epoch && begun == last;
        final long attempt = covered ? last : last + 1;
        for (long before = wanted; before < attempt; before = wanted) {
            if (WANTED.compareAndSet(this, before, attempt)) {
                break;
            }
        }
        // After the write; pairs with the thread, which says that it sleeps and then looks: one sees the other.
        return awake || isSettled(attempt, epoch) || wake() ? attempt : NO_ATTEMPT;
    }

    private boolean wake() {
        StackReserve.claimMore();
        synchronized (this) {
            if (ended) {
                return false;
            }
            if (thread == null) {
                final Thread starting = new Thread(attempts, threadName);
                starting.setDaemon(true);
                thread = starting;
                boolean started = false;
                try {
                    starting.start();
                    started = true;
                } catch (final OutOfMemoryError e) {
                    // The host has no more threads.
                    return false;
                } finally {
                    if (!started) {
                        thread = null;
                    }
                }
            }
            notifyAll();
            return true;
        }
    }

    /**
     * Waits until an attempt is done, or the epoch has passed.
     *
     * @param asLongAsItTakes else for a moment
     * @return whether the epoch has passed; else that took longer than a moment, or a stream is being captured
     * @throws RuntimeException what the device failed with
     */
    boolean await(final long attempt, final long epoch, final boolean asLongAsItTakes) {
        if (attempt == NO_ATTEMPT) {
            return false;
        }
        awaitMoment(attempt, epoch);
        if (asLongAsItTakes) {
            awaitDone(attempt, epoch);
        }
        if (!epochs.hasPassed(epoch)) {
            rethrow(attempt);
        }
        return epochs.hasPassed(epoch);
    }

    private void awaitMoment(final long attempt, final long epoch) {
        final long begin = System.nanoTime();
        for (int spins = 0; !isSettled(attempt, epoch); spins++) {
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else if (System.nanoTime() - begin > MOMENT_NS) {
                return;
            } else {
                LockSupport.parkNanos(this, SLEEP_NS);
            }
        }
    }

    private synchronized void awaitDone(final long attempt, final long epoch) {
        boolean interrupted = false;
        while (!isSettled(attempt, epoch) && !ended) {
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

    /** Another thread may have found the device idle since, and waited for it. */
    private boolean isSettled(final long attempt, final long epoch) {
        return done >= attempt || epochs.hasPassed(epoch);
    }

    private synchronized void rethrow(final long attempt) {
        if (done >= attempt && failure instanceof RuntimeException exception) {
            throw exception;
        }
        if (done >= attempt && failure instanceof Error error) {
            throw error;
        }
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

    /** The attempt has begun an epoch. */
    void began(final long epoch) {
        epochBegun = epoch;
    }

    private void run() {
        while (awaitWork()) {
            epochBegun = 0;
            final long attempt = begun + 1;
            begun = attempt;
            Throwable thrown = null;
            try {
                synchroniseUnlessEnded();
            } catch (final Throwable e) {
                thrown = e;
            }
            synchronized (this) {
                failure = thrown;
                done = attempt;
                notifyAll();
            }
        }
    }

    private void synchroniseUnlessEnded() {
        if (threads.enter()) {
            try {
                recycler.synchroniseAndPass(this);
            } finally {
                threads.leave();
            }
        }
    }

    /** False if there was no work for long, or never will be. */
    private boolean awaitWork() {
        final long begin = System.nanoTime();
        while (wanted <= done && !ended && System.nanoTime() - begin < AWAKE_NS) {
            Thread.onSpinWait();
        }
        return sleepUntilWanted();
    }

    private synchronized boolean sleepUntilWanted() {
        final long begin = System.nanoTime();
        awake = false;
        while (wanted <= done) {
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
        return true;
    }
}
