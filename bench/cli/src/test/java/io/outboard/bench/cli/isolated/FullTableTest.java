package io.outboard.bench.cli.isolated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.BlockTableFullException;
import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.core.VirtualMemorySource;
import org.junit.jupiter.api.Test;

class FullTableTest {

    private final StrategyProvider tlsf = Strategies.named("tlsf");

    /** There is a block for each record of the table but one. */
    @Test
    void shouldShareTheTablesAmongAsManyBlocksAsTheyHold() {
        final StrategyOptions options = StrategyOptions.DEFAULTS;
        final Strategy strategy = tlsf.create(VirtualMemorySource.region(1 << 30), options);

        // One record is for the rest of the region.
        final double expected = (double) strategy.hostBytes() / (options.maxBlocks() - 1);
        assertEquals(expected, FullTable.hostBytesPerBlock(tlsf), 0.001);
    }

    @Test
    void shouldStopWhenTheTablesAreFullBeforeTheRegionIs() {
        final int maxBlocks = 1000;
        final Strategy strategy =
                tlsf.create(VirtualMemorySource.region(1 << 30), StrategyOptions.DEFAULTS.withMaxBlocks(maxBlocks));

        final double measured = FullTable.hostBytesPerBlock(new SmallTables(tlsf, maxBlocks));

        // One record is for the rest of the region.
        assertEquals((double) strategy.hostBytes() / (maxBlocks - 1), measured, 0.001);
    }

    @Test
    void shouldHaveAFigureForEveryStrategy() {
        for (final StrategyProvider provider : Strategies.all()) {
            final double bytes = FullTable.hostBytesPerBlock(provider);

            assertTrue(bytes > 0 && bytes < 1000, provider.name() + ": " + bytes);
        }
    }

    /** This provider makes strategies whose tables hold fewer blocks than the options say. */
    private record SmallTables(StrategyProvider provider, int maxBlocks) implements StrategyProvider {

        @Override
        public String name() {
            return "small-tables";
        }

        @Override
        public String description() {
            return "throws " + BlockTableFullException.class.getSimpleName();
        }

        @Override
        public Strategy create(final Region region, final StrategyOptions options) {
            return provider.create(region, options.withMaxBlocks(maxBlocks));
        }
    }
}
