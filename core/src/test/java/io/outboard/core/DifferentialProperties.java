package io.outboard.core;

import io.outboard.core.StrategyModel.Operation;
import java.util.List;
import java.util.function.LongBinaryOperator;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;

/**
 * The same random operations run on every strategy. After each operation, the strategy agrees with the model of its own
 * live blocks. A subclass names the strategies, in a module that sees them all. {@link StrategyModelProperties} says
 * how to set the seed.
 */
@AddLifecycleHook(value = SeedFromSystemProperties.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
public abstract class DifferentialProperties {

    private static final int MAX_BLOCKS = 1024;

    /**
     * A subject is a strategy and what the contract leaves to it.
     *
     * @param provider the strategy's provider
     * @param blockBytes as {@link StrategyModelProperties#blockBytes}
     * @param coalesces as {@link StrategyModelProperties#coalesces}
     * @param searches as {@link StrategyModelProperties#searches}
     * @param mayTakeLarger as {@link StrategyModelProperties#mayTakeLarger}
     */
    public record Subject(
            StrategyProvider provider,
            LongBinaryOperator blockBytes,
            boolean coalesces,
            boolean searches,
            boolean mayTakeLarger) {}

    /**
     * Returns the strategies to compare.
     *
     * @param region the region that each of them divides
     * @param options granule and table sizes of each
     * @return a subject for each strategy
     */
    protected abstract List<Subject> subjects(Region region, StrategyOptions options);

    @Property(tries = 300, edgeCases = EdgeCasesMode.NONE)
    void shouldKeepTheContractWhicheverStrategyItIs(
            @ForAll("regions") final Region region, @ForAll("operations") final List<Operation> operations) {
        final StrategyOptions options = StrategyOptions.DEFAULTS.withMaxBlocks(MAX_BLOCKS);
        for (final Subject subject : subjects(region, options)) {
            final StrategyModel model = new StrategyModel(
                    subject.provider.create(region, options),
                    subject.blockBytes,
                    subject.coalesces,
                    subject.searches,
                    subject.mayTakeLarger);
            int step = 0;
            for (final Operation operation : operations) {
                try {
                    model.apply(operation);
                    model.check();
                } catch (final AssertionError | RuntimeException failure) {
                    throw new AssertionError(
                            subject.provider.name() + ", step " + step + ", " + operation + ": " + failure.getMessage(),
                            failure);
                }
                step++;
            }
            try {
                model.freeAll();
            } catch (final AssertionError | RuntimeException failure) {
                throw new AssertionError(subject.provider.name() + ", freeing all: " + failure.getMessage(), failure);
            }
        }
    }

    @Provide
    Arbitrary<List<Operation>> operations() {
        return StrategyModelProperties.anyOperations();
    }

    /**
     * Returns regions of half a dozen granules to a few hundred thousand, which start at a granule and end anywhere.
     */
    @Provide
    Arbitrary<Region> regions() {
        final long granuleBytes = StrategyOptions.DEFAULTS.granuleBytes();
        final Arbitrary<Long> sizes = Arbitraries.oneOf(
                Arbitraries.longs().between(6 * granuleBytes, 100 * granuleBytes),
                Arbitraries.longs().between(100 * granuleBytes, granuleBytes << 18));
        return Combinators.combine(Arbitraries.longs().between(0, 40), sizes)
                .as((firstGranule, sizeBytes) -> new Region((1L << 40) + firstGranule * granuleBytes, sizeBytes));
    }
}
