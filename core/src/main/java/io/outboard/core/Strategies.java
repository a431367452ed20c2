package io.outboard.core;

import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

/**
 * This class finds the strategies on the class path or module path, by name: those of every {@link StrategyModule}.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: each call asks {@link ServiceLoader} anew.
 */
public final class Strategies {

    /** The name of a strategy that is gone: for one release, {@code tlsf} is taken instead. */
    private static final String FRUGAL = "tlsf-frugal";

    private static final AtomicBoolean HAS_TOLD_OF_FRUGAL = new AtomicBoolean();

    private Strategies() {}

    /**
     * Lists every strategy.
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
     * Lists every kind of strategy that must be told something.
     *
     * @return families, sorted by name
     */
    public static List<StrategyFamily> families() {
        return ServiceLoader.load(StrategyModule.class, Strategies.class.getClassLoader()).stream()
                .flatMap(module -> module.get().families().stream())
                .sorted(Comparator.comparing(StrategyFamily::name))
                .toList();
    }

    /**
     * Finds one strategy.
     *
     * @param name such as {@code tlsf}; or of a {@link StrategyFamily}, with what it must be told, such as {@code
     *     planned:step.plan}; for {@code tlsf-frugal}, which is gone, {@code tlsf} is taken, and a warning logged once
     * @return its provider
     * @throws IllegalArgumentException if none of that name is found; the message lists those that are; or if what the
     *     family is told is wrong
     */
    public static StrategyProvider named(final String name) {
        final int colon = name.indexOf(':');
        for (final StrategyFamily family : families()) {
            if (family.name().equals(colon < 0 ? name : name.substring(0, colon))) {
                if (colon < 0 || colon == name.length() - 1) {
                    throw new IllegalArgumentException("strategy=" + name + " must be " + family.form());
                }
                return family.maker().apply(name.substring(colon + 1));
            }
        }
        final List<StrategyProvider> all = all();
        final boolean isFrugal = name.equals(FRUGAL);
        for (final StrategyProvider provider : all) {
            if (provider.name().equals(isFrugal ? "tlsf" : name)) {
                if (isFrugal && !HAS_TOLD_OF_FRUGAL.getAndSet(true)) {
                    System.getLogger("io.outboard.core")
                            .log(
                                    System.Logger.Level.WARNING,
                                    "the strategy tlsf-frugal is gone, tlsf is taken instead");
                }
                return provider;
            }
        }
        final String names = all.stream().map(StrategyProvider::name).collect(Collectors.joining(", "));
        throw new IllegalArgumentException("strategy=" + name + " must be one of: " + names);
    }
}
