package io.outboard.service;

import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Threads in which memory is made, since that may take long; what comes of it is posted to the lender's thread. */
final class MemoryMakers {

    /** Large ones take long, and others aren't to wait for them. */
    private static final int THREADS = 4;

    private static final int END_SECONDS = 10;

    private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(THREADS, task -> {
        final Thread thread = new Thread(task, "outboard-lender-maker");
        thread.setDaemon(true);
        return thread;
    });

    private final Consumer<Runnable> poster;

    /** @param poster runs what it is given in the lender's thread, or at once when that has ended */
    MemoryMakers(final Consumer<Runnable> poster) {
        this.poster = poster;
    }

    /**
     * Makes memory, after that time, and has one of these called in the lender's thread; none where the end comes
     * first.
     */
    void make(
            final LendingDevice device,
            final long bytes,
            final long delayNanos,
            final Consumer<LendingDevice.Memory> made,
            final Consumer<Throwable> failed) {
        try {
            // Nothing is thrown in there but by what is told.
            final Future<?> unused = threads.schedule(
                    () -> {
                        final LendingDevice.Memory memory;
                        try {
                            memory = device.create(bytes);
                        } catch (final Throwable e) {
                            // Whatever it is: somebody waits.
                            poster.accept(() -> failed.accept(e));
                            return;
                        }
                        poster.accept(() -> made.accept(memory));
                    },
                    delayNanos,
                    TimeUnit.NANOSECONDS);
        } catch (final RejectedExecutionException e) {
            // It has ended, and with it whoever would be told.
        }
    }

    /** Waits for what is being made, so that the device can be closed. */
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
