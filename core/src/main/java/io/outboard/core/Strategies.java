package io.outboard.core;

import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.stream.Collectors;

/**
 * The strategies on the class path or module path, by name: those of every {@link StrategyModule}.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: each call asks {@link ServiceLoader} anew; no state is kept.
 */
public final class Strategies {

    private Strategies() {}

    /**
     * Every strategy.
     *
     * @return providers, sorted by name
     */
    public static List<StrategyProvider> all() {
        return ServiceLoader.load(StrategyModule.class, Strategies.class.getClassLoader()).stream()
                .flatMap(module -> module.get().strategies().stream())
                .sorted(Comparator.comparing(StrategyProvider::name))
                .toList();
    }

    /**
     * One strategy.
     *
     * @param name such as {@code tlsf}
     * @return its provider
     * @throws IllegalArgumentException if none of that name is found; the message lists those that are
     */
    public static StrategyProvider named(final String name) {
        final List<StrategyProvider> all = all();
        for (final StrategyProvider provider : all) {
            if (provider.name().equals(name)) {
                return provider;
            }
        }
        final String names = all.stream().map(StrategyProvider::name).collect(Collectors.joining(", "));
        throw new IllegalArgumentException("strategy=" + name + " must be one of: " + names);
    }
}
