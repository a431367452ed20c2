package io.outboard.pool;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** This class makes threads whose home arenas are known, in pools that are spread over two arenas. */
final class ArenaThreads {

    private ArenaThreads() {}

    /** Calls the task on a new thread of one of the arenas, 0 or 1, and waits for the result. */
    static <T> T call(final int arena, final Callable<T> task) throws InterruptedException, ExecutionException {
        final FutureTask<T> future = new FutureTask<>(task);
        start(arena, future);
        return future.get();
    }

    /** Runs the task on a new thread of one of the arenas. */
    static Thread start(final int arena, final Runnable task) {
        Thread thread = new Thread(task);
        while (arenaOf(thread) != arena) {
            thread = new Thread(task);
        }
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    @SuppressWarnings("deprecation") // Arenas uses this number, too.
    static int arenaOf(final Thread thread) {
        return (int) thread.getId() & 1;
    }
}
