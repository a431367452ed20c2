package io.outboard.pool;

import io.outboard.core.MemorySource;
import io.outboard.core.MemoryUser;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.guard.OwnThreads;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * Gives memory back that a pool hasn't needed for some time, and what is free in it while the device has little, or when the source says
 * that others need it. For the first two it has a thread, since a pool that isn't used calls nothing; that ends when the pool is closed,
 * or some time after it is forgotten. The source has threads of its own.
 *
 * <p>To give back may mean to wait for the device. So neither is done for little, and seldom where it was in vain, since free
 * memory lies between blocks in use.
 */
final class IdleMemory implements MemoryUser {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.core");

    /** So much more than what was needed is kept, as a part of it, and so much is worth being given back, as a part of what is held. */
    private static final long SHARE = 8;

    /** What the device has is looked at so often, and whether the pool is forgotten. */
    private static final long PRESSURE_MILLIS = 100;

    private static final long FORGOTTEN_MILLIS = 60_000;

    private final String label;
    private final MemorySource source;
    private final Arenas arenas;
    private final HeldBytes held;
    private final OwnThreads threads;
    private final long keptMillis;
    private final long keptBytes;
    private final long leftBytes;
    private final Backoff idle = new Backoff();
    private final Backoff pressure = new Backoff();
    private @Nullable Thread thread;

    /** The source may outlive a pool that is forgotten. */
    private WeakReference<Pool> pool = new WeakReference<>(null);

    IdleMemory(final PoolBuilder builder, final Arenas arenas, final HeldBytes held, final OwnThreads threads) {
        label = builder.label();
        source = builder.source;
        this.arenas = arenas;
        this.held = held;
        this.threads = threads;
        keptMillis = builder.kept == null ? Long.MAX_VALUE : builder.kept.toMillis();
        keptBytes = builder.keptBytes;
        leftBytes = builder.leftBytes;
    }

    /** Doubles the pauses between tries that come to nothing. */
    private static final class Backoff {

        private static final int MOST = 6;

        private int vain;
        private int skips;

        boolean mayTry() {
            return --skips < 0;
        }

        void tried(final boolean gained) {
            vain = gained ? 0 : Math.min(vain + 1, MOST);
            skips = (1 << vain) - 1;
        }
    }

    /** No thread, unless it is told to. */
    void start(final Pool started) {
        final WeakReference<Pool> watched = new WeakReference<>(started);
        pool = watched;
        source.addUser(this);
        if (keptMillis < Long.MAX_VALUE || leftBytes > 0) {
            // It inherits nothing: whoever makes a pool may be of a program that is to be unloaded before the pool
            // ends.
            final Thread newThread = new Thread(null, () -> run(watched), "outboard-idle", 0, false);
            newThread.setContextClassLoader(null);
            newThread.setDaemon(true);
            newThread.start();
            thread = newThread;
        }
    }

    void end() {
        source.removeUser(this);
        if (thread != null) {
            thread.interrupt();
        }
    }

    private void run(final WeakReference<Pool> watched) {
        try {
            long left = keptMillis;
            while (true) {
                final long millis = Math.min(left, leftBytes > 0 ? PRESSURE_MILLIS : FORGOTTEN_MILLIS);
                Thread.sleep(millis);
                left -= millis;
                final Pool pool = watched.get();
                if (pool == null || pool.isClosed()) {
                    return;
                }
                if (!threads.enter()) {
                    return;
                }
                try {
                    attempt(pool, left <= 0);
                } finally {
                    threads.leave();
                }
                left = left <= 0 ? keptMillis : left;
            }
        } catch (final InterruptedException e) {
            // The pool is closed, or its device has ended.
        }
    }

    @Override
    public void giveBack(final long bytes) {
        final Pool pressed = pool.get();
        if (pressed == null) {
            source.removeUser(this);
        } else if (threads.enter()) {
            try {
                held.pressed();
                final long heldBytes = arenas.totals.heldBytes();
                pressed.trimTo(Math.max(keptBytes, heldBytes - bytes));
            } finally {
                threads.leave();
            }
        }
    }

    @Override
    public long usedBytes() {
        return arenas.totals.usedBytes();
    }

    private void attempt(final Pool pool, final boolean periodEnds) {
        try {
            if (periodEnds) {
                giveBackIdle(pool);
            }
            giveBackUnderPressure(pool);
        } catch (final RuntimeException | OutOfMemoryError e) {
            // What stays is tried again the next time.
            LOGGER.log(System.Logger.Level.WARNING, label + ": idle memory could not be given back", e);
        }
    }

    /** Gives back what hasn't been needed since this was called the last time, but for a part that a little more may need. */
    void giveBackIdle(final Pool pool) {
        arenas.settle();
        final long neededBytes = arenas.totals.takePeakNeeded();
        final long bytes = Math.max(keptBytes, neededBytes + neededBytes / SHARE);
        final long heldBytes = arenas.totals.heldBytes();
        if (heldBytes - bytes > heldBytes / SHARE && idle.mayTry()) {
            tryTo(pool, bytes, heldBytes, idle);
        }
    }

    /** Gives back what is missing on the device, as far as it is free here. */
    void giveBackUnderPressure(final Pool pool) {
        final long heldBytes = arenas.totals.heldBytes();
        if (leftBytes == 0 || heldBytes <= keptBytes) {
            return;
        }
        final long missingBytes = leftBytes - source.availableBytes();
        if (missingBytes > 0 && pressure.mayTry()) {
            tryTo(pool, Math.max(keptBytes, heldBytes - missingBytes), heldBytes, pressure);
        }
    }

    private static void tryTo(final Pool pool, final long bytes, final long heldBytes, final Backoff backoff) {
        // In vain if it fails, too.
        backoff.tried(false);
        if (pool.trimTo(bytes) < heldBytes) {
            backoff.tried(true);
        }
    }
}
