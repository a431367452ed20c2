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
}
