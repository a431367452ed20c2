package io.outboard.bench.cli.common;

import io.outboard.core.Strategies;
import io.outboard.core.StrategyProvider;
import java.util.Iterator;
import java.util.LinkedHashSet;
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
     * @return names, each once
     * @throws WrongUseException if a strategy doesn't exist
     */
    public static List<String> of(final List<String> names) {
        final List<String> all = all();
        if (names.equals(ALL)) {
            return all;
        }
        names.forEach(StrategyNames::check);
        return List.copyOf(new LinkedHashSet<>(names));
    }

    /**
     * Checks the name that a user typed where one strategy is wanted.
     *
     * @param name of a strategy
     * @throws WrongUseException if the strategy doesn't exist
     */
    public static void check(final String name) {
        final List<String> all = all();
        if (Strategies.families().stream().anyMatch(family -> name.startsWith(family.name() + ":"))) {
            try {
                Strategies.named(name);
            } catch (final IllegalArgumentException e) {
                final String message = String.valueOf(e.getMessage());
                throw new WrongUseException((message.startsWith("strategy=")
                                ? "--"
                                : "--strategy=" + name.substring(0, name.indexOf(':') + 1))
                        + message);
            }
        } else if (!all.contains(name)) {
            throw new WrongUseException("--strategy=" + name + " must be one of: " + String.join(", ", all)
                    + Strategies.families().stream()
                            .map(family -> ", " + family.form())
                            .collect(Collectors.joining())
                    + DidYouMean.of(name, all));
        }
    }
}
