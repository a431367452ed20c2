package io.outboard.bench.kernels.programs.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** This class compares the CPU's game of life with candidates with the plain rule. */
class LifeReferenceTest {

    private static final int WIDTH = 64;
    private static final int HEIGHT = 49;

    @Test
    void shouldBeTheGameOfLife() {
        final LifeReference life = new LifeReference(WIDTH, HEIGHT, Life.Rule.LIFE);

        for (int step = 0; step < 50; step++) {
            final int[] before = life.picture();
            life.step();
            final int[] after = life.picture();

            for (int place = 0; place < before.length; place++) {
                final int count = aliveAround(before, place);
                final boolean expected = count == 3 || (count == 2 && isAlive(before[place]));
                assertEquals(expected, isAlive(after[place]), "step " + step + ", place " + place);
                if (!expected && aliveAround(after, place) > 0) {
                    assertEquals(Life.CANDIDATE, after[place] & 3, "step " + step + ", place " + place);
                }
            }
        }
    }

    /** Star Wars has four states: dead, alive, and two of those that are old, which count as none. */
    @Test
    void shouldGrowOldBeforeItEnds() {
        final LifeReference life = new LifeReference(WIDTH, HEIGHT, Life.Rule.STAR_WARS);
        int[] states =
                IntStream.of(life.picture()).map(seen -> isAlive(seen) ? 1 : 0).toArray();

        for (int step = 0; step < 50; step++) {
            life.step();
            final int[] before = states;
            states = IntStream.range(0, before.length)
                    .map(place -> {
                        final int count = around(place)
                                .map(other -> before[other] == 1 ? 1 : 0)
                                .sum();
                        return before[place] == 0
                                ? (count == 2 ? 1 : 0)
                                : before[place] == 1 && count >= 3 && count <= 5 ? 1 : (before[place] + 1) % 4;
                    })
                    .toArray();

            final int[] seen = life.picture();
            for (int place = 0; place < seen.length; place++) {
                final int age = states[place] == 0 ? 0 : 1 | states[place] << 1;
                assertEquals(age, seen[place] >>> 16, "step " + step + ", place " + place);
            }
        }
        assertTrue(IntStream.of(states).anyMatch(state -> state == 1), "none is alive");
    }

    private static boolean isAlive(final int seen) {
        return (seen & 3) == Life.ALIVE;
    }

    private static int aliveAround(final int[] picture, final int place) {
        return (int) around(place).filter(other -> isAlive(picture[other])).count();
    }

    private static IntStream around(final int place) {
        final int column = place % WIDTH;
        final int row = place / WIDTH;
        return IntStream.range(0, 9)
                .filter(i -> i != 4)
                .map(i -> Math.floorMod(row + i / 3 - 1, HEIGHT) * WIDTH + Math.floorMod(column + i % 3 - 1, WIDTH));
    }
}
