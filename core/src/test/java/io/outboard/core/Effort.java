package io.outboard.core;

import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * This class says how much the tests do that try chances. By default they do a part, another in each run, so that many
 * runs come to all; with {@code -Plong}, which is {@code -Doutboard.long=1}, all of it; with {@code
 * -Doutboard.long=100} a hundred times as much.
 */
public final class Effort {

    /** One in so many seeds is tried, since each takes its time. */
    static final int SEEDS_PART = 20;

    /** One in so many of a property's tries, and of rounds, is made; the thorough build has twice as many. */
    private static final int TRIES_PART = 8;

    /** All of it so many times; 0 for a part. */
    private static final int TIMES = Integer.getInteger("outboard.long", 0);

    private static final RandomGenerator RANDOM = RandomGenerator.getDefault();

    /** Which of several is in turn in this run. */
    private static final int TURN = RANDOM.nextInt() & Integer.MAX_VALUE;

    /** Seeds of a run: what fails names its own. */
    public record Seeds(long first, long last) {}

    private Effort() {}

    /** At least 1: by so much a limit is to be longer than that of all. */
    public static int times() {
        return Math.max(1, TIMES);
    }

    /** Tells whether all is tried, or more. */
    public static boolean isLong() {
        return TIMES != 0;
    }

    /** A part of the seeds 1 to {@code all}, those in a row from anywhere; or all. */
    public static Seeds seeds(final long all) {
        return TIMES == 0 ? part(all, RANDOM) : new Seeds(1, all * TIMES);
    }

    /** Tries or rounds, of so many. */
    public static int tries(final int all) {
        final int part = Boolean.getBoolean("outboard.thorough") ? TRIES_PART / 2 : TRIES_PART;
        return TIMES == 0 ? (all + part - 1) / part : Math.multiplyExact(all, TIMES);
    }

    /** Computes how long a test goes on: nanoseconds, of so many milliseconds. */
    public static long nanoseconds(final int allMilliseconds) {
        return TimeUnit.MILLISECONDS.toNanos(tries(allMilliseconds));
    }

    /** Tells whether one of {@code of} things is for this run: one by default, or all. */
    public static boolean isInTurn(final int index, final int of) {
        return TIMES != 0 || TURN % of == index;
    }

    static Seeds part(final long all, final RandomGenerator random) {
        final long count = (all + SEEDS_PART - 1) / SEEDS_PART;
        final long first = 1 + random.nextLong(all - count + 1);
        return new Seeds(first, first + count - 1);
    }
}
