package io.outboard.bench.cli.isolated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.measurement.StrategyBench.Smallest;
import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.Strategies;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.core.VirtualMemorySource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SmallestRegionTest {

    private static final long GRANULE = StrategyOptions.DEFAULTS.granuleBytes();

    private final StrategyOptions options = StrategyOptions.DEFAULTS.withMaxBlocks(4096);

    /**
     * The parallel search finds what a sequential one finds, above 1.25 times the peak (segregated-fit) and below
     * (tlsf).
     */
    @ParameterizedTest
    @CsvSource({"tlsf, paper", "tlsf, large", "segregated-fit, paper"})
    void shouldFindWhatAPlainWalkFinds(final String name, final String profile) {
        final StrategyProvider provider = Strategies.named(name);
        final Trace trace = Profiles.named(profile, 20_000);

        final Smallest found = new SmallestRegion(provider, options, trace).find(region -> {});

        assertEquals(new Smallest(plainWalk(provider, trace), true), found);
    }

    /** The answer must be the largest region that a sequential search over the same sizes finds. */
    @Tag("thorough")
    @ParameterizedTest
    @CsvSource({"tlsf, paper", "hal-best-fit, large", "segregated-fit, paper"})
    void shouldFindTheLastThatRefuses(final String name, final String profile) {
        final StrategyProvider provider = Strategies.named(name);
        final Trace trace = Profiles.named(profile, 20_000);
        final SmallestRegion regions = new SmallestRegion(provider, options, trace);
        final long served = regions.find(region -> {}).regionBytes();
        final long step = (trace.peakLiveBytes() / 400) & -GRANULE;
        final long most = Math.max((long) (1.5 * trace.peakLiveBytes()), served + served / 20) & -GRANULE;
        long expected = most;
        while (expected > served && serves(provider, trace, expected)) {
            expected -= step;
        }

        final long found = regions.lastRefused(served, region -> {});

        assertFalse(serves(provider, trace, found));
        if (expected > served) {
            assertEquals(expected, found);
        } else {
            assertTrue(found < served && served - found <= step, found + " of " + served);
        }
    }

    @Test
    void shouldSayWhenNoRegionUpToTheMostServes() {
        final Trace trace = Profiles.named("paper", 20_000);

        final Smallest found = new SmallestRegion(Strategies.named("tlsf"), options, trace, 1.05).find(region -> {});

        assertFalse(found.serves());
        assertTrue(found.regionBytes() <= 1.05 * trace.peakLiveBytes() + GRANULE * trace.peakLiveBlocks());
        assertTrue(found.regionBytes() > 1.045 * trace.peakLiveBytes());
    }

    @Test
    void shouldTellWhichRegionsItTries() {
        final List<String> heard = new ArrayList<>();

        new SmallestRegion(Strategies.named("tlsf"), options, Profiles.named("paper", 20_000)).find(heard::add);

        assertTrue(heard.size() > 10, heard::toString);
        assertTrue(heard.get(0).matches("smallest region, 1 of at most [0-9]+: 1\\.0000"), heard.get(0));
        final List<String> regions =
                heard.stream().map(text -> text.replaceFirst(".*: ", "")).toList();
        assertEquals(regions.stream().sorted().toList(), regions);
    }

    /**
     * Some strategies serve three granules by a block of four, so they need a larger region than the peak of live
     * bytes.
     */
    @Test
    void shouldServeAStrategyThatRoundsUp() {
        final long[] operations = new long[64];
        for (int i = 0; i < operations.length; i++) {
            operations[i] = Trace.allocation(i, 3 * GRANULE);
        }
        final Trace trace = new Trace("threes", operations.length, 1 << 20, operations);

        for (final StrategyProvider provider : Strategies.all()) {
            final Smallest found = new SmallestRegion(provider, options, trace).find(region -> {});

            assertTrue(found.serves(), provider.name());
            assertTrue(found.regionBytes() >= trace.peakLiveBytes(), provider.name());
            assertTrue(found.regionBytes() <= 2 * trace.peakLiveBytes(), provider.name());
        }
    }

    private boolean serves(final StrategyProvider provider, final Trace trace, final long bytes) {
        return Replay.isServed(
                StrategyTarget.over(provider.create(VirtualMemorySource.region(bytes), options), trace.slots()),
                trace.operations());
    }

    private long plainWalk(final StrategyProvider provider, final Trace trace) {
        long live = 0;
        long bytes = 0;
        for (final long operation : trace.operations()) {
            final long rounded = (Trace.bytes(operation) + GRANULE - 1) & -GRANULE;
            live += Trace.isFree(operation) ? -rounded : rounded;
            bytes = Math.max(bytes, live);
        }
        while (!serves(provider, trace, bytes)) {
            final int steps = bytes < 1.25 * trace.peakLiveBytes() ? 1600 : 400;
            bytes += (trace.peakLiveBytes() / steps) & -GRANULE;
        }
        return bytes;
    }
}
