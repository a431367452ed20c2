package io.outboard.bench;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.HandleStrategy;
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
 * random ones. {@code docs/strategies.md} has the bounds.
 */
class WorstCaseTest {

    /** The most records that an operation of an O(1) strategy touches where there is room, as in BoundedCostTest. */
    private static final int MOST_RECORDS = 32;

    /** The most of these that aren't the hash table's. */
    private static final int MOST_BY_HANDLE = 16;

    /** The most free blocks that an allocation looks at in addition in a region that is nearly full. */
    private static final int MOST_SEARCHED = 64;

    /** The most records that splits, merges and steps from the root touch together at each level of a buddy system. */
    private static final int RECORDS_A_LEVEL = 4;

    /** The most records of chunks that an operation of a hybrid array list shifts, splits and merges. */
    private static final int MOST_MOVED = 1000;

    /** The least blocks of a chunk, on average; each has a record, its header. */
    private static final int CHUNK_BLOCKS = 192;

    /** The sizes of blocks, and the words of a bitmap, in a record. */
    private static final int SIZES_IN_A_RECORD = 8;

    private static final int GRANULES_IN_A_RECORD = 256;

    /** The most records of a bitmap that an operation on a block of less than 2^17 granules writes. */
    private static final int MOST_OF_BITMAP = 32;

    @ParameterizedTest
    @CsvSource({
        "tlsf,           fragmenting,  170000",
        "tlsf,           sawtooth,      60000",
        "tlsf,           two-sizes,     60000",
        "tlsf,           list-borders,  60000",
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

    /** By handle nothing is looked up, so this bound holds for whatever the hash table does. */
    @ParameterizedTest
    @CsvSource({"tlsf, sawtooth", "tlsf, list-borders", "segregated-fit, sawtooth", "segregated-fit, list-borders"})
    void shouldTouchFewerRecordsByHandle(final String strategy, final String profile) {
        final Trace trace = Profiles.named(profile, 60_000);

        final Touches touches = touches(strategy, trace, trace.regionBytes(), true);

        assertTrue(touches.allocate > 2 && touches.allocate <= MOST_BY_HANDLE, touches::toString);
        assertTrue(touches.free > 2 && touches.free <= MOST_BY_HANDLE, touches::toString);
    }

    /** At worst, all blocks are free but those that separate them. */
    @ParameterizedTest
    @CsvSource({"hal-best-fit", "hal-first-fit", "hal-next-fit"})
    void shouldTouchARecordForEightFreeBlocksAndAFewChunks(final String strategy) {
        final Trace trace = Profiles.named("two-sizes", 32_000);

        final Touches full = touches(strategy, trace, wholeGranules(trace.peakLiveBytes() * 9 / 10));

        final int blocks = 2 * trace.slots();
        final int most = MOST_MOVED + blocks / CHUNK_BLOCKS;
        assertTrue(full.refused > 0 && full.allocate <= most + blocks / SIZES_IN_A_RECORD, full::toString);
        assertTrue(full.free > 2 && full.free <= most, full::toString);
    }

    @ParameterizedTest
    @CsvSource({"list-borders, 8000", "sawtooth, 20000"})
    void shouldTouchTheBitsOfTheRegionAtMost(final String profile, final int operations) {
        final Trace trace = Profiles.named(profile, operations);
        final long regionBytes = wholeGranules(trace.peakLiveBytes() * 9 / 10);

        final Touches full = touches("bitmask", trace, regionBytes);

        final long granules = regionBytes / StrategyOptions.DEFAULTS.granuleBytes();
        assertTrue(
                full.refused > 0 && full.allocate <= MOST_OF_BITMAP + granules / GRANULES_IN_A_RECORD, full::toString);
        assertTrue(full.free > 2 && full.free <= MOST_OF_BITMAP, full::toString);
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
    @CsvSource({"tlsf", "segregated-fit", "pooled"})
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
        return touches(strategy, trace, regionBytes, false);
    }

    private static Touches touches(
            final String strategy, final Trace trace, final long regionBytes, final boolean byHandle) {
        @SuppressWarnings("unchecked")
        final BiFunction<String, long[][], int[]> workload =
                (BiFunction<String, long[][], int[]>) new TouchedRecords().newInstance(Workload.class);
        final int[] result = workload.apply(strategy, new long[][] {
            trace.operations(), {trace.slots(), regionBytes, byHandle ? 1 : 0}
        });
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
        public int[] apply(final String name, final long[][] operationsThenSlotsRegionBytesAndByHandle) {
            final long[] how = operationsThenSlotsRegionBytesAndByHandle[1];
            final long[] blocks = new long[(int) how[0]];
            final Strategy strategy =
                    Strategies.named(name).create(VirtualMemorySource.region(how[1]), StrategyOptions.DEFAULTS);
            final HandleStrategy handles = how[2] == 0 ? null : (HandleStrategy) strategy;
            int allocate = 0;
            int free = 0;
            int refused = 0;
            for (final long operation : operationsThenSlotsRegionBytesAndByHandle[0]) {
                final int slot = Trace.slot(operation);
                final long bytes = Trace.bytes(operation);
                final long block = blocks[slot];
                if (!Trace.isFree(operation)) {
                    TouchedRecords.start();
                    final long taken = handles == null ? strategy.allocate(bytes) : handles.allocateByHandle(bytes);
                    allocate = Math.max(allocate, TouchedRecords.stop());
                    blocks[slot] = taken;
                    refused += taken == Strategy.NO_SPACE ? 1 : 0;
                } else if (block != Strategy.NO_SPACE) {
                    TouchedRecords.start();
                    if (handles == null) {
                        strategy.free(block);
                    } else {
                        handles.freeByHandle(block);
                    }
                    free = Math.max(free, TouchedRecords.stop());
                }
            }
            return new int[] {allocate, free, refused};
        }
    }
}
