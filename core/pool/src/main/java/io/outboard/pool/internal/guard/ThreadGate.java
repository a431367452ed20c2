package io.outboard.pool.internal.guard;

/**
 * A thread gate lets the threads that a pool has made use the device, each for one piece of work at a time, unless
 * somebody is about to end what they would use: then a thread that is to begin waits until that is decided.
 *
 * <p>Safe for any number of threads. Makes no garbage, so that no thread is lost for want of host memory.
 */
public final class ThreadGate {

    /** The number of threads that use the device. The monitor guards this field and those below. */
    private int working;

    /** The number of threads that want the others to rest. */
    private int resting;

    private boolean ended;

    /** Returns whether the thread may use the device until it {@linkplain #leave leaves}. May wait; no lock is held. */
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

    /** Waits until no thread uses the device, and runs the action while that is so. */
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

    /** Lets no thread use the device again. */
    public synchronized void end() {
        ended = true;
        notifyAll();
    }

    /** Waits until all rest, or nobody wants them to. The monitor is held. */
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
