package io.outboard.cuda;

import io.outboard.cuda.internal.facade.ContextPools;
import io.outboard.pool.Pool;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * This class gives access to the pools that {@link OutboardRuntime} and {@link OutboardDriver} share. There is one pool
 * for each device, made when the device is chosen or its memory is first requested. A device has several pools only if
 * the program makes contexts by the driver's API; then each context has one. In messages, JFR events and JMX, the pools
 * are called {@code facade-device0} and so on, and a second pool of the same device {@code facade-device0-2}.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: O(1).
 */
public final class Outboard {

    static final ContextPools POOLS = ContextPools.ofProcess(OutboardOptions::ofProperties);

    private Outboard() {}

    /**
     * Chooses options instead of those in the system properties.
     *
     * @param options for all pools
     * @throws IllegalStateException if device memory was requested already; nothing changes
     */
    public static void configure(final OutboardOptions options) {
        POOLS.configure(Objects.requireNonNull(options, "options"));
    }

    /**
     * Finds the pool of a device, for statistics and out-of-memory handlers.
     *
     * @param device its number among those that this process sees
     * @return the pool, or nothing if the device has no pool yet, or none since its last reset; if several contexts
     *     have pools, the one that was made first
     */
    public static Optional<Pool> poolOf(final int device) {
        return POOLS.poolOf(device);
    }

    /**
     * Answers what all pools so far have done, including pools that ended when their device was reset; some 100 bytes
     * are kept of each ended pool.
     *
     * @return one element for each pool; ended pools come first
     */
    public static List<DeviceStatistics> statistics() {
        return POOLS.statistics(DeviceStatistics::new);
    }
}
