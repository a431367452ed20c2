package io.outboard.core.spi;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import java.util.Objects;
import java.util.function.BiFunction;

/**
 * A named provider is made of a name, a description and a constructor, so that a {@code StrategyModule} merely lists
 * its providers.
 */
public class NamedProvider implements StrategyProvider {

    private final String name;
    private final String description;
    private final BiFunction<Region, StrategyOptions, Strategy> constructor;

    /**
     * Makes a provider.
     *
     * @param name lower-case words joined by hyphens, as {@link #name}
     * @param description one line: structure, cost, source
     * @param constructor makes a strategy, see {@link #create}
     */
    public NamedProvider(
            final String name,
            final String description,
            final BiFunction<Region, StrategyOptions, Strategy> constructor) {
        this.name = Objects.requireNonNull(name, "name");
        this.description = Objects.requireNonNull(description, "description");
        this.constructor = Objects.requireNonNull(constructor, "constructor");
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final String description() {
        return description;
    }

    @Override
    public final Strategy create(final Region region, final StrategyOptions options) {
        return constructor.apply(region, options);
    }
}
