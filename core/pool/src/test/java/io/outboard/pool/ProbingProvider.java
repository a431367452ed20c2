package io.outboard.pool;

import io.outboard.core.Region;
import io.outboard.core.Strategies;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyModule;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** This provider makes TLSF strategies, and tells a test of each region, or segment, before anybody can find it. */
public final class ProbingProvider implements StrategyProvider, StrategyModule {

    static final String NAME = "probing";

    private static volatile @Nullable Consumer<Region> probe;

    /** Creates a provider, for {@link java.util.ServiceLoader}. */
    public ProbingProvider() {}

    /** Sets who is told of regions from now on, on whichever thread makes a strategy. */
    static void tell(final Consumer<Region> newProbe) {
        probe = newProbe;
    }

    static void tellNobody() {
        probe = null;
    }

    @Override
    public List<StrategyProvider> strategies() {
        return List.of(this);
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "TLSF that tells of its regions, for tests";
    }

    @Override
    public Strategy create(final Region region, final StrategyOptions options) {
        final Strategy strategy = Strategies.named("tlsf").create(region, options);
        final Consumer<Region> told = probe;
        if (told != null) {
            told.accept(region);
        }
        return strategy;
    }

    @Override
    public long regionBytesFor(final long sizeBytes, final long alignmentBytes, final StrategyOptions options) {
        return Strategies.named("tlsf").regionBytesFor(sizeBytes, alignmentBytes, options);
    }
}
