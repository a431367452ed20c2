package io.outboard.bench.measure.threads.isolated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class RingTest {

    @Test
    void shouldHandOnInOrderAndSayWhenItIsFullOrEmpty() {
        final Ring ring = new Ring(4);

        for (long round = 0; round < 3; round++) {
            for (long address = 1; address <= 4; address++) {
                assertTrue(ring.offer(10 * round + address));
            }
            assertFalse(ring.offer(99));
            for (long address = 1; address <= 4; address++) {
                assertEquals(10 * round + address, ring.poll());
            }
            assertEquals(Blocks.NO_BLOCK, ring.poll());
        }
    }

    @Test
    void shouldLoseNothingBetweenTwoThreads() throws Exception {
        final Ring ring = new Ring(8);
        final long count = 200_000;
        final Thread producer = new Thread(() -> {
            for (long address = 1; address <= count; address++) {
                for (int waits = 0; !ring.offer(address); waits++) {
                    Round.pause(waits);
                }
            }
        });

        producer.start();
        long next = 1;
        for (int waits = 0; next <= count; waits++) {
            final long address = ring.poll();
            if (address == Blocks.NO_BLOCK) {
                Round.pause(waits);
            } else {
                assertEquals(next++, address);
                waits = 0;
            }
        }
        producer.join();

        assertEquals(Blocks.NO_BLOCK, ring.poll());
    }

    @Test
    void shouldRefuseACapacityThatIsNoPowerOfTwo() {
        final IllegalArgumentException thrown = assertThrows(IllegalArgumentException.class, () -> new Ring(3));

        assertEquals("capacity=3 must be a power of two", thrown.getMessage());
    }
}
