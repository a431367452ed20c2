package io.outboard.bench.cli.measurement;

import io.outboard.bench.cli.common.WrongUseException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A thread profile says what threads do with blocks: who allocates, who frees, and how blocks get from one thread to
 * another.
 */
public enum ThreadProfile {

    /**
     * Each thread has an array of slots and replaces the block in a random slot: it frees the block and allocates
     * another. Threads share nothing but the pool. This profile is the best case for arenas, caches and the like.
     */
    OWN("thread", 1),

    /**
     * Producers allocate, and pass each block to their consumer, which frees it, through one ring a pair. This profile
     * is the worst case for caches that a thread fills by its own frees. Such pairs are the "producer-consumer" of
     * Berger, McKinley, Blumofe and Wilson (Hoard, 2000, section 2.2), who show that memory may grow without bound
     * then.
     */
    PAIRS("pair", 2),

    /**
     * The server of Larson and Krishnan (Memory allocation for long-running server applications, 1998, section 4.1):
     * each thread replaces the blocks in random slots of its array and ends after a number of rounds, and a new thread
     * continues with the array. So most blocks are freed by a thread that didn't allocate them, and threads come and
     * go.
     */
    LARSON("thread", 1),

    /**
     * Half of the threads allocate batches of blocks, the other half frees them, through one shared queue. This profile
     * is xmalloc-test by Lever and Boreham (malloc() performance in a multithreaded Linux environment, 2000), in the
     * form that the mimalloc-bench suite runs. There a batch holds 4096 small objects, here 64 blocks of device memory.
     */
    XMALLOC("pair", 2);

    private final String unit;
    private final int workersAUnit;

    ThreadProfile(final String unit, final int workersAUnit) {
        this.unit = unit;
        this.workersAUnit = workersAUnit;
    }

    /**
     * Finds the profile that a user typed.
     *
     * @param name such as {@code own}
     * @return nothing if no profile has that name
     */
    public static Optional<ThreadProfile> named(final String name) {
        return Arrays.stream(values())
                .filter(profile -> profile.label().equals(name))
                .findFirst();
    }

    /**
     * Lists the names that users type.
     *
     * @return names in the order of reports
     */
    public static List<String> names() {
        return Arrays.stream(values()).map(ThreadProfile::label).toList();
    }

    /**
     * Returns the name of this profile.
     *
     * @return what users type
     */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the unit that {@code --threads} counts.
     *
     * @return {@code thread} or {@code pair}
     */
    public String unit() {
        return unit;
    }

    /**
     * Returns the number of threads that run.
     *
     * @param threads the value of {@code --threads}, {@code 0 < threads}
     * @return threads, two for each pair
     * @throws WrongUseException if the value is more than a JVM takes
     */
    public int workers(final int threads) {
        if (threads > 10_000) {
            throw new WrongUseException("--threads=" + threads + " must be <= 10000");
        }
        return threads * workersAUnit;
    }
}
