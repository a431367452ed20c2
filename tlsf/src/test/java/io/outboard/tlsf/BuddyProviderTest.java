package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BuddyProviderTest {

    @ParameterizedTest
    @CsvSource({
        "buddy-binary, io.outboard.tlsf.BinaryBuddyStrategy, 16384",
        "buddy-fibonacci, io.outboard.tlsf.FibonacciBuddyStrategy, 12288"
    })
    void shouldMakeAStrategyByName(final String name, final Class<?> type, final long blockBytes) {
        final StrategyProvider provider = Strategies.named(name);
        final Region region = new Region(1L << 40, 1 << 20);

        final Strategy strategy = provider.create(region, StrategyOptions.DEFAULTS.withGranuleBytes(4096));

        assertInstanceOf(type, strategy);
        assertEquals(name, provider.name());
        assertEquals(region, strategy.region());
        assertEquals(4096, strategy.granuleBytes());
        assertEquals(blockBytes, strategy.sizeOf(strategy.allocate(3 * 4096)));
        assertFalse(provider.description().isBlank());
        assertEquals(1, provider.description().lines().count());
    }
}
