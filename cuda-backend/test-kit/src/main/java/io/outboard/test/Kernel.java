package io.outboard.test;

/**
 * A kernel is work that a test submits to a {@link SimulatedStream} instead of a launch on a GPU.
 *
 * <p>It runs late, on whichever thread finishes it, and sees what the memory holds by then. It must not call the pool,
 * nor wait for other threads.
 */
@FunctionalInterface
public interface Kernel {

    /**
     * Does the work.
     *
     * @param memory the device's memory; of no use once the kernel has ended
     */
    void run(DeviceMemory memory);
}
