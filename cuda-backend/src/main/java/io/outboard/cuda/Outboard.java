package io.outboard.cuda;

import io.outboard.cuda.internal.facade.ContextPools;
import io.outboard.pool.Pool;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The pools behind {@link OutboardRuntime} and {@link OutboardDriver}, which share them: one for each device, made when
 * memory of that device is first asked for. A device has several only if the program makes contexts of its own by the
 * driver's API, one for each context. They are called {@code facade-device0} and so on, a further one of the same
 * device {@code facade-device0-2}: in messages, JFR events, and for JMX.
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
     * @throws IllegalStateException if device memory was asked for already; nothing changes
     */
    public static void configure(final OutboardOptions options) {
        POOLS.configure(Objects.requireNonNull(options, "options"));
    }

    /**
     * Finds the pool of a device, for statistics and out-of-memory handlers.
     *
     * @param device its number among those that this process sees
     * @return the pool, or nothing if no memory of the device has been asked for since it was last reset; of several
     *     contexts' pools the one made first
     */
    public static Optional<Pool> poolOf(final int device) {
        return POOLS.poolOf(device);
    }

    /**
     * Answers what all pools so far have done, also those that ended when their device was reset, of which some 100
     * bytes are kept.
     *
     * @return one element a pool; those that ended come first
     */
    public static List<DeviceStatistics> statistics() {
        return POOLS.statistics(DeviceStatistics::new);
    }
}
