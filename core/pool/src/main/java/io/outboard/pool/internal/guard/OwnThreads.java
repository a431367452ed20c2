package io.outboard.pool.internal.guard;

/**
 * Lets the threads that a pool has made use the device, each for one piece of work at a time, unless somebody is about to end what
 * they would use, or has: a thread that is to begin then waits until that is decided.
 *
 * <p>Safe for any number of threads. Makes no garbage, so that no thread is lost for want of host memory.
 */
public final class OwnThreads {

    /** How many use the device. Guarded by the monitor, as the others. */
    private int working;

    /** How many want them to rest. */
    private int resting;

    private boolean ended;

    /** Whether the thread may use the device, until it {@linkplain #leave leaves}. May wait; no lock is held. */
    public synchronized boolean enter() {
        await(false);
        if (ended) {
            return false;
        }
        working++;
        return true;
    }

    public synchronized void leave() {
        working--;
        notifyAll();
    }

    /** None uses the device while the action runs: waits until that is so. */
    public void restWhile(final Runnable action) {
        synchronized (this) {
            resting++;
            await(true);
        }
        try {
            action.run();
        } finally {
            synchronized (this) {
                resting--;
                notifyAll();
            }
        }
    }

    /** None uses the device ever again, but for what they are at. */
    public synchronized void end() {
        ended = true;
        notifyAll();
    }

    /** The monitor is held: until all rest, or nobody wants them to. */
    private void await(final boolean rest) {
        boolean interrupted = false;
        while (rest ? working > 0 : resting > 0 && !ended) {
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
}
