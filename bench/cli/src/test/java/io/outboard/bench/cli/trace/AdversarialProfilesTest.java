package io.outboard.bench.cli.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.VirtualMemorySource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * These tests check that each profile does what its description says; some of the effects show only once a strategy has
 * placed the blocks.
 */
class AdversarialProfilesTest {

    private static final long GRANULE = StrategyOptions.DEFAULTS.granuleBytes();

    /** The holes are too small for the larger of the two requests, are all in one list, and are as many as possible. */
    @ParameterizedTest
    @ValueSource(strings = {"tlsf", "pooled"})
    void shouldLeaveFiftyThousandHolesInOneList(final String strategy) {
        final Trace trace = Profiles.named("fragmenting", 150_000);

        final List<Long> holes = freeGranules(replayed(strategy, trace));

        // The list has blocks of 1024 to 1055 granules; the rest of the region lies behind the blocks.
        assertTrue(holes.stream().filter(size -> size >= 1024 && size <= 1054).count() >= 49_999, holes.size() + "");
        assertTrue(holes.size() <= 50_010, holes.size() + " free blocks");
        assertTrue(trace.peakLiveBlocks() == 100_000, trace.toString());
    }

    @Test
    void shouldAskForAGranuleLessThanAHoleHasOrMore() {
        final Trace trace = Profiles.named("fragmenting", 200_000);

        final Set<Long> asked = Arrays.stream(trace.operations())
                .skip(150_000)
                .map(operation -> Trace.bytes(operation) / GRANULE)
                .boxed()
                .collect(Collectors.toCollection(TreeSet::new));

        assertEquals(Set.of(1023L, 1055L), asked);
    }

    @Test
    void shouldFallToNearlyNothingAndRiseAgain() {
        final Trace trace = Profiles.named("sawtooth", 200_000);
        long live = 0;
        int blocks = 0;
        int peaks = 0;
        int valleys = 0;

        for (final long operation : trace.operations()) {
            live += Trace.isFree(operation) ? -Trace.bytes(operation) : Trace.bytes(operation);
            blocks += Trace.isFree(operation) ? -1 : 1;
            peaks += blocks == 10_000 ? 1 : 0;
            if (blocks == 16 && Trace.isFree(operation)) {
                valleys++;
                assertTrue(live < trace.peakLiveBytes() / 100, live + " of " + trace.peakLiveBytes());
            }
        }

        assertEquals(10, peaks);
        assertEquals(10, valleys);
        assertEquals(10_000, trace.peakLiveBlocks());
    }

    /** In the same order, a valley's survivors would be at one end, and nothing would prevent merging. */
    @Test
    void shouldEmptyInAnotherOrderThanItFills() {
        final long[] operations = Profiles.named("sawtooth", 20_000).operations();
        int inOrder = 0;

        for (int i = 10_001; i < 19_984; i++) {
            inOrder += Math.abs(Trace.slot(operations[i]) - Trace.slot(operations[i - 1])) == 1 ? 1 : 0;
        }

        assertTrue(inOrder < 100, inOrder + " neighbours");
    }

    @Test
    void shouldAlternateBetweenTwoSizes() {
        final long[] operations = Profiles.named("two-sizes", 110_000).operations();

        for (int i = 30_000; i < operations.length; i++) {
            final int turn = (i - 30_000) / 20_000;
            assertEquals(turn % 2 == 0 ? 1024 : 2047, Trace.bytes(operations[i]) / GRANULE);
            assertEquals((i - 30_000) / 10_000 % 2 == 1, Trace.isFree(operations[i]));
        }
    }

    /**
     * In a turn of the smaller size, half of the holes leave a rest that fits neither size; in a turn of the larger
     * size, half of the holes are too small.
     */
    @ParameterizedTest
    @ValueSource(strings = {"tlsf", "hal-best-fit"})
    void shouldHaveHolesThatFitNeitherOfTwoSizes(final String strategy) {
        final List<Long> smaller = freeGranules(replayed(strategy, Profiles.named("two-sizes", 40_000)));
        final List<Long> larger = freeGranules(replayed(strategy, Profiles.named("two-sizes", 60_000)));

        assertTrue(smaller.stream().filter(size -> size == 1023).count() > 4_800, smaller.size() + " free blocks");
        assertTrue(larger.stream().filter(size -> size == 1024).count() > 4_800, larger.size() + " free blocks");
    }

    @Test
    void shouldHaveTheBordersOfAllListsAndTheirNeighboursForSizes() {
        final Set<Long> borders = new TreeSet<>();
        for (int m = 6; m <= 13; m++) {
            for (int k = 0; k < 32; k++) {
                final long border = (1L << m) + ((long) k << (m - 5));
                borders.addAll(List.of(border - 1, border, border + 1));
            }
        }

        final Set<Long> sizes = Arrays.stream(
                        Profiles.named("list-borders", 100_000).operations())
                .map(operation -> {
                    assertEquals(0, Trace.bytes(operation) % GRANULE);
                    return Trace.bytes(operation) / GRANULE;
                })
                .boxed()
                .collect(Collectors.toCollection(TreeSet::new));

        assertEquals(borders, sizes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tlsf", "segregated-fit", "pooled"})
    void shouldKeepAThousandBlocksAtOffsetsWithOneHash(final String strategy) {
        final Strategy replayed = replayed(strategy, Profiles.named("equal-hashes", 10_000));
        final List<Integer> lowBits = new ArrayList<>();

        replayed.forEachBlock((address, bytes, free) -> {
            if (!free && bytes == 32 * GRANULE) {
                final long start = (address - replayed.region().address()) / GRANULE;
                lowBits.add(AdversarialProfiles.hash(start) & 0x1FFF);
            }
        });

        assertTrue(lowBits.size() >= 1024 && lowBits.size() < 1030, lowBits.size() + " blocks");
        final int first = lowBits.get(0);
        assertTrue(lowBits.stream().filter(bits -> bits == first).count() >= 1024, lowBits.toString());
    }

    private static Strategy replayed(final String name, final Trace trace) {
        final Strategy strategy = Strategies.named(name)
                .create(VirtualMemorySource.region(trace.regionBytes()), StrategyOptions.DEFAULTS);
        final long[] addresses = new long[trace.slots()];
        for (final long operation : trace.operations()) {
            final int slot = Trace.slot(operation);
            if (Trace.isFree(operation)) {
                strategy.free(addresses[slot]);
            } else {
                addresses[slot] = strategy.allocate(Trace.bytes(operation));
                assertTrue(addresses[slot] != Strategy.NO_SPACE, trace.toString());
            }
        }
        return strategy;
    }

    private static List<Long> freeGranules(final Strategy strategy) {
        final List<Long> sizes = new ArrayList<>();
        strategy.forEachBlock((address, bytes, free) -> {
            if (free) {
                sizes.add(bytes / GRANULE);
            }
        });
        return sizes;
    }
}
