package io.outboard.bench.kernels.programs.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** This class tests the rules of traffic on the CPU, with which its twin on the device is compared. */
class TrafficReferenceTest {

    @Test
    void shouldFillTheStreetsAndGoOn() {
        final TrafficReference city = new TrafficReference(8);
        long moving = 0;

        for (int step = 0; step < 500; step++) {
            city.step();
            final int[] picture = city.picture();
            final long cars = Arrays.stream(picture).filter(seen -> seen != 0).count();
            assertEquals(cars, city.counts()[1]);
            moving =
                    Arrays.stream(picture).filter(seen -> (seen >>> 1 & 7) != 0).count();
        }

        assertTrue(city.counts()[1] > Traffic.cells(8) / 20, "few cars: " + city.counts()[1]);
        assertTrue(moving > 0, "all stand");
    }
}
