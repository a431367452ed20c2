package io.outboard.pool;

import java.lang.ref.WeakReference;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Gives memory back that a pool hasn't needed for some time: once in that time it looks at what was needed at most since. It has a
 * thread, since a pool that isn't used calls nothing; that ends when the pool is closed, or some time after it is forgotten.
 */
final class IdleMemory {

    private static final System.Logger LOGGER = System.getLogger("io.outboard.core");

    /** A pool that was forgotten is looked for so often. */
    private static final long MOST_MILLIS = 60_000;

    private final Thread thread;

    IdleMemory(final Pool pool, final Duration period) {
        final WeakReference<Pool> watched = new WeakReference<>(pool);
        // It inherits nothing: whoever makes a pool may be of a program that is to be unloaded before the pool ends.
        thread = new Thread(null, () -> run(watched, period), "outboard-idle", 0, false);
        thread.setContextClassLoader(null);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    void end() {
        thread.interrupt();
    }

    private static void run(final WeakReference<Pool> watched, final Duration period) {
        try {
            long left = period.toMillis();
            while (isOpen(watched.get())) {
                final long millis = Math.min(left, MOST_MILLIS);
                Thread.sleep(millis);
                left -= millis;
                if (left <= 0) {
                    giveBack(watched.get());
                    left = period.toMillis();
                }
            }
        } catch (final InterruptedException e) {
            // The pool is closed.
        }
    }

    private static boolean isOpen(final @Nullable Pool pool) {
        return pool != null && !pool.isClosed();
    }

    private static void giveBack(final @Nullable Pool pool) {
        if (pool == null) {
            return;
        }
        try {
            pool.giveBackIdle();
        } catch (final RuntimeException | OutOfMemoryError e) {
            // What stays is tried again the next time.
            LOGGER.log(System.Logger.Level.WARNING, "idle memory could not be given back", e);
        }
    }
}
