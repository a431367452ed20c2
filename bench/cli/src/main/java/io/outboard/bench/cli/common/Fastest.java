package io.outboard.bench.cli.common;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * This class says which of several measured things are the fastest. It compares turn by turn, since turns of the same
 * number were taken one shortly after the other, on a machine that was equally busy. One thing is faster than another
 * if the other takes at least a twentieth more time in most turns; otherwise the difference may be chance, and both are
 * equally fast. Each list of turns has nanoseconds, one number a turn; a list of one number stands for things of which
 * no turns are known.
 */
public final class Fastest {

    /**
     * The factor between times from which on a difference counts. The turns of one strategy differ by some two percent,
     * also beside programs that keep all processors busy.
     */
    private static final double NOTICEABLE = 1.05;

    /** Of so many turns, one may be disturbed. */
    private static final int TURNS_WITH_ONE_DISTURBED = 3;

    private Fastest() {}

    /**
     * Tells whether one thing is faster than another.
     *
     * @param oneNs the turns of the one
     * @param otherNs the turns of the other; if it has more or fewer, the turns that both have are compared
     * @return false if the difference may be chance
     */
    public static boolean isFaster(final List<Double> oneNs, final List<Double> otherNs) {
        final int turns = Math.min(oneNs.size(), otherNs.size());
        int won = 0;
        for (int turn = 0; turn < turns; turn++) {
            final double one = oneNs.get(turn);
            final double other = otherNs.get(turn);
            // Where the clock is coarse, both may be 0.
            won += one < other && NOTICEABLE * one <= other ? 1 : 0;
        }
        return turns > 0 && won >= turns - turns / TURNS_WITH_ONE_DISTURBED;
    }

    /**
     * Finds those that are equally fast, and faster than all others.
     *
     * @param <T> what was measured
     * @param all may be empty
     * @param ns gives the time of one of them; what has none, NaN, is left out
     * @param turnsNs gives its turns
     * @return the one with the shortest time first, and then, in this order, all up to the last of which it isn't shown
     *     that it is slower
     */
    public static <T> List<T> of(
            final Collection<T> all, final ToDoubleFunction<T> ns, final Function<T, List<Double>> turnsNs) {
        final List<T> byTime = all.stream()
                .filter(one -> !Double.isNaN(ns.applyAsDouble(one)))
                .sorted(Comparator.comparingDouble(ns))
                .toList();
        int equal = 0;
        for (int i = 0; i < byTime.size(); i++) {
            if (!isFaster(turnsNs.apply(byTime.get(0)), turnsNs.apply(byTime.get(i)))) {
                equal = i + 1;
            }
        }
        return byTime.subList(0, equal);
    }

    /**
     * Joins names as a sentence does.
     *
     * @param names of at least one thing
     * @return such as {@code tlsf, pooled and bitmask}
     */
    public static String join(final List<String> names) {
        final int last = names.size() - 1;
        return last == 0 ? names.get(0) : String.join(", ", names.subList(0, last)) + " and " + names.get(last);
    }
}
