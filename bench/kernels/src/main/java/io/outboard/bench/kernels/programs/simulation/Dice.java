package io.outboard.bench.kernels.programs.simulation;

/** The numbers that {@code random} of {@code stores.cuh} gives. */
final class Dice {

    private Dice() {}

    /** The state after a state. */
    static int next(final int state) {
        return state * 747796405 + (int) 2891336453L;
    }

    /** What a state gives, once it is the next one. */
    static int value(final int state) {
        final int word = ((state >>> ((state >>> 28) + 4)) ^ state) * 277803737;
        return (word >>> 22) ^ word;
    }

    /** The same, less than a limit. */
    static int below(final int state, final int limit) {
        return (int) ((Integer.toUnsignedLong(value(state)) * limit) >>> 32);
    }

    /** A state to begin with, for so many things. */
    static int seed(final int number) {
        return value(next(number * (int) 2654435761L + 1));
    }
}
