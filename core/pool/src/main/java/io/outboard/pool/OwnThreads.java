package io.outboard.pool;

import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;

/**
 * Lets the threads that a pool has made use the device, unless somebody is about to end what they would use, or has. What they do
 * can be left out as well: nobody needs it who has no device.
 *
 * <p>Safe for any number of threads.
 */
final class OwnThreads {

    /** Many threads may use the device, and one that waits for a turn of its own may need another to end: so none queues. */
    private final ReentrantReadWriteLock device = new ReentrantReadWriteLock();

    /** Written under the write lock. */
    private boolean ended;

    /** Whether the thread may use the device, until it {@linkplain #leave leaves}. Never waits. */
    boolean enter() {
        if (!device.readLock().tryLock()) {
            return false;
        }
        if (ended) {
            leave();
            return false;
        }
        return true;
    }

    void leave() {
        device.readLock().unlock();
    }

    /** Waits until none uses the device. If the action ends the device, none does any more. True if it has. */
    boolean end(final BooleanSupplier action) {
        device.writeLock().lock();
        try {
            ended |= action.getAsBoolean();
            return ended;
        } finally {
            device.writeLock().unlock();
        }
    }
}
