package io.outboard.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * These tests say what {@link StrategyProvider} promises, for every provider on the class path. Each module has a
 * subclass for its own providers.
 */
public abstract class StrategyProviderContractTest {

    private static final long GRANULE = 256;
    private static final StrategyOptions OPTIONS = new StrategyOptions(GRANULE, 4096);

    static Stream<StrategyProvider> providers() {
        return Strategies.all().stream();
    }

    /**
     * A request size in granules for which the next size class of both buddy systems is larger than a region may be.
     */
    private static final long BEYOND_BUDDIES = 2_971_215_074L;

    private static List<Long> sizes() {
        final List<Long> sizes = new ArrayList<>();
        for (long granules = 1; granules <= 40; granules++) {
            sizes.add(granules * GRANULE);
        }
        for (int log2 = 14; log2 < 30; log2++) {
            sizes.addAll(List.of((1L << log2) - 1, 1L << log2, (1L << log2) + 1));
        }
        return sizes;
    }

    @ParameterizedTest
    @MethodSource("providers")
    void shouldServeARequestOfTheRegionThatItAsksForAndOfEveryLargerOne(final StrategyProvider provider) {
        for (final long sizeBytes : sizes()) {
            final long leastBytes = provider.regionBytesFor(sizeBytes, 1, OPTIONS);

            for (final long moreBytes : new long[] {0, 1, GRANULE, 5 * GRANULE, leastBytes - GRANULE, leastBytes}) {
                final Region region = new Region((1L << 40) + 3 * GRANULE, leastBytes + moreBytes);
                final Strategy strategy = provider.create(region, OPTIONS);
                assertNotEquals(
                        Strategy.NO_SPACE, strategy.allocate(sizeBytes), () -> sizeBytes + " bytes of " + region);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("providers")
    void shouldServeAnAlignedRequestOfTheRegionThatItAsksFor(final StrategyProvider provider) {
        for (final long alignmentBytes : new long[] {256, 512, 4096, 1 << 20}) {
            // Buddies need a region that starts at a large power of two; the others serve regions that start anywhere.
            final boolean anywhere = !provider.name().startsWith("buddy");
            final long address = (1L << 40) + (anywhere ? GRANULE : 0);
            for (final long sizeBytes : sizes()) {
                final Region region = new Region(address, provider.regionBytesFor(sizeBytes, alignmentBytes, OPTIONS));

                final long block = provider.create(region, OPTIONS).allocate(sizeBytes, alignmentBytes);

                assertNotEquals(Strategy.NO_SPACE, block, () -> sizeBytes + " bytes of " + region);
                assertEquals(0, block % alignmentBytes);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("providers")
    void shouldAskForARegionOfAnySizeWithoutOverflow(final StrategyProvider provider) {
        for (final long granuleBytes : new long[] {1, 256, 1 << 30}) {
            final StrategyOptions options = OPTIONS.withGranuleBytes(granuleBytes);
            for (final long sizeBytes : new long[] {
                1,
                1L << 40,
                BEYOND_BUDDIES * granuleBytes,
                StrategyProvider.MOST_GRANULES * granuleBytes,
                (StrategyProvider.MOST_GRANULES + 1) * granuleBytes,
                (1L << 62) - 1,
                1L << 62,
                Long.MAX_VALUE
            }) {
                for (final long alignmentBytes : new long[] {1, 1 << 20, 1L << 61, 1L << 62}) {
                    final long regionBytes = provider.regionBytesFor(sizeBytes, alignmentBytes, options);

                    assertTrue(regionBytes >= sizeBytes);
                    assertTrue(regionBytes == Long.MAX_VALUE || regionBytes % granuleBytes == 0);
                    assertTrue(
                            regionBytes == Long.MAX_VALUE
                                    || regionBytes / granuleBytes <= StrategyProvider.MOST_GRANULES,
                            () -> regionBytes + " bytes for " + sizeBytes);
                }
            }
            assertEquals(Long.MAX_VALUE, provider.regionBytesFor(Long.MAX_VALUE, 1, options));
        }
    }
}
