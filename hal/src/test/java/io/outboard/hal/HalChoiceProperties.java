package io.outboard.hal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.outboard.core.Region;
import io.outboard.core.SeedFromSystemProperties;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.RandomDistribution;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.PropagationMode;

/**
 * Each strategy picks the block that its definition names, found in a plain list of the free blocks before the call.
 */
@AddLifecycleHook(value = SeedFromSystemProperties.class, propagateTo = PropagationMode.ALL_DESCENDANTS)
class HalChoiceProperties {

    private static final long BASE = (1L << 40) + 3;
    private static final long REGION_GRANULES = 4000;
    private static final StrategyOptions OPTIONS = new StrategyOptions(1, 4096);
    private static final Region MANY_GRANULES = new Region(BASE, 40_000);

    /** The options have enough blocks: each has at least a granule, and an allocation needs room for two more. */
    private static final StrategyOptions MANY_BLOCKS = new StrategyOptions(1, 40_002);

    @Property(tries = 300, edgeCases = EdgeCasesMode.NONE)
    void shouldChooseTheFirstFit(@ForAll("operations") final List<Operation> operations) {
        final Run run = new Run(new HalFirstFitStrategy(new Region(BASE, REGION_GRANULES), OPTIONS));
        operations.forEach(operation -> run.apply(operation, Stream::findFirst));
    }

    @Property(tries = 300, edgeCases = EdgeCasesMode.NONE)
    void shouldChooseTheNextFit(@ForAll("operations") final List<Operation> operations) {
        final Run run = new Run(new HalNextFitStrategy(new Region(BASE, REGION_GRANULES), OPTIONS));
        operations.forEach(operation -> run.apply(
                operation, fitting -> fitting.min(Comparator.comparing((Range block) -> block.end() <= run.rover))));
    }

    @Property(tries = 300, edgeCases = EdgeCasesMode.NONE)
    void shouldChooseTheBestFit(@ForAll("operations") final List<Operation> operations) {
        final Run run = new Run(new HalBestFitStrategy(new Region(BASE, REGION_GRANULES), OPTIONS));
        operations.forEach(
                operation -> run.apply(operation, fitting -> fitting.min(Comparator.comparing(Range::size))));
    }

    /** The free blocks fill several chunks, some of which hold nothing that fits. */
    @Property(tries = 3, edgeCases = EdgeCasesMode.NONE)
    void shouldChooseAmongManyChunks(@ForAll final long seed) {
        final Choice first = Stream::findFirst;
        final Choice best = fitting -> fitting.min(Comparator.comparing(Range::size));
        final Random random = new Random(seed);
        chooseAmongMany(new HalFirstFitStrategy(MANY_GRANULES, MANY_BLOCKS), random, run -> first);
        chooseAmongMany(new HalBestFitStrategy(MANY_GRANULES, MANY_BLOCKS), random, run -> best);
        chooseAmongMany(
                new HalNextFitStrategy(MANY_GRANULES, MANY_BLOCKS),
                random,
                run -> fitting -> fitting.min(Comparator.comparing((Range block) -> block.end() <= run.rover)));
    }

    /** With this seed, there were more than 4,096 blocks. */
    @Example
    void shouldChooseAmongMoreBlocksThanMostSeedsMake() {
        shouldChooseAmongManyChunks(112);
    }

    private static void chooseAmongMany(
            final Strategy strategy, final Random random, final Function<Run, Choice> choices) {
        final Run run = new Run(strategy);
        final Choice choice = choices.apply(run);
        long address = strategy.allocate(1);
        while (address != Strategy.NO_SPACE) {
            run.live.add(address);
            run.rover = address + strategy.sizeOf(address);
            // Sizes grow with the address, roughly, so that chunks differ in what they hold.
            address = strategy.allocate(1 + random.nextInt(1 + run.live.size() / 100));
        }
        for (int i = 0; i < run.live.size(); i++) {
            strategy.free(run.live.remove(i));
        }
        for (int i = 0; i < 1000; i++) {
            final int size = 1 + random.nextInt(1 + random.nextInt(30));
            final Kind kind = random.nextInt(3) == 0 ? Kind.FREE : Kind.ALLOCATE;
            run.apply(new Operation(kind, random.nextInt(1 << 20), size, random.nextInt(8) == 0 ? 2 : 0), choice);
        }
    }

    @Provide
    Arbitrary<List<Operation>> operations() {
        return Combinators.combine(
                        Arbitraries.of(
                                Kind.ALLOCATE,
                                Kind.ALLOCATE,
                                Kind.ALLOCATE,
                                Kind.FREE,
                                Kind.FREE,
                                Kind.TRIM,
                                Kind.EXTEND),
                        Arbitraries.integers().between(0, 1000).withDistribution(RandomDistribution.uniform()),
                        Arbitraries.oneOf(
                                Arbitraries.integers().between(1, 10),
                                Arbitraries.integers().between(1, 100)),
                        Arbitraries.of(0, 0, 0, 1, 3, 5))
                .as(Operation::new)
                .list()
                .ofMaxSize(400)
                .withSizeDistribution(RandomDistribution.uniform());
    }

    enum Kind {
        ALLOCATE,
        FREE,
        TRIM,
        EXTEND
    }

    record Operation(Kind kind, int pick, int size, int alignmentLog2) {}

    record Range(long start, long size) {

        long end() {
            return start + size;
        }

        long aligned(final long alignment) {
            return -Math.floorDiv(-start, alignment) * alignment;
        }

        boolean holds(final long wanted, final long alignment) {
            return aligned(alignment) + wanted <= end();
        }
    }

    /** A choice picks one of the blocks that fit, given in order of address. */
    private interface Choice {
        Optional<Range> of(Stream<Range> fitting);
    }

    private static final class Run {

        private final Strategy strategy;
        private final List<Long> live = new ArrayList<>();
        private long rover = BASE;

        Run(final Strategy strategy) {
            this.strategy = strategy;
        }

        void apply(final Operation operation, final Choice choice) {
            if (operation.kind == Kind.ALLOCATE) {
                allocate(operation.size, 1L << operation.alignmentLog2, choice);
            } else if (!live.isEmpty()) {
                final long address = live.get(operation.pick % live.size());
                final long size = strategy.sizeOf(address);
                switch (operation.kind) {
                    case TRIM -> strategy.trim(address, Math.min(size, operation.size));
                    case EXTEND -> strategy.extend(address, size + operation.size);
                    default -> {
                        strategy.free(address);
                        live.remove(address);
                    }
                }
            }
        }

        private void allocate(final long size, final long alignment, final Choice choice) {
            final List<Range> free = new ArrayList<>();
            strategy.forEachBlock((start, sizeBytes, isFree) -> {
                if (isFree) {
                    free.add(new Range(start, sizeBytes));
                }
            });
            rover = live.isEmpty() ? BASE : rover;
            final long expected = choice.of(free.stream().filter(block -> block.holds(size, alignment)))
                    .map(block -> block.aligned(alignment))
                    .orElse(Strategy.NO_SPACE);

            final long address = strategy.allocate(size, alignment);

            assertEquals(expected, address);
            if (address != Strategy.NO_SPACE) {
                live.add(address);
                rover = address + size;
            }
        }
    }
}
