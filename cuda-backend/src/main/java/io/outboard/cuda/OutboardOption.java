package io.outboard.cuda;

import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * An option is a row of the table of options, {@link OutboardOptions#all}. Properties, the agent's arguments and the
 * page of options are made from the table. Immutable, so safe for any number of threads.
 *
 * @param <T> what the option's text stands for
 */
public final class OutboardOption<T> {

    private final String name;
    private final @Nullable String defaultText;
    private final Parser<T> parser;
    private final String description;

    /**
     * A parser reads the text of a property, or throws {@link IllegalArgumentException}, which names property, text and
     * rule.
     */
    @FunctionalInterface
    interface Parser<T> {

        T parse(String property, String text);

        /**
         * Makes a parser that refuses a text if {@code read} returns null or throws {@link IllegalArgumentException},
         * or if {@code fits} doesn't hold for the value.
         */
        static <T> Parser<T> of(final Function<String, @Nullable T> read, final Predicate<T> fits, final String rule) {
            return (property, text) -> {
                IllegalArgumentException cause = null;
                try {
                    final T value = read.apply(text);
                    if (value != null && fits.test(value)) {
                        return value;
                    }
                } catch (final IllegalArgumentException e) {
                    cause = e;
                }
                throw new IllegalArgumentException(property + "=" + text + " " + rule, cause);
            };
        }
    }

    OutboardOption(
            final String name, final @Nullable String defaultText, final Parser<T> parser, final String description) {
        this.name = name;
        this.defaultText = defaultText;
        this.parser = parser;
        this.description = description;
    }

    /** {@return what the agent calls the option, such as {@code firstRegion}} */
    public String name() {
        return name;
    }

    /** {@return the system property that sets the option, such as {@code outboard.firstRegion}} */
    public String property() {
        return "outboard." + name;
    }

    /** {@return the text that stands for the default, null for an option that isn't set by default} */
    public @Nullable String defaultText() {
        return defaultText;
    }

    /** {@return what the option means, in Markdown, with links of {@code docs/drop-in.md}} */
    public String description() {
        return description;
    }

    T parse(final String text) {
        return parser.parse(property(), text);
    }

    /** {@return the name} */
    @Override
    public String toString() {
        return name;
    }
}
