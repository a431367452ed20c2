package io.outboard.bench.kernels.programs.simulation;

import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * The reference plays the game of life on the CPU with the same steps as {@code life.cu}, and an array over places.
 * Confined to one thread.
 */
final class LifeReference implements Simulation.Reference {

    private static final int CANDIDATES_AT = 8;
    private static final int ALIVE_AT = 16;
    private static final int AGE_AT = 17;

    private final int width;
    private final Life.Rule rule;
    /** For each place its kind; one that is old has a number more for each step after the first. */
    private byte[] kinds;

    private byte[] next;

    LifeReference(final int width, final int height, final Life.Rule rule) {
        this.width = width;
        this.rule = rule;
        kinds = new byte[width * height];
        next = new byte[width * height];
        for (int place = 0; place < kinds.length; place++) {
            kinds[place] = (byte) (Dice.seed(place) >>> 30 == 0 ? Life.ALIVE : Life.EMPTY);
        }
        final byte[] first = kinds.clone();
        each(place -> {
            if (first[place] == Life.EMPTY && countAround(first, place) > 0) {
                kinds[place] = Life.CANDIDATE;
            }
        });
    }

    @Override
    public void step() {
        each(place -> {
            final int count = countAround(kinds, place);
            next[place] = (byte)
                    switch (kinds[place]) {
                        case Life.EMPTY -> Life.EMPTY;
                        case Life.CANDIDATE ->
                            isIn(rule.becomes(), count) ? Life.ALIVE : count == 0 ? Life.EMPTY : Life.CANDIDATE;
                        case Life.ALIVE -> isIn(rule.stays(), count) ? Life.ALIVE : older(Life.ALIVE);
                        default -> older(kinds[place]);
                    };
        });
        // A cell that has become alive makes candidates of the empty places around it.
        each(place -> {
            if (next[place] == Life.EMPTY && hasNewAround(place)) {
                next[place] = Life.CANDIDATE;
            }
        });
        final byte[] last = kinds;
        kinds = next;
        next = last;
    }

    private static boolean isIn(final int counts, final int count) {
        return (counts >> count & 1) != 0;
    }

    private int older(final int kind) {
        return kind == Life.ALIVE + rule.oldAges() ? Life.CANDIDATE : kind + 1;
    }

    private boolean hasNewAround(final int place) {
        boolean found = false;
        for (int i = 0; i < 9; i++) {
            final int other = beside(place, i);
            found |= other != place && next[other] == Life.ALIVE && kinds[other] != Life.ALIVE;
        }
        return found;
    }

    private int countAround(final byte[] of, final int place) {
        int count = 0;
        for (int i = 0; i < 9; i++) {
            final int other = beside(place, i);
            count += other != place && of[other] == Life.ALIVE ? 1 : 0;
        }
        return count;
    }

    /** Returns one of the nine places around a place; the width is a power of two. */
    private int beside(final int place, final int number) {
        final int row = (place + (number / 3 - 1) * width + kinds.length) % kinds.length & -width;
        return row | ((place + number % 3 - 1) & (width - 1));
    }

    private void each(final IntConsumer action) {
        IntStream.range(0, kinds.length).parallel().forEach(action);
    }

    @Override
    public int[] picture() {
        final int[] picture = new int[kinds.length];
        for (int place = 0; place < picture.length; place++) {
            picture[place] = switch (kinds[place]) {
                case Life.CANDIDATE -> Life.CANDIDATE | 1 << CANDIDATES_AT;
                case Life.EMPTY -> Life.EMPTY;
                default -> Math.min(kinds[place], Life.OLD) | 1 << ALIVE_AT | (kinds[place] - Life.CANDIDATE) << AGE_AT;
            };
        }
        return picture;
    }

    @Override
    public long[] counts() {
        final long[] counts = new long[2];
        for (final byte kind : kinds) {
            if (kind != Life.EMPTY) {
                counts[kind == Life.CANDIDATE ? 0 : 1]++;
            }
        }
        return counts;
    }
}
