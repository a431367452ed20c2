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

    private final Thread thread;

    IdleMemory(final Pool pool, final Duration period) {
        final WeakReference<Pool> watched = new WeakReference<>(pool);
        thread = new Thread(() -> run(watched, period), "outboard-idle");
        thread.setDaemon(true);
        thread.start();
    }

    void end() {
        thread.interrupt();
    }

    private static void run(final WeakReference<Pool> watched, final Duration period) {
        try {
            do {
                Thread.sleep(period.toMillis(), period.toNanosPart() % 1_000_000);
            } while (giveBack(watched.get()));
        } catch (final InterruptedException e) {
            // The pool is closed.
        }
    }

    private static boolean giveBack(final @Nullable Pool pool) {
        if (pool == null || pool.isClosed()) {
            return false;
        }
        try {
            pool.giveBackIdle();
        } catch (final RuntimeException | OutOfMemoryError e) {
            // What stays is tried again the next time.
            LOGGER.log(System.Logger.Level.WARNING, "idle memory could not be given back", e);
        }
        return true;
    }
}
