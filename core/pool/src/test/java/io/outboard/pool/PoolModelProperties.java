package io.outboard.pool;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.SeedFromSystemProperties;
import io.outboard.pool.PoolModel.HazardError;
import io.outboard.pool.PoolModel.Kind;
import io.outboard.pool.PoolModel.Operation;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.Tuple;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;

/**
 * Random programs launch, free and allocate on several streams, with each policy, over whole regions and over a region
 * that grows in place. As with the model properties of strategies, seed and number of tries can be set: {@code
 * -Dtest=PoolModelProperties -Doutboard.seed=SEED -Doutboard.long=500}.
 */
@AddLifecycleHook(value = SeedFromSystemProperties.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
class PoolModelProperties {

    private static final int MAX_STEPS = 150;

    @Property(tries = 200, edgeCases = EdgeCasesMode.NONE)
    void shouldHandOutNothingThatIsInUseUnderStrict(@ForAll("programs") final List<Operation> program) {
        run(ReusePolicy.STRICT, program);
    }

    @Property(tries = 200, edgeCases = EdgeCasesMode.NONE)
    void shouldHandOutNothingThatIsInUseUnderTracked(@ForAll("programs") final List<Operation> program) {
        run(ReusePolicy.TRACKED, program);
    }

    @Property(tries = 200, edgeCases = EdgeCasesMode.NONE)
    void shouldHandOutNothingThatIsInUseUnderStreamOrdered(@ForAll("programs") final List<Operation> program) {
        run(ReusePolicy.STREAM_ORDERED, program);
    }

    /** This example shows that the check finds faults: the policy leaves order to the caller, which keeps none. */
    @Example
    void shouldHandOutWhatIsInUseUnderImmediate() {
        final long violations = programs()
                .sampleStream()
                .limit(100)
                .filter(PoolModelProperties::violates)
                .count();

        assertTrue(violations > 20, () -> violations + " of 100 programs");
    }

    private static boolean violates(final List<Operation> program) {
        try {
            run(ReusePolicy.IMMEDIATE, program);
            return false;
        } catch (final HazardError e) {
            return true;
        }
    }

    private static void run(final ReusePolicy policy, final List<Operation> program) {
        run(new PoolModel(policy, new FailingMemorySource(1L << 40)), program);
        run(new PoolModel(policy, new FailingMemorySource(1L << 40).growingInPlace()), program);
    }

    private static void run(final PoolModel model, final List<Operation> program) {
        for (final Operation operation : program) {
            model.apply(operation);
            model.check();
        }
        model.end();
    }

    @Provide
    Arbitrary<List<Operation>> programs() {
        final Arbitrary<Kind> kinds = Arbitraries.frequency(
                Tuple.of(6, Kind.LAUNCH),
                Tuple.of(6, Kind.FINISH),
                Tuple.of(6, Kind.ALLOCATE),
                Tuple.of(1, Kind.ALLOCATE_ALIGNED),
                Tuple.of(8, Kind.ALLOCATE_ASYNC),
                Tuple.of(4, Kind.FREE),
                Tuple.of(8, Kind.FREE_ASYNC),
                Tuple.of(1, Kind.FREE_TWICE),
                Tuple.of(2, Kind.EXTEND),
                Tuple.of(1, Kind.TRIM),
                Tuple.of(1, Kind.TRIM_TO),
                Tuple.of(1, Kind.MANY_BLOCKS),
                Tuple.of(1, Kind.CAPTURE),
                Tuple.of(1, Kind.END_STREAM));
        return Combinators.combine(kinds, uniform(PoolModel.STREAMS - 1), uniform(1 << 20), uniform(21), uniform(255))
                .as(Operation::new)
                .list()
                .ofMaxSize(MAX_STEPS)
                .withSizeDistribution(RandomDistribution.uniform());
    }

    private static Arbitrary<Integer> uniform(final int max) {
        return Arbitraries.integers().between(0, max).withDistribution(RandomDistribution.uniform());
    }
}
