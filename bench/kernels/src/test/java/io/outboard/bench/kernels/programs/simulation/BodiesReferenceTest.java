package io.outboard.bench.kernels.programs.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** This class tests the rules of the bodies on the CPU, with which their twin on the device is compared. */
class BodiesReferenceTest {

    @Test
    void shouldKeepTheMassOfBodiesThatMerge() {
        final BodiesReference bodies = new BodiesReference(512, 1e-4f);
        final double before = mass(bodies);

        for (int step = 0; step < 20; step++) {
            bodies.step();
        }

        assertTrue(bodies.counts()[0] < 512, "none has merged");
        assertEquals(before, mass(bodies), before * 1e-5);
    }

    @Test
    void shouldKeepBodiesThatDoNotMerge() {
        final BodiesReference bodies = new BodiesReference(64, -1);

        bodies.step();

        assertEquals(64, bodies.counts()[0]);
    }

    /** Bodies are heavy when many have merged into them. */
    @Test
    void shouldAddUpForcesThatNoIntHolds() {
        assertEquals(50L << 40, BodiesReference.whole(50f / (1 << 4)), "units of 2^-44");
        assertEquals(-(50L << 40), BodiesReference.whole(-50f / (1 << 4)));
    }

    private static double mass(final BodiesReference bodies) {
        final int[] picture = bodies.picture();
        double sum = 0;
        for (int i = 2; i < picture.length; i += 3) {
            sum += Float.intBitsToFloat(picture[i]);
        }
        return sum;
    }
}
