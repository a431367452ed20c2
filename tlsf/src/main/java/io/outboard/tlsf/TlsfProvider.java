package io.outboard.tlsf;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;

/** Makes {@link TlsfStrategy} under the name {@code tlsf}. Safe for any number of threads. */
public final class TlsfProvider implements StrategyProvider {

    /** For {@link java.util.ServiceLoader}. */
    public TlsfProvider() {}

    @Override
    public String name() {
        return "tlsf";
    }

    @Override
    public String description() {
        return "two-level segregated fit through a hash table: allocate and free in O(1); Bell et al. 2024, V-B";
    }

    @Override
    public boolean canRetireFree() {
        return true;
    }

    @Override
    public Strategy create(final Region region, final StrategyOptions options) {
        return new TlsfStrategy(region, options);
    }
}
