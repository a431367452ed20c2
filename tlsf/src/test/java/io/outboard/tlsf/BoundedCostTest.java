package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.TouchedRecords;
import io.outboard.core.VirtualMemorySource;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.BiFunction;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** O(1) strategies touch no more records with 100,000 live blocks than with 1,000. */
class BoundedCostTest {

    /** The most records that an allocation or a free touches where there is room. */
    private static final int MOST_RECORDS = 32;

    /** The most records in a region that is nearly full, where up to 64 free blocks are searched, too. */
    private static final int MOST_RECORDS_WHEN_FULL = MOST_RECORDS + 64;

    /** The mean size of a block in the workload, in bytes. */
    private static final long MEAN_BYTES = 3 * (256L << 13) / 2 / 13;

    private static final int OPERATIONS = 50_000;

    @ParameterizedTest
    @ValueSource(strings = {"pooled", "segregated-fit", "tlsf"})
    void shouldTouchABoundedNumberOfRecordsHoweverManyBlocksAreLive(final String strategy) {
        final Touches few = touches(strategy, 1_000, 256L << 30);
        final Touches many = touches(strategy, 100_000, 256L << 30);

        assertTrue(few.most > 2 && few.most <= MOST_RECORDS, () -> "1,000 live: " + few);
        assertTrue(many.most <= MOST_RECORDS, () -> "100,000 live: " + many);
        assertTrue(many.mean < few.mean + 2, () -> "1,000 live: " + few + ", 100,000 live: " + many);
    }

    @ParameterizedTest
    @ValueSource(strings = {"pooled", "segregated-fit", "tlsf"})
    void shouldTouchABoundedNumberOfRecordsWhenTheRegionIsNearlyFull(final String strategy) {
        final Touches few = touches(strategy, 1_000, 1_000 * MEAN_BYTES);
        final Touches many = touches(strategy, 100_000, 100_000 * MEAN_BYTES);

        assertTrue(few.refused > 0 && few.most <= MOST_RECORDS_WHEN_FULL, () -> "1,000 live: " + few);
        assertTrue(many.refused > 0 && many.most <= MOST_RECORDS_WHEN_FULL, () -> "100,000 live: " + many);
    }

    private static Touches touches(final String strategy, final int liveBlocks, final long regionBytes) {
        @SuppressWarnings("unchecked")
        final BiFunction<String, long[], double[]> workload =
                (BiFunction<String, long[], double[]>) new TouchedRecords().newInstance(Workload.class);
        final double[] result = workload.apply(strategy, new long[] {liveBlocks, regionBytes});
        return new Touches((int) result[0], result[1], (int) result[2]);
    }

    private record Touches(int most, double mean, int refused) {}

    /**
     * The workload frees and allocates at random, with about half of its slots full. Its class is loaded anew, so calls
     * to it only pass objects of the JDK's classes.
     */
    public static final class Workload implements BiFunction<String, long[], double[]> {

        private final SplittableRandom random = new SplittableRandom(1);
        private int refused;

        @Override
        public double[] apply(final String name, final long[] liveBlocksAndRegionBytes) {
            final int liveBlocks = (int) liveBlocksAndRegionBytes[0];
            final Strategy strategy = Strategies.named(name)
                    .create(VirtualMemorySource.region(liveBlocksAndRegionBytes[1]), StrategyOptions.DEFAULTS);
            final long[] addresses = new long[2 * liveBlocks];
            Arrays.fill(addresses, Strategy.NO_SPACE);
            for (int i = 0; i < liveBlocks; i++) {
                addresses[2 * i] = strategy.allocate(sizeBytes());
            }
            for (int i = 0; i < 2 * liveBlocks; i++) {
                toggle(strategy, addresses);
            }
            // This workload's own array is counted, too: one element, and so one record, for each operation.
            int most = 0;
            long sum = 0;
            for (int i = 0; i < OPERATIONS; i++) {
                TouchedRecords.start();
                toggle(strategy, addresses);
                final int touched = TouchedRecords.stop() - 1;
                most = Math.max(most, touched);
                sum += touched;
            }
            return new double[] {most, (double) sum / OPERATIONS, refused};
        }

        private void toggle(final Strategy strategy, final long[] addresses) {
            final int slot = random.nextInt(addresses.length);
            if (addresses[slot] == Strategy.NO_SPACE) {
                addresses[slot] = strategy.allocate(sizeBytes());
                refused += addresses[slot] == Strategy.NO_SPACE ? 1 : 0;
            } else {
                strategy.free(addresses[slot]);
                addresses[slot] = Strategy.NO_SPACE;
            }
        }

        /** Returns a size from 256 bytes to 2 MiB; each power of two is as likely as any other. */
        private long sizeBytes() {
            final long powerOfTwo = 256L << random.nextInt(13);
            return powerOfTwo + random.nextLong(powerOfTwo);
        }
    }
}
