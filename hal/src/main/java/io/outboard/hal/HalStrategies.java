package io.outboard.hal;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyModule;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.core.spi.NamedProvider;
import java.util.List;
import java.util.function.BiFunction;

/**
 * This class names the strategies of this module: sequential fits over hybrid array lists, and the bitmask. Safe for
 * any number of threads.
 */
public final class HalStrategies implements StrategyModule {

    /** Makes the module's list for {@link java.util.ServiceLoader}. */
    public HalStrategies() {}

    @Override
    public List<StrategyProvider> strategies() {
        return List.of(
                new Bitmask(),
                fit("hal-best-fit", "the smallest free block", HalBestFitStrategy::new),
                fit("hal-first-fit", "the free block at the lowest address", HalFirstFitStrategy::new),
                fit("hal-next-fit", "the free block after the last one taken", HalNextFitStrategy::new));
    }

    private static StrategyProvider fit(
            final String name, final String choice, final BiFunction<Region, StrategyOptions, Strategy> constructor) {
        return new NamedProvider(
                name,
                choice + ", in a hybrid array list: O(n/512) as a rule; Bell et al. 2024, III-A, IV",
                constructor);
    }

    /** The provider of a strategy in which no block is of one granule. */
    private static final class Bitmask extends NamedProvider {

        Bitmask() {
            super(
                    "bitmask",
                    "one bit a granule, next fit over summaries: free in O(size / 64); Bell et al. 2024, III-B",
                    BitmaskStrategy::new);
        }

        @Override
        public long regionBytesFor(final long sizeBytes, final long alignmentBytes, final StrategyOptions options) {
            final long leastBytes = BitmaskStrategy.SMALLEST_BLOCK * options.granuleBytes();
            return super.regionBytesFor(Math.max(sizeBytes, leastBytes), alignmentBytes, options);
        }
    }
}
