package io.outboard.bench.kernels.programs.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** This class tests the rules of Wa-Tor on the CPU, with which its twin on the device is compared. */
class WatorReferenceTest {

    @Test
    void shouldKeepBothKindsForLong() {
        final WatorReference sea = new WatorReference(64);

        for (int step = 0; step < 1000; step++) {
            sea.step();
            final long[] counts = sea.counts();
            assertEquals(64 * 64, counts[0]);
            assertTrue(counts[1] > 0 && counts[2] > 0, "step " + step + ": " + counts[1] + " fish, " + counts[2]);
        }
    }
}
