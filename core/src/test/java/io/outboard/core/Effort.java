package io.outboard.core;

import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * This class says how much the tests do that try random cases. By default they try a part, a different one in each run,
 * so that many runs try all. With {@code -Plong}, which is {@code -Doutboard.long=1}, they try all; with {@code
 * -Doutboard.long=100}, a hundred times as much.
 */
public final class Effort {

    /** The number of seeds of which a run tries one, since each takes long. */
    static final int SEEDS_PART = 20;

    /**
     * The number of a property's tries, or of rounds, of which a run makes one; the thorough build makes twice as many.
     */
    private static final int TRIES_PART = 8;

    /** The number by which all tries are multiplied; 0 for a part of them. */
    private static final int TIMES = Integer.getInteger("outboard.long", 0);

    private static final RandomGenerator RANDOM = RandomGenerator.getDefault();

    /** A random number that decides which of several things are in turn in this run. */
    private static final int TURN = RANDOM.nextInt() & Integer.MAX_VALUE;

    /** Seeds are those that a run tries; a test that fails names its own. */
    public record Seeds(long first, long last) {}

    private Effort() {}

    /** Returns by how much a time limit must be multiplied; at least 1. */
    public static int times() {
        return Math.max(1, TIMES);
    }

    /** Tells whether all cases are tried, or even more. */
    public static boolean isLong() {
        return TIMES != 0;
    }

    /** Tells whether no check is left to other builds because of the time that it takes. */
    public static boolean isThorough() {
        return isLong() || Boolean.getBoolean("outboard.thorough");
    }

    /** Returns consecutive seeds from 1 to {@code all}, which start anywhere; or all of them. */
    public static Seeds seeds(final long all) {
        return TIMES == 0 ? part(all, RANDOM) : new Seeds(1, all * TIMES);
    }

    /** Returns how many tries or rounds a test makes that has {@code all} of them. */
    public static int tries(final int all) {
        final int part = Boolean.getBoolean("outboard.thorough") ? TRIES_PART / 2 : TRIES_PART;
        return TIMES == 0 ? (all + part - 1) / part : Math.multiplyExact(all, TIMES);
    }

    /** Returns for how many nanoseconds a test goes on that has {@code allMilliseconds}. */
    public static long nanoseconds(final int allMilliseconds) {
        return TimeUnit.MILLISECONDS.toNanos(tries(allMilliseconds));
    }

    /** Tells whether one of {@code of} things is in turn in this run: one of them by default, or all. */
    public static boolean isInTurn(final int index, final int of) {
        return TIMES != 0 || TURN % of == index;
    }

    static Seeds part(final long all, final RandomGenerator random) {
        final long count = (all + SEEDS_PART - 1) / SEEDS_PART;
        final long first = 1 + random.nextLong(all - count + 1);
        return new Seeds(first, first + count - 1);
    }
}
