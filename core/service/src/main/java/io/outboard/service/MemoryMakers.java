package io.outboard.service;

import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Memory makers are threads that make memory, since that may take long; they post the result to the lender's thread.
 */
final class MemoryMakers {

    /** The number of threads: large leases take long, and others shouldn't wait for them. */
    private static final int THREADS = 4;

    private static final int END_SECONDS = 10;

    private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(THREADS, task -> {
        final Thread thread = new Thread(task, "outboard-lender-maker");
        thread.setDaemon(true);
        return thread;
    });

    private final Consumer<Runnable> poster;

    /**
     * Creates the makers.
     *
     * @param poster runs an action in the lender's thread, or at once when that has ended
     */
    MemoryMakers(final Consumer<Runnable> poster) {
        this.poster = poster;
    }

    /**
     * Makes memory after a delay, and calls one of the two consumers in the lender's thread. If the makers end first,
     * neither is called.
     */
    void make(
            final LendingDevice device,
            final long bytes,
            final long delayNanos,
            final Consumer<LendingDevice.Memory> made,
            final Consumer<Throwable> failed) {
        try {
            // The task reports all failures itself, so its future has none.
            final Future<?> unused = threads.schedule(
                    () -> {
                        final LendingDevice.Memory memory;
                        try {
                            memory = device.create(bytes);
                        } catch (final Throwable e) {
                            // A client waits for the answer, so any failure must be reported.
                            poster.accept(() -> failed.accept(e));
                            return;
                        }
                        poster.accept(() -> made.accept(memory));
                    },
                    delayNanos,
                    TimeUnit.NANOSECONDS);
        } catch (final RejectedExecutionException e) {
            // The makers have ended, and so has the lender that would be told.
        }
    }

    /** Waits for memory that is being made, so that the device can be closed afterwards. */
    void end() {
        threads.shutdownNow();
        try {
            if (!threads.awaitTermination(END_SECONDS, TimeUnit.SECONDS)) {
                System.getLogger("io.outboard.service")
                        .log(System.Logger.Level.WARNING, "the device is still making memory");
            }
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
