package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.core.VirtualMemorySource;
import org.junit.jupiter.api.Test;

class TlsfProviderTest {

    @Test
    void shouldBeFoundByName() {
        assertInstanceOf(TlsfProvider.class, Strategies.named("tlsf"));
    }

    @Test
    void shouldBeAmongAll() {
        assertTrue(Strategies.all().stream().anyMatch(TlsfProvider.class::isInstance));
    }

    @Test
    void shouldBeListedWhenAnUnknownNameIsAskedFor() {
        final String message =
                String.valueOf(assertThrows(IllegalArgumentException.class, () -> Strategies.named("tslf"))
                        .getMessage());

        assertTrue(message.startsWith("strategy=tslf must be one of: "), message);
        assertTrue(message.contains("tlsf"), message);
    }

    @Test
    void shouldMakeAStrategyOverTheWholeRegion() {
        final Region region = VirtualMemorySource.region(1 << 20);

        final Strategy strategy = new TlsfProvider().create(region, StrategyOptions.DEFAULTS.withGranuleBytes(4096));

        assertInstanceOf(TlsfStrategy.class, strategy);
        assertEquals(region, strategy.region());
        assertEquals(4096, strategy.granuleBytes());
    }

    @Test
    void shouldDescribeItselfInOneLine() {
        final StrategyProvider provider = new TlsfProvider();

        assertFalse(provider.description().isBlank());
        assertEquals(1, provider.description().lines().count());
    }
}
