package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class PooledProviderTest {

    @Test
    void shouldBeFoundByName() {
        assertInstanceOf(PooledProvider.class, Strategies.named("pooled"));
    }

    @Test
    void shouldDescribeItselfInOneLine() {
        assertEquals(1, new PooledProvider().description().lines().count());
    }

    /** This module has no strategy to put behind the pools, so neither have its tests. */
    @Test
    void shouldTellWhatIsMissingOnTheClassPath() {
        final Region region = VirtualMemorySource.region(1 << 20);

        final Throwable thrown = assertThrows(
                IllegalArgumentException.class,
                () -> Strategies.named("pooled").create(region, StrategyOptions.DEFAULTS));

        assertEquals("strategy=pooled must have tlsf beside it on the class path", thrown.getMessage());
    }
}
