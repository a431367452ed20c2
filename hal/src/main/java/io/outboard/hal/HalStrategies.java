package io.outboard.hal;

import io.outboard.core.StrategyModule;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.core.spi.NamedProvider;
import java.util.List;

/** The strategies of this module: sequential fits over hybrid array lists, and the bitmask. Safe for any number of threads. */
public final class HalStrategies implements StrategyModule {

    /** For {@link java.util.ServiceLoader}. */
    public HalStrategies() {}

    @Override
    public List<StrategyProvider> strategies() {
        return List.of(
                new Bitmask(),
                new NamedProvider(
                        "hal-best-fit",
                        "the smallest free block, in a hybrid array list: O(n/512) as a rule; Bell et al. 2024, III-A, IV",
                        false,
                        HalBestFitStrategy::new),
                new NamedProvider(
                        "hal-first-fit",
                        "the free block at the lowest address, in a hybrid array list: O(n/512) as a rule; Bell et al. 2024, III-A, IV",
                        false,
                        HalFirstFitStrategy::new),
                new NamedProvider(
                        "hal-next-fit",
                        "the free block after the last one taken, in a hybrid array list: O(n/512) as a rule; Bell et al. 2024, III-A, IV",
                        false,
                        HalNextFitStrategy::new));
    }

    /** No block is of one granule. */
    private static final class Bitmask extends NamedProvider {

        Bitmask() {
            super(
                    "bitmask",
                    "one bit a granule, next fit over summaries: free in O(size / 64); Bell et al. 2024, III-B",
                    false,
                    BitmaskStrategy::new);
        }

        @Override
        public long regionBytesFor(final long sizeBytes, final long alignmentBytes, final StrategyOptions options) {
            final long leastBytes = BitmaskStrategy.SMALLEST_BLOCK * options.granuleBytes();
            return super.regionBytesFor(Math.max(sizeBytes, leastBytes), alignmentBytes, options);
        }
    }
}
