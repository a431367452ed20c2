package io.outboard.bench.kernels.programs.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** This class tests the rules of the land of sugar on the CPU, with which its twin on the device is compared. */
class SugarscapeReferenceTest {

    private static final int WIDTH = 64;

    @Test
    void shouldKeepBothSexesForLong() {
        final SugarscapeReference land = new SugarscapeReference(WIDTH);

        for (int step = 0; step < 1000; step++) {
            land.step();
            final long[] counts = land.counts();
            assertEquals(WIDTH * WIDTH, counts[0]);
            assertTrue(counts[1] > 0 && counts[2] > 0, "step " + step + ": " + counts[1] + " men, " + counts[2]);
        }
    }

    @Test
    void shouldEatAllSugarWhereSomebodyIsAndGrowItElsewhere() {
        final SugarscapeReference land = new SugarscapeReference(WIDTH);

        for (int step = 0; step < 20; step++) {
            final int[] before = land.picture();
            land.step();
            final int[] after = land.picture();
            for (int place = 0; place < after.length; place++) {
                final int sugar = after[place] >>> 4 & 15;
                if ((after[place] & 3) != Sugarscape.NOBODY && (after[place] >>> 8 & 255) != 0) {
                    assertEquals(0, sugar, "place " + place);
                }
                final int grown = Math.min((before[place] >>> 4 & 15) + 1, 4);
                assertTrue(sugar <= grown, "place " + place + ": " + sugar + ", not " + grown);
            }
        }
    }

    @Test
    void shouldHaveChildren() {
        final SugarscapeReference land = new SugarscapeReference(WIDTH);
        int children = 0;

        for (int step = 0; step < 60; step++) {
            land.step();
            for (final int seen : land.picture()) {
                children += (seen & 3) != Sugarscape.NOBODY && (seen >>> 8 & 255) == 0 ? 1 : 0;
            }
        }

        assertTrue(children > 0, "nobody is born");
    }
}
