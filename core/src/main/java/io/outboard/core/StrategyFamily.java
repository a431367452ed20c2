package io.outboard.core;

import java.util.Objects;
import java.util.function.Function;

/**
 * A family has the strategies that must be told something: {@link Strategies#named} takes the name, a colon and what
 * the strategy must be told, such as {@code planned:step.plan}. They aren't among {@link Strategies#all}. Safe for any
 * number of threads, if the maker is.
 *
 * @param name lower-case words joined by hyphens, that no strategy has
 * @param parameter what is behind the colon, as help shows it, such as {@code FILE}
 * @param description one line: structure, cost, source
 * @param maker makes a provider of what is behind the colon; throws {@link IllegalArgumentException} if that is wrong
 */
public record StrategyFamily(
        String name, String parameter, String description, Function<String, StrategyProvider> maker) {

    /**
     * Checks that nothing is missing.
     *
     * @param name as above
     * @param parameter as above
     * @param description as above
     * @param maker as above
     */
    public StrategyFamily {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(parameter, "parameter");
        Objects.requireNonNull(description, "description");
        Objects.requireNonNull(maker, "maker");
    }

    /**
     * Tells what users type.
     *
     * @return name and parameter, such as {@code planned:FILE}
     */
    public String form() {
        return name + ":" + parameter;
    }
}
