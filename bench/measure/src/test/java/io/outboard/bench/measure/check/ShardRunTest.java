package io.outboard.bench.measure.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.HandleStrategy;
import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Shards of correct strategies find nothing, and each fault of a broken strategy is found by the check that looks for
 * this fault.
 */
class ShardRunTest {

    private static final long SEED = 16;

    /** The number of a kind of region that has room for thousands of blocks. */
    private static final long MIDDLING = 5;

    private static final int SHARDS = 3;

    /** Returns the strategies without those that tests add for the command line and the pool, which are incomplete. */
    static List<StrategyProvider> strategies() {
        return Strategies.all().stream()
                .filter(provider -> !provider.name().startsWith("probing"))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("strategies")
    void shouldFindNothingWrongWithAStrategyInAnyKindOfRegion(final StrategyProvider provider) {
        for (int number = 20; number < 28; number++) {
            final ShardResult result = run(provider, SEED, number, 10_000);

            assertNull(result.violation(), () -> result.toString());
            assertTrue(result.operations() >= 10_000, () -> result.toString());
        }
    }

    @Test
    void shouldCheckAllStrategies() {
        assertEquals(11, strategies().size());
    }

    /** Sixteen times the mean size of a block once exceeded a {@code long} of bytes, and so did alignments. */
    @ParameterizedTest
    @ValueSource(longs = {91, 98, 290})
    void shouldAskForNoMoreBytesThanThereAreNumbers(final long number) {
        assertNull(run(Strategies.named("tlsf"), 20_261_124, number, 30_000).violation());
    }

    /** A fault of some calls may show first where a strategy is compared with a new one, so each has a few shards. */
    @ParameterizedTest
    @EnumSource
    void shouldFindEachFault(final Fault fault) {
        final List<String> violations = new ArrayList<>();
        for (long number = MIDDLING; violations.size() < SHARDS; number += Shape.KINDS) {
            final String violation =
                    run(BrokenStrategy.provider(fault), SEED, number, 400_000).violation();
            assertNotNull(violation, "nothing was found in shard " + number);
            violations.add(violation);
        }
        assertTrue(
                violations.stream().anyMatch(violation -> violation.contains(fault.message())), violations::toString);
    }

    /** Readers of results rely on the counts. */
    @ParameterizedTest
    @MethodSource("strategies")
    void shouldNameBlocksByHandleAndTryWrongHandles(final StrategyProvider provider) {
        final boolean hasHandles =
                provider.create(new Region(1 << 20, 1 << 20), StrategyOptions.DEFAULTS) instanceof HandleStrategy;

        final ShardResult result = run(provider, SEED, MIDDLING, 100_000);

        assertEquals(hasHandles, result.byHandle() > result.operations() / 20, () -> result.toString());
        assertEquals(hasHandles, result.wrongHandles() > 50, () -> result.toString());
    }

    @Test
    void shouldDoTheSameForTheSameSeed() {
        final StrategyProvider tlsf = Strategies.named("tlsf");

        final ShardResult first = run(tlsf, SEED, MIDDLING, 20_000);
        final ShardResult second = run(tlsf, SEED, MIDDLING, 20_000);

        assertEquals(first.digest(), second.digest());
        assertEquals(first.operations(), second.operations());
        assertNotEquals(first.digest(), run(tlsf, SEED + 1, MIDDLING, 20_000).digest());
        assertNotEquals(
                first.digest(), run(tlsf, SEED, MIDDLING + Shape.KINDS, 20_000).digest());
    }

    @ParameterizedTest
    @EnumSource(names = {"OVERLAP", "OLD_HANDLE_TAKEN", "HANDLE_AT_ANOTHER_ADDRESS"})
    void shouldFindAFaultAtTheSameOperationAgain(final Fault fault) {
        final StrategyProvider broken = BrokenStrategy.provider(fault);

        final ShardResult first = run(broken, SEED, MIDDLING, 400_000);
        final ShardResult again = run(broken, SEED, MIDDLING, 300_000);

        assertEquals(first.operations(), again.operations());
        assertEquals(first.violation(), again.violation());
    }

    @Test
    void shouldReportEveryOperation() {
        final AtomicLong reported = new AtomicLong();

        final ShardResult result = new ShardRun(Strategies.named("tlsf"), new Shard("tlsf", SEED, MIDDLING, 100_000))
                .run(reported::addAndGet);

        assertEquals(result.operations(), reported.get());
    }

    private static ShardResult run(
            final StrategyProvider provider, final long seed, final long number, final long operations) {
        return new ShardRun(provider, new Shard(provider.name(), seed, number, operations)).run(more -> {});
    }
}
