package io.outboard.core;

/**
 * One that uses a {@link MemorySource}'s memory and can give some of it back: a pool, to a source whose device is
 * shared with others.
 *
 * <p>Thread-safety: must be safe for any number of threads. The source's threads call it, and hold no lock then.
 */
public interface MemoryUser {

    /**
     * Others need memory: gives free memory back to the source, as far as there is some. May wait for the device, once.
     *
     * @param bytes how much is missing, {@code 0 < bytes}
     */
    void giveBack(long bytes);

    /**
     * How much of the source's memory is in use. Never waits.
     *
     * @return bytes, 0 or more
     */
    long usedBytes();
}
