package io.outboard.hal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HalStrategiesTest {

    @Test
    void shouldBeFoundByTheServiceLoader() {
        assertEquals(
                List.of("bitmask", "hal-best-fit", "hal-first-fit", "hal-next-fit"),
                Strategies.all().stream().map(StrategyProvider::name).toList());
    }

    @ParameterizedTest
    @CsvSource({
        "bitmask, io.outboard.hal.BitmaskStrategy",
        "hal-best-fit, io.outboard.hal.HalBestFitStrategy",
        "hal-first-fit, io.outboard.hal.HalFirstFitStrategy",
        "hal-next-fit, io.outboard.hal.HalNextFitStrategy"
    })
    void shouldMakeAStrategyByName(final String name, final Class<?> type) {
        final StrategyProvider provider = Strategies.named(name);
        final Region region = new Region(1L << 40, 1 << 20);

        final Strategy strategy = provider.create(region, StrategyOptions.DEFAULTS.withGranuleBytes(4096));

        assertInstanceOf(type, strategy);
        assertEquals(region, strategy.region());
        assertEquals(4096, strategy.granuleBytes());
    }

    @Test
    void shouldDescribeEachInOneLine() {
        for (final StrategyProvider provider : new HalStrategies().strategies()) {
            assertFalse(provider.description().isBlank(), provider.name());
            assertEquals(1, provider.description().lines().count(), provider.name());
            assertTrue(provider.description().contains("Bell et al. 2024"), provider.name());
        }
    }
}
