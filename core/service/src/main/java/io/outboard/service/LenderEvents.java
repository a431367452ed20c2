package io.outboard.service;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Lender events hands what a lender does to whoever is told of it, in a thread of its own. The lender never waits for
 * that: a log may be written to a pipe that nobody reads. Events that come while too many wait are dropped and counted.
 *
 * <p>Thread-safety: safe for any number of threads.
 */
final class LenderEvents implements Runnable {

    /** The most events that wait. They take some 100 bytes each, so half a mebibyte. */
    static final int MOST_WAITING = 4096;

    /** How long the end waits for events that aren't taken yet. */
    private static final long END_MILLIS = 5_000;

    private final Consumer<LenderEvent> sink;
    private final Thread thread = new Thread(this, "outboard-lender-events");

    /** The events that aren't taken yet. The monitor guards this field and those below. */
    private final Queue<LenderEvent> waiting = new ArrayDeque<>();

    /** The number of events that were dropped after the last one that waits. */
    private long dropped;

    private boolean ended;

    LenderEvents(final Consumer<LenderEvent> sink) {
        this.sink = sink;
    }

    void start() {
        thread.setDaemon(true);
        thread.start();
    }

    /** Tells of an event, soon. After events were dropped, half of the queue must be free before one is kept again. */
    synchronized void tell(final LenderEvent event) {
        if (waiting.size() >= (dropped == 0 ? MOST_WAITING : MOST_WAITING / 2)) {
            dropped++;
        } else {
            tellOfDropped();
            waiting.add(event);
            notifyAll();
        }
    }

    private void tellOfDropped() {
        if (dropped > 0) {
            waiting.add(new LenderEvent(LenderEvent.Kind.DROPPED, "", 0, 0, dropped + " events"));
            dropped = 0;
        }
    }

    @Override
    public void run() {
        LenderEvent event = next();
        while (event != null) {
            try {
                sink.accept(event);
            } catch (final RuntimeException | Error e) {
                // Whatever one event does, the next must be told.
                System.getLogger("io.outboard.service").log(System.Logger.Level.WARNING, "an event was lost", e);
            }
            event = next();
        }
    }

    /** Returns the next event, or null after the last one. */
    private synchronized @Nullable LenderEvent next() {
        while (waiting.isEmpty() && dropped == 0 && !ended) {
            try {
                wait();
            } catch (final InterruptedException e) {
                // Only the sink can have interrupted this thread, which has nothing to end for.
            }
        }
        if (waiting.isEmpty()) {
            tellOfDropped();
        }
        return waiting.poll();
    }

    /** Ends the thread after the last event, and waits for that, but not long. */
    void end() {
        synchronized (this) {
            ended = true;
            notifyAll();
        }
        // The sink may end the lender. Then this is the thread.
        if (Thread.currentThread() != thread) {
            join();
        }
    }

    /** Waits for the thread's end, even if this thread is interrupted: the last events often say why a lender ends. */
    private void join() {
        final long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(END_MILLIS);
        boolean interrupted = false;
        while (thread.isAlive() && System.nanoTime() - end < 0) {
            try {
                TimeUnit.NANOSECONDS.timedJoin(thread, end - System.nanoTime());
            } catch (final InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
