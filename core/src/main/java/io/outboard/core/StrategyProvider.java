package io.outboard.core;

/** Makes strategies of one kind. Providers are found through {@link java.util.ServiceLoader}; see {@link Strategies}. */
public interface StrategyProvider {

    /**
     * The name that users know the strategy by.
     *
     * @return lower-case words joined by hyphens, such as {@code tlsf}
     */
    String name();

    /**
     * What it is, for a list of strategies.
     *
     * @return one line: structure, cost, source
     */
    String description();

    /**
     * Makes a strategy over one region, all of it free.
     *
     * @param region what to divide
     * @param options granule and table sizes
     * @return a new strategy
     * @throws IllegalArgumentException if the strategy can't serve that region with these options
     */
    Strategy create(Region region, StrategyOptions options);
}
