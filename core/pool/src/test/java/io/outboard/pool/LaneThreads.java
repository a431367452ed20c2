package io.outboard.pool;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** Threads whose homes are known, in pools that are spread over two lanes. */
final class LaneThreads {

    private LaneThreads() {}

    /** Calls it on a new thread of one of the lanes, 0 or 1, and waits for it. */
    static <T> T call(final int lane, final Callable<T> task) throws InterruptedException, ExecutionException {
        final FutureTask<T> future = new FutureTask<>(task);
        start(lane, future);
        return future.get();
    }

    /** Runs it on a new thread of one of the lanes. */
    static Thread start(final int lane, final Runnable task) {
        Thread thread = new Thread(task);
        while (laneOf(thread) != lane) {
            thread = new Thread(task);
        }
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    @SuppressWarnings("deprecation") // As Lanes does it.
    static int laneOf(final Thread thread) {
        return (int) thread.getId() & 1;
    }
}
