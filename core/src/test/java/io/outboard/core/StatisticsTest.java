package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class StatisticsTest {

    @Test
    void shouldHaveNoFragmentationWhenNothingIsFree() {
        assertEquals(0.0, new Statistics(1000, 0, 0, 1000, 1, 0, 1).externalFragmentation());
    }

    @Test
    void shouldHaveNoFragmentationWhenAllFreeMemoryIsOneBlock() {
        assertEquals(0.0, new Statistics(1000, 600, 600, 400, 1, 1, 1).externalFragmentation());
    }

    /** The formula is equation 3 of Vinkler and Havran. */
    @Test
    void shouldBeFragmentedByTheShareOutsideOfTheLargestFreeBlock() {
        assertEquals(0.75, new Statistics(1000, 800, 200, 1000, 1, 5, 1).externalFragmentation());
    }

    @Test
    void shouldReadAsOneLine() {
        assertEquals(
                "region 1000 bytes, free 600 bytes in 3 blocks, largest free block 400 bytes, "
                        + "external fragmentation 0.333, in use 2 blocks, extent 900 bytes",
                new Statistics(1000, 600, 400, 900, 2, 3, 77).toString());
    }
}
