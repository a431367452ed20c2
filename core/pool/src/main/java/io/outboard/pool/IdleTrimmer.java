package io.outboard.pool;

import static io.outboard.pool.internal.guard.JavaRuntime.LOGGER;
import static java.lang.System.Logger.Level.WARNING;

import io.outboard.core.MemorySource;
import io.outboard.core.MemoryUser;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.growth.Growth;
import io.outboard.pool.internal.guard.ThreadGate;
import java.lang.ref.WeakReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The idle trimmer runs a pool's background work on a thread of its own: it decommits memory that wasn't needed for
 * some time ({@link PoolBuilder#keep}), decommits free memory while the device has little ({@link PoolBuilder#leave}),
 * and takes the next step of growth ahead of need (see {@link Growth#growAhead}). A pool that isn't used calls nothing.
 * The thread ends when the pool is closed, or some time after it is forgotten. What others need goes back when the
 * source says so, on a thread of the source.
 *
 * <p>Giving memory back may mean waiting for the device. So the trimmer doesn't give back a little at a time, and
 * seldom tries again what came to nothing, since the free memory may lie between blocks in use.
 */
final class IdleTrimmer implements MemoryUser {

    /** An eighth more than what was needed is kept, and an eighth of what is held is worth being given back. */
    private static final long SHARE = 8;

    private static final long PRESSURE_NANOS = 100_000_000;
    private static final long FORGOTTEN_NANOS = 60_000_000_000L;

    private final String label;
    private final MemorySource source;
    private final Arenas arenas;
    private final Growth growth;
    private final HeldBytes held;
    private final ThreadGate threads = new ThreadGate();
    private final long keptNanos;
    private final long keptBytes;
    private final long leftBytes;
    private final boolean growAhead;
    private final Backoff idle = new Backoff();
    private final Backoff pressure = new Backoff();

    /** The source may outlive a pool that is forgotten. */
    private final WeakReference<Pool> pool;

    private @Nullable Thread thread;

    IdleTrimmer(
            final Pool pool,
            final PoolBuilder builder,
            final Arenas arenas,
            final Growth growth,
            final HeldBytes held) {
        this.pool = new WeakReference<>(pool);
        label = builder.label();
        source = builder.source;
        this.arenas = arenas;
        this.growth = growth;
        this.held = held;
        keptNanos = builder.keptNanos;
        keptBytes = builder.keptBytes;
        leftBytes = builder.leftBytes;
        growAhead = builder.growAhead && builder.growInPlace && builder.policy != ReusePolicy.IMMEDIATE;
    }

    /** Starts the thread if memory is to be kept for a time only, left to others, or taken ahead of need. */
    void start() {
        source.addUser(this);
        if (keptNanos < Long.MAX_VALUE || leftBytes > 0 || growAhead) {
            // The thread inherits nothing: the thread that makes a pool may be of a program that is unloaded before the
            // pool ends.
            final Thread newThread = new Thread(null, this::run, "outboard-idle", 0, false);
            newThread.setContextClassLoader(null);
            newThread.setDaemon(true);
            newThread.start();
            thread = newThread;
            arenas.grower = growAhead ? newThread : null;
        }
    }

    /** Ends the thread, which may be using the device still. */
    void end() {
        if (thread != null) {
            thread.interrupt();
        }
    }

    /**
     * Leaves the source, which calls this pool no more. The pool must have ended before, or nobody could make its
     * thread rest.
     */
    void leaveSource() {
        source.removeUser(this);
    }

    private void run() {
        final long pauseNanos = leftBytes > 0 ? PRESSURE_NANOS : FORGOTTEN_NANOS;
        long idleNanos = System.nanoTime();
        long lookedNanos = idleNanos;
        while (true) {
            final long before = System.nanoTime();
            if (!(growAhead && arenas.growerWoken)) {
                LockSupport.parkNanos(
                        this, Math.min(keptNanos - (before - idleNanos), pauseNanos - (before - lookedNanos)));
            }
            final Pool watched = pool.get();
            if (Thread.interrupted() || watched == null || watched.isClosed() || !threads.enter()) {
                // The pool is closed or forgotten, or its device has ended.
                return;
            }
            try {
                if (growAhead) {
                    growAhead();
                }
                final long now = System.nanoTime();
                if (now - idleNanos >= keptNanos) {
                    idleNanos = now;
                    giveBackIdle(watched);
                }
                if (now - lookedNanos >= pauseNanos) {
                    lookedNanos = now;
                    giveBackUnderPressure(watched);
                }
            } catch (final RuntimeException | OutOfMemoryError e) {
                // What stays is tried again the next time.
                LOGGER.log(WARNING, label + ": idle memory could not be given back", e);
            } finally {
                threads.leave();
            }
        }
    }

    /** Takes memory for arenas that have little left, up to {@link HeldBytes#ahead}. */
    void growAhead() {
        arenas.growerWoken = false;
        growth.growAhead(held.ahead(), leftBytes);
    }

    @Override
    public void giveBack(final long bytes) {
        final Pool pressed = pool.get();
        if (pressed == null) {
            source.removeUser(this);
        } else if (threads.enter()) {
            try {
                held.pressed();
                pressed.trimUnwatched(Math.max(keptBytes, arenas.totals.heldBytes() - bytes));
            } finally {
                threads.leave();
            }
        }
    }

    @Override
    public void whileResting(final Runnable action) {
        threads.restWhile(action);
    }

    @Override
    public void sourceEnded() {
        threads.end();
        final Pool ended = pool.get();
        if (ended != null) {
            ended.leave();
        }
    }

    @Override
    public long usedBytes() {
        return arenas.totals.usedBytes();
    }

    /** Gives back what hasn't been needed since this was called the last time. */
    void giveBackIdle(final Pool pool) {
        arenas.settle();
        final long neededBytes = arenas.totals.takePeakNeeded();
        final long bytes = Math.max(keptBytes, neededBytes + neededBytes / SHARE);
        final long heldBytes = arenas.totals.heldBytes();
        if (heldBytes - bytes > heldBytes / SHARE) {
            idle.tryTo(pool, bytes, heldBytes);
        }
    }

    /** Gives back what is missing on the device, as far as it is free here. */
    void giveBackUnderPressure(final Pool pool) {
        final long heldBytes = arenas.totals.heldBytes();
        if (leftBytes == 0 || heldBytes <= keptBytes) {
            return;
        }
        final long missingBytes = leftBytes - source.availableBytes();
        if (missingBytes > 0) {
            pressure.tryTo(pool, Math.max(keptBytes, heldBytes - missingBytes), heldBytes);
        }
    }

    /** A backoff doubles the pauses between tries that come to nothing. */
    private static final class Backoff {

        private static final int MOST_SKIPS = 63;

        private int pause;
        private int skips;

        void tryTo(final Pool pool, final long bytes, final long heldBytes) {
            if (skips > 0) {
                skips--;
                return;
            }
            // The pause grows beforehand, since a try that throws is in vain, too.
            pause = Math.min(2 * pause + 1, MOST_SKIPS);
            skips = pause;
            if (pool.trimUnwatched(bytes) < heldBytes) {
                pause = 0;
                skips = 0;
            }
        }
    }
}
