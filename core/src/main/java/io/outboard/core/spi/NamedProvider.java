package io.outboard.core.spi;

import io.outboard.core.Region;
import io.outboard.core.Strategy;
import io.outboard.core.StrategyOptions;
import io.outboard.core.StrategyProvider;
import java.util.Objects;
import java.util.function.BiFunction;

/**
 * This provider is made of what it answers, so that a {@link io.outboard.core.StrategyModule} is a list. A strategy
 * that can't serve a request from every region of its size overrides {@link #regionBytesFor}.
 *
 * <p>Thread-safety: safe for any number of threads, if the constructor that it is given is.
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
