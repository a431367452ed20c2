package io.outboard.bench.cli.common;

import io.outboard.core.Strategies;
import io.outboard.core.StrategyProvider;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Collectors;

/** This class checks names of strategies as users type them, and lists all names for a shell's completion. */
public final class StrategyNames implements Iterable<String> {

    private static final List<String> ALL = List.of("all");

    /** Picocli calls this constructor. */
    public StrategyNames() {}

    @Override
    public Iterator<String> iterator() {
        return all().iterator();
    }

    private static List<String> all() {
        return Strategies.all().stream().map(StrategyProvider::name).toList();
    }

    /**
     * Checks the names that a user typed.
     *
     * @param names of strategies, or {@code all} alone
     * @return the strategies' names, each once
     * @throws WrongUseException if a strategy doesn't exist
     */
    public static List<String> of(final List<String> names) {
        return names.equals(ALL)
                ? all()
                : names.stream().map(StrategyNames::of).distinct().toList();
    }

    /**
     * Checks the name that a user typed where one strategy is wanted.
     *
     * @param name of a strategy
     * @return the strategy's name, which differs if {@link Strategies#named} takes another strategy instead
     * @throws WrongUseException if the strategy doesn't exist
     */
    public static String of(final String name) {
        final boolean isOfFamily =
                Strategies.families().stream().anyMatch(family -> name.startsWith(family.name() + ":"));
        try {
            final StrategyProvider found = Strategies.named(name);
            return isOfFamily ? name : found.name();
        } catch (final IllegalArgumentException e) {
            if (isOfFamily) {
                final String message = String.valueOf(e.getMessage());
                throw new WrongUseException((message.startsWith("strategy=")
                                ? "--"
                                : "--strategy=" + name.substring(0, name.indexOf(':') + 1))
                        + message);
            }
            final List<String> all = all();
            throw new WrongUseException("--strategy=" + name + " must be one of: " + String.join(", ", all)
                    + Strategies.families().stream()
                            .map(family -> ", " + family.form())
                            .collect(Collectors.joining())
                    + DidYouMean.of(name, all));
        }
    }
}
