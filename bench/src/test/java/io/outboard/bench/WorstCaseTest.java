package io.outboard.bench;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.TouchedRecords;
import io.outboard.core.VirtualMemorySource;
import java.util.function.BiFunction;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Counts the records that an operation touches on the adversarial profiles; BoundedCostTest of {@code tlsf} does so on
 * random ones. Strategies that copy or fill arrays as a whole, the hybrid array lists and the bitmask, are left out,
 * since copies aren't counted.
 */
class WorstCaseTest {

    /** The most records that an operation of an O(1) strategy touches where there is room, as in BoundedCostTest. */
    private static final int MOST_RECORDS = 40;

    /**
     * The most records touched in addition in a region that is nearly full: an allocation looks at up to 64 free
     * blocks, two records each.
     */
    private static final int MOST_SEARCHED = 2 * 64;

    /** The most records that splits, merges and steps from the root touch together at each level of a buddy system. */
    private static final int RECORDS_A_LEVEL = 4;

    @ParameterizedTest
    @CsvSource({
        "tlsf,           fragmenting,  170000",
        "tlsf,           sawtooth,      60000",
        "tlsf,           two-sizes,     60000",
        "tlsf,           list-borders,  60000",
        "tlsf-frugal,    fragmenting,  170000",
        "tlsf-frugal,    sawtooth,      60000",
        "tlsf-frugal,    two-sizes,     60000",
        "tlsf-frugal,    list-borders,  60000",
        "segregated-fit, fragmenting,  170000",
        "segregated-fit, sawtooth,      60000",
        "segregated-fit, two-sizes,     60000",
        "segregated-fit, list-borders,  60000",
        "segregated-fit-paper, fragmenting,  170000",
        "segregated-fit-paper, list-borders,  60000",
        "pooled,         fragmenting,  170000",
        "pooled,         sawtooth,      60000",
        "pooled,         two-sizes,     60000",
        "pooled,         list-borders,  60000"
    })
    void shouldTouchABoundedNumberOfRecordsInConstantTime(
            final String strategy, final String profile, final int operations) {
        final Trace trace = Profiles.named(profile, operations);

        final Touches room = touches(strategy, trace, trace.regionBytes());
        final Touches full = touches(strategy, trace, wholeGranules(trace.peakLiveBytes()));

        assertTrue(room.allocate > 2 && room.allocate <= MOST_RECORDS, () -> "with room: " + room);
        assertTrue(room.free > 2 && room.free <= MOST_RECORDS, () -> "with room: " + room);
        assertTrue(full.refused > 0 && full.allocate <= MOST_RECORDS + MOST_SEARCHED, () -> "full: " + full);
        assertTrue(full.free <= MOST_RECORDS, () -> "full: " + full);
    }

    /** The longest possible list, of blocks too small for the request, is searched up to the bound and no further. */
    @ParameterizedTest
    @CsvSource({"tlsf", "segregated-fit", "pooled"})
    void shouldSearchTheLongListOfFragmentingUpToItsBound(final String strategy) {
        final Trace trace = Profiles.named("fragmenting", 170_000);

        final Touches full = touches(strategy, trace, wholeGranules(trace.peakLiveBytes()));

        assertTrue(full.allocate >= MOST_SEARCHED && full.allocate <= MOST_RECORDS + MOST_SEARCHED, full::toString);
    }

