package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyFamily;
import io.outboard.core.StrategyModule;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import io.outboard.core.spi.NamedProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiFunction;

/**
 * This class names the strategies of this module: TLSF, segregated fit, buddies, and slabs over TLSF. Safe for any
 * number of threads.
 */
public final class TlsfStrategies implements StrategyModule {

    /** Makes the module's list for {@link java.util.ServiceLoader}. */
    public TlsfStrategies() {}

    @Override
    public List<StrategyProvider> strategies() {
        return List.of(
                new NamedProvider(
                        "tlsf",
                        "two-level segregated fit through a hash table: allocate and free in O(1); "
                                + "Bell et al. 2024, V-B",
                        TlsfStrategy::new),
                new NamedProvider(
                        "segregated-fit",
                        "lists by power of two through a hash table: allocate and free in O(1); Bell et al. 2024, V-A",
                        SegregatedFitStrategy::new),
                new PaperSegregatedFit(),
                new NamedProvider(
                        "pooled",
                        "object pools for sizes up to a page, tlsf for the rest: allocate and free in O(1); "
                                + "Bell et al. 2024, V-C",
                        (region, options) -> new PooledStrategy(new TlsfStrategy(region, options))),
                new Buddies(
                        "buddy-binary",
                        "buddies of power-of-two sizes: allocate and free in O(log region); Knowlton 1965, "
                                + "Bell et al. 2024, II-C",
                        BinaryBuddyStrategy::new,
                        BinaryBuddyStrategy.CLASSES),
                new Buddies(
                        "buddy-fibonacci",
                        "buddies of Fibonacci sizes: allocate and free in O(log region); Hirschberg 1973, "
                                + "Bell et al. 2024, II-C",
                        FibonacciBuddyStrategy::new,
                        FibonacciBuddyStrategy.CLASSES),
                new Buddies(
                        "buddy-double",
                        "two systems of binary buddies, of sizes 2^k and 3 * 2^k: allocate and free in O(log region); "
                                + "Wise 1978, Bell et al. 2024, II-C",
                        DoubleBuddyStrategy::new,
                        DoubleBuddyStrategy.CLASSES));
    }

    @Override
    public List<StrategyFamily> families() {
        return List.of(new StrategyFamily(
                "planned",
                "FILE",
                "tlsf that gives each request its place in a plan, until one deviates: allocate and free in O(1)",
                TlsfStrategies::planned));
    }

    /** Reads the plan once, whatever number of regions there are. */
    private static StrategyProvider planned(final String file) {
        final Plan plan;
        try {
            plan = Plan.read(Path.of(file));
        } catch (final IOException e) {
            throw new IllegalArgumentException(
                    "strategy=planned:" + file + " must name a plan that can be read: " + e, e);
        }
        return new NamedProvider(
                "planned",
                "tlsf that follows " + plan,
                (region, options) -> new PlannedStrategy(region, options, plan));
    }

    /** A free block serves only requests of its power of two, rounded down, and of less. */
    private static final class PaperSegregatedFit extends NamedProvider {

        PaperSegregatedFit() {
            super(
                    "segregated-fit-paper",
                    "segregated-fit that takes only blocks of lists in which all fit: allocate and free in O(1); "
                            + "Bell et al. 2024, V-A, as printed",
                    PaperSegregatedFitStrategy::new);
        }

        @Override
        public long regionBytesFor(final long sizeBytes, final long alignmentBytes, final StrategyOptions options) {
            final long granules = super.regionBytesFor(sizeBytes, alignmentBytes, options) / options.granuleBytes();
            if (granules > (MOST_GRANULES + 1) / 2) {
                return Long.MAX_VALUE;
            }
            return Long.highestOneBit(2 * granules - 1) * options.granuleBytes();
        }
    }

    /** A region holds one block of a class only if it is as large as the class. */
    private static final class Buddies extends NamedProvider {

        private final BuddyClasses classes;

        Buddies(
                final String name,
                final String description,
                final BiFunction<Region, StrategyOptions, Strategy> constructor,
                final BuddyClasses classes) {
            super(name, description, constructor);
            this.classes = classes;
        }

        /**
         * A block comes from the smallest root that suffices, and roots are smaller towards the end; Fibonacci parts
         * are, too.
         */
        @Override
        public boolean placesLow() {
            return false;
        }

        @Override
        public long regionBytesFor(final long sizeBytes, final long alignmentBytes, final StrategyOptions options) {
            final long leastBytes = super.regionBytesFor(sizeBytes, alignmentBytes, options);
            return classes.regionBytesFor(leastBytes, options.granuleBytes());
        }
    }
}
