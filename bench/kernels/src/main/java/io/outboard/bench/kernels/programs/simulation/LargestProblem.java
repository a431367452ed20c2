package io.outboard.bench.kernels.programs.simulation;

import java.util.function.IntPredicate;

/** The class looks for the largest number that passes: by doubling, then by bisection. */
final class LargestProblem {

    /** The number is found with a precision of one 128th. */
    private static final int PRECISION = 128;

    private LargestProblem() {}

    /**
     * Returns the largest number that passes, if all below it pass too; else one that passes.
     *
     * @param first the first number to try, 1 or more; below it none is tried
     * @param passes whether a number passes
     * @return 0 if the first one doesn't pass
     */
    static int find(final int first, final IntPredicate passes) {
        if (!passes.test(first)) {
            return 0;
        }
        int enough = first;
        while (passes.test(2 * enough)) {
            enough *= 2;
        }
        int tooMuch = 2 * enough;
        while (tooMuch - enough > Math.max(1, enough / PRECISION)) {
            final int middle = (enough + tooMuch) / 2;
            if (passes.test(middle)) {
                enough = middle;
            } else {
                tooMuch = middle;
            }
        }
        return enough;
    }
}