    /** The region divided by the granule has 28 powers of two, as one of two systems has, or 41 Fibonacci numbers. */
    @ParameterizedTest
    @CsvSource({
        "buddy-binary,    28, fragmenting,  170000",
        "buddy-binary,    28, sawtooth,      60000",
        "buddy-binary,    28, two-sizes,     60000",
        "buddy-binary,    28, list-borders,  60000",
        "buddy-binary,    28, equal-hashes,   6000",
        "buddy-double,    28, fragmenting,  170000",
        "buddy-double,    28, list-borders,  60000",
        "buddy-fibonacci, 41, fragmenting,  170000",
        "buddy-fibonacci, 41, sawtooth,      60000",
        "buddy-fibonacci, 41, two-sizes,     60000",
        "buddy-fibonacci, 41, list-borders,  60000",
        "buddy-fibonacci, 41, equal-hashes,   6000"
    })
    void shouldTouchABoundedNumberOfRecordsALevel(
            final String strategy, final int levels, final String profile, final int operations) {
        final Trace trace = Profiles.named(profile, operations);

        final Touches room = touches(strategy, trace, trace.regionBytes());
        final Touches full = touches(strategy, trace, wholeGranules(trace.peakLiveBytes()));

        assertTrue(Math.max(room.allocate, room.free) <= RECORDS_A_LEVEL * levels, () -> "with room: " + room);
        assertTrue(Math.max(full.allocate, full.free) <= RECORDS_A_LEVEL * levels, () -> "full: " + full);
    }

    /**
     * Finding a block by its address is O(1) expected: some blocks may share a slot, but nobody can make a thousand
     * blocks do so without the multiplier that this JVM drew. When the multiplier was the golden ratio's, a free went
     * along a chain of 1024.
     */
    @ParameterizedTest
    @CsvSource({"tlsf", "tlsf-frugal", "segregated-fit", "pooled"})
    void shouldTouchABoundedNumberOfRecordsWhereOffsetsWereChosenToHashAlike(final String strategy) {
        final Trace trace = Profiles.named("equal-hashes", 6_000);

        final Touches touches = touches(strategy, trace, trace.regionBytes());

        assertTrue(touches.free > 2 && touches.free <= MOST_RECORDS, touches::toString);
        assertTrue(touches.allocate > 2 && touches.allocate <= MOST_RECORDS, touches::toString);
    }

    private static long wholeGranules(final long bytes) {
        final long granuleBytes = StrategyOptions.DEFAULTS.granuleBytes();
        return bytes / granuleBytes * granuleBytes;
    }

    private static Touches touches(final String strategy, final Trace trace, final long regionBytes) {
        @SuppressWarnings("unchecked")
        final BiFunction<String, long[][], int[]> workload =
                (BiFunction<String, long[][], int[]>) new TouchedRecords().newInstance(Workload.class);
        final int[] result = workload.apply(strategy, new long[][] {trace.operations(), {trace.slots(), regionBytes}});
        return new Touches(result[0], result[1], result[2]);
    }

    /**
     * The touches are the most records that an allocation touched, and a free; and how many allocations found no
     * memory.
     */
    private record Touches(int allocate, int free, int refused) {}

    /** Does a trace's operations. The class is loaded anew, so only classes of the JDK cross its interface. */
    public static final class Workload implements BiFunction<String, long[][], int[]> {

        @Override
        public int[] apply(final String name, final long[][] operationsThenSlotsAndRegionBytes) {
            final long[] addresses = new long[(int) operationsThenSlotsAndRegionBytes[1][0]];
            final Strategy strategy = Strategies.named(name)
                    .create(
                            VirtualMemorySource.region(operationsThenSlotsAndRegionBytes[1][1]),
                            StrategyOptions.DEFAULTS);
            int allocate = 0;
            int free = 0;
            int refused = 0;
            for (final long operation : operationsThenSlotsAndRegionBytes[0]) {
                final int slot = Trace.slot(operation);
                if (!Trace.isFree(operation)) {
                    TouchedRecords.start();
                    final long address = strategy.allocate(Trace.bytes(operation));
                    allocate = Math.max(allocate, TouchedRecords.stop());
                    addresses[slot] = address;
                    refused += address == Strategy.NO_SPACE ? 1 : 0;
                } else if (addresses[slot] != Strategy.NO_SPACE) {
                    final long address = addresses[slot];
                    TouchedRecords.start();
                    strategy.free(address);
                    free = Math.max(free, TouchedRecords.stop());
                }
            }
            return new int[] {allocate, free, refused};
        }
    }
}
