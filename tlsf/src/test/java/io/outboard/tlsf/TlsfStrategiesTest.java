package io.outboard.tlsf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.PartRetiringStrategy;
import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TlsfStrategiesTest {

    private static final int GRANULE = 4096;
    private static final Region REGION = new Region(1L << 40, 1 << 20);

    @TempDir
    private Path folder;

    @Test
    void shouldBeFoundByTheServiceLoader() {
        assertEquals(
                List.of(
                        "buddy-binary",
                        "buddy-double",
                        "buddy-fibonacci",
                        "pooled",
                        "segregated-fit",
                        "segregated-fit-paper",
                        "tlsf"),
                Strategies.all().stream().map(StrategyProvider::name).toList());
    }

    @Test
    void shouldBeListedWhenAnUnknownNameIsAskedFor() {
        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> Strategies.named("tslf"));

        assertEquals(
                "strategy=tslf must be one of: buddy-binary, buddy-double, buddy-fibonacci, pooled, "
                        + "segregated-fit, segregated-fit-paper, tlsf",
                thrown.getMessage());
    }

    @ParameterizedTest
    @CsvSource({
        "tlsf, io.outboard.tlsf.TlsfStrategy, 3, true",
        "segregated-fit, io.outboard.tlsf.SegregatedFitStrategy, 3, true",
        "segregated-fit-paper, io.outboard.tlsf.PaperSegregatedFitStrategy, 3, true",
        "pooled, io.outboard.tlsf.PooledStrategy, 3, true",
        "buddy-binary, io.outboard.tlsf.BinaryBuddyStrategy, 4, false",
        "buddy-double, io.outboard.tlsf.DoubleBuddyStrategy, 3, false",
        "buddy-fibonacci, io.outboard.tlsf.FibonacciBuddyStrategy, 3, false"
    })
    void shouldMakeAStrategyByName(
            final String name, final Class<?> type, final long blockGranules, final boolean retiresParts) {
        final StrategyProvider provider = Strategies.named(name);

        final Strategy strategy = provider.create(REGION, StrategyOptions.DEFAULTS.withGranuleBytes(GRANULE));

        assertInstanceOf(type, strategy);
        assertEquals(REGION, strategy.region());
        assertEquals(GRANULE, strategy.granuleBytes());
        assertEquals(blockGranules * GRANULE, strategy.sizeOf(strategy.allocate(3 * GRANULE)));
        assertEquals(retiresParts, strategy instanceof PartRetiringStrategy);
    }

    @Test
    void shouldTakeTlsfForTheStrategyThatIsGoneAndSaySoOnce() {
        final Logger logger = Logger.getLogger("io.outboard.core");
        final List<String> said = new ArrayList<>();
        logger.setFilter(logged -> {
            said.add(logged.getMessage());
            return false;
        });
        try {
            assertEquals("tlsf", Strategies.named("tlsf-frugal").name());
            assertEquals("tlsf", Strategies.named("tlsf-frugal").name());
        } finally {
            logger.setFilter(null);
        }

        assertEquals(List.of("the strategy tlsf-frugal is gone, tlsf is taken instead"), said);
    }

    @Test
    void shouldMakePlannedOfAPlan() throws IOException {
        final Path file = folder.resolve("step.plan");
        Plan.write(GRANULE, 1 << 20, List.of(new Plan.Block(5000, 3 * GRANULE, 0, 1)), file);
        final StrategyProvider provider = Strategies.named("planned:" + file);

        final Strategy strategy = provider.create(REGION, StrategyOptions.DEFAULTS.withGranuleBytes(GRANULE));

        assertEquals("planned", provider.name());
        assertEquals(REGION.address() + 3 * GRANULE, strategy.allocate(5000));
        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> provider.create(REGION, StrategyOptions.DEFAULTS));
        assertEquals("granuleBytes=256 must be the plan's, 4096", thrown.getMessage());
    }

    @ParameterizedTest
    @CsvSource({
        "planned, 'strategy=planned must be planned:FILE'",
        "planned:, 'strategy=planned: must be planned:FILE'",
        "planned:/none, 'strategy=planned:/none must name a plan that can be read: '",
        "tlsf:x, 'strategy=tlsf:x must be one of: '",
    })
    void shouldSayHowAFamilyIsNamed(final String name, final String message) {
        final IllegalArgumentException thrown =
                assertThrows(IllegalArgumentException.class, () -> Strategies.named(name));

        assertTrue(String.valueOf(thrown.getMessage()).startsWith(message), thrown.getMessage());
    }

    @Test
    void shouldHaveTlsfBehindPooled() {
        final Strategy pooled = Strategies.named("pooled").create(REGION, StrategyOptions.DEFAULTS);
        final Strategy tlsf = Strategies.named("tlsf").create(REGION, StrategyOptions.DEFAULTS);

        for (final long sizeBytes : new long[] {100_000, 5_000, 70_000}) {
            assertEquals(tlsf.allocate(sizeBytes), pooled.allocate(sizeBytes));
        }
    }

    @Test
    void shouldDescribeEachInOneLine() {
        for (final StrategyProvider provider : new TlsfStrategies().strategies()) {
            assertFalse(provider.description().isBlank(), provider.name());
            assertEquals(1, provider.description().lines().count(), provider.name());
            assertTrue(provider.description().contains("Bell et al. 2024"), provider.name());
        }
    }
}
