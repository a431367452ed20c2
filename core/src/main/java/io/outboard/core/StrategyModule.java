package io.outboard.core;

import java.util.List;

/**
 * This interface names the strategies of one module. A module with strategies has one class of this kind, public and
 * with a public constructor without parameters, and names that class to {@link java.util.ServiceLoader}: in {@code
 * META-INF/services/io.outboard.core.StrategyModule} for the class path, and after {@code provides} in its {@code
 * module-info} for the module path. Users ask {@link Strategies}.
 */
public interface StrategyModule {

    /**
     * Lists what makes the strategies, such as {@link io.outboard.core.spi.NamedProvider}s.
     *
     * @return one for each, in any order, of names that no other module has
     */
    List<StrategyProvider> strategies();

    /**
     * Lists strategies that must be told something.
     *
     * @return one for each kind, in any order, of names that no other module has
     */
    default List<StrategyFamily> families() {
        return List.of();
    }
}
