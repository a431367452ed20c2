package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.WrongUseException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What threads do with blocks: who allocates, who frees, and how blocks get from one to the other. */
public enum ThreadProfile {

    /**
     * Each thread has an array of slots and replaces what is in a random one: frees its block and allocates another.
     * Nothing is shared but the pool. It is the best case for arenas, caches and the like.
     */
    OWN("thread", 1),

    /**
     * Producers allocate, and hand each block to their consumer, which frees it: one ring a pair. It is the worst case
     * for caches that a thread fills by its own frees. Such pairs are the "producer-consumer" of Berger, McKinley,
     * Blumofe and Wilson (Hoard, 2000, section 2.2), who show that memory may grow without bound under it.
     */
    PAIRS("pair", 2),

    /**
     * The server of Larson and Krishnan (Memory allocation for long-running server applications, 1998, section 4.1):
     * each thread replaces what is in random slots of its array, and after so many rounds ends, and a new thread goes
     * on with the array. So most blocks are freed by a thread that didn't allocate them, and threads come and go.
     */
    LARSON("thread", 1),

    /**
     * Half of the threads allocate batches of blocks, the other half frees them, through one shared queue: xmalloc-test
     * by Lever and Boreham (malloc() performance in a multithreaded Linux environment, 2000), in the form that the
     * mimalloc-bench suite runs. Where that one's batches hold 4096 small objects, these hold 64 blocks of device
     * memory.
     */
    XMALLOC("pair", 2);

    private final String unit;
    private final int workersAUnit;

    ThreadProfile(final String unit, final int workersAUnit) {
        this.unit = unit;
        this.workersAUnit = workersAUnit;
    }

    /**
     * The profile that a user typed.
     *
     * @param name such as {@code own}
     * @return nothing if it isn't one of these
     */
    public static Optional<ThreadProfile> named(final String name) {
        return Arrays.stream(values())
                .filter(profile -> profile.label().equals(name))
                .findFirst();
    }

    /**
     * What users type.
     *
     * @return names in the order of reports
     */
    public static List<String> names() {
        return Arrays.stream(values()).map(ThreadProfile::label).toList();
    }

    /**
     * Its name.
     *
     * @return what users type
     */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * What {@code --threads} counts.
     *
     * @return {@code thread} or {@code pair}
     */
    public String unit() {
        return unit;
    }

    /**
     * Threads that run.
     *
     * @param threads what {@code --threads} says, {@code 0 < threads}
     * @return threads, those of a pair counted both
     * @throws WrongUseException if they are more than a JVM takes
     */
    public int workers(final int threads) {
        if (threads > 10_000) {
            throw new WrongUseException("--threads=" + threads + " must be <= 10000");
        }
        return threads * workersAUnit;
    }
}
