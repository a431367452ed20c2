package io.outboard.bench.kernels.programs.simulation;

/** The class gives the same numbers as {@code random} of {@code stores.cuh}. */
final class Dice {

    private Dice() {}

    /** Returns the state that follows a state. */
    static int next(final int state) {
        return state * 747796405 + (int) 2891336453L;
    }

    /** Returns the number that a state gives; the state must be the result of {@link #next}. */
    static int value(final int state) {
        final int word = ((state >>> ((state >>> 28) + 4)) ^ state) * 277803737;
        return (word >>> 22) ^ word;
    }

    /** Returns a number as {@link #value} does, less than a limit. */
    static int below(final int state, final int limit) {
        return (int) ((Integer.toUnsignedLong(value(state)) * limit) >>> 32);
    }

    /** Returns the first state for a number, such as that of a place. */
    static int seed(final int number) {
        return value(next(number * (int) 2654435761L + 1));
    }
}
