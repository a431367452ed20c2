package io.outboard.bench.kernels.programs.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** This class compares the CPU's game of life with candidates with the plain rule. */
class LifeReferenceTest {

    private static final int WIDTH = 64;

    @Test
    void shouldBeTheGameOfLife() {
        final LifeReference life = new LifeReference(WIDTH);

        for (int step = 0; step < 50; step++) {
            final int[] before = life.picture();
            life.step();
            final int[] after = life.picture();

            for (int place = 0; place < before.length; place++) {
                final int count = aliveAround(before, place);
                final boolean expected = count == 3 || (count == 2 && isAlive(before, place));
                assertEquals(expected, isAlive(after, place), "step " + step + ", place " + place);
                if (!expected && aliveAround(after, place) > 0) {
                    assertEquals(Life.CANDIDATE, after[place] & 3, "step " + step + ", place " + place);
                }
            }
        }
    }

    private static boolean isAlive(final int[] picture, final int place) {
        return (picture[place] & 3) == Life.ALIVE;
    }

    private static int aliveAround(final int[] picture, final int place) {
        final int column = place % WIDTH;
        final int row = place / WIDTH;
        return (int) IntStream.range(0, 9)
                .filter(i -> i != 4)
                .map(i -> Math.floorMod(row + i / 3 - 1, WIDTH) * WIDTH + Math.floorMod(column + i % 3 - 1, WIDTH))
                .filter(other -> isAlive(picture, other))
                .count();
    }
}
