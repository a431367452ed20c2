package io.outboard.core;

/**
 * A user has memory of a {@link MemorySource} and can give some of it back, as a pool can to a source whose device is
 * shared with others.
 *
 * <p>Thread-safety: must be safe for any number of threads. The source's threads call it, and hold no lock then.
 */
public interface MemoryUser {

    /**
     * Gives free memory back to the source, as far as there is some, since others need memory. The user may wait for
     * the device, once.
     *
     * @param bytes how much is missing, {@code 0 < bytes}
     */
    void giveBack(long bytes);

    /**
     * Tells how much of the source's memory is in use, without waiting.
     *
     * @return bytes, 0 or more
     */
    long usedBytes();

    /**
     * Does something while no thread of the user's own uses the memory, such as ending the context that the memory
     * belongs to: to end a context while another thread uses it is an error that a driver needn't report. If the action
     * succeeds, the source calls {@link #sourceEnded} within. May wait for what these threads do, and they wait for the
     * action.
     *
     * @param action it must not call the user except for {@link #sourceEnded}, and mustn't be called by one of the
     *     user's own threads
     */
    default void whileResting(final Runnable action) {
        action.run();
    }

    /**
     * Tells that the source's memory is gone: no thread of the user's own uses it any more, and what observes the user
     * shows it no more. What the user's callers do then is up to the source, which says that the memory is gone.
     * Idempotent.
     */
    default void sourceEnded() {}
}
