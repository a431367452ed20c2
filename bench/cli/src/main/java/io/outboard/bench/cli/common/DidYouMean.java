package io.outboard.bench.cli.common;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.UnmatchedArgumentException;

/** What somebody may have meant who typed something that doesn't exist. Safe for any number of threads. */
public final class DidYouMean {

    /** Letters that are wrong, missing, too many or swapped with the next. */
    private static final int MOST_SLIPS = 2;

    private DidYouMean() {}

    /**
     * For a name.
     *
     * @param typed what is none of the names
     * @param names those that there are
     * @return the end of an error message; empty if nothing is similar
     */
    public static String of(final String typed, final Collection<String> names) {
        final List<String> nearest = new ArrayList<>();
        // Of a short word hardly anything would be left.
        int least = Math.min(MOST_SLIPS, typed.replace("-", "").length() / 2);
        for (final String name : names) {
            final int slips = slips(typed, name);
            if (slips < least) {
                nearest.clear();
                least = slips;
            }
            if (slips == least) {
                nearest.add(name);
            }
        }
        return nearest.isEmpty() ? "" : "; did you mean " + String.join(" or ", nearest) + "?";
    }

    /**
     * For an option or a command.
     *
     * @param unmatched what picocli says of it
     * @return the end of an error message; empty if nothing is similar
     */
    public static String of(final UnmatchedArgumentException unmatched) {
        final String typed = unmatched.getUnmatched().get(0);
        final CommandSpec spec = unmatched.getCommandLine().getCommandSpec();
        return typed.startsWith("-")
                ? of(typed.replaceFirst("=.*", ""), spec.optionsMap().keySet())
                : of(typed, spec.subcommands().keySet());
    }

    /** The distance of Damerau and Levenshtein between two words, of which no letter is changed twice. */
    private static int slips(final String first, final String second) {
        final int[][] slips = new int[first.length() + 1][second.length() + 1];
        for (int i = 0; i <= first.length(); i++) {
            for (int j = 0; j <= second.length(); j++) {
                if (i == 0 || j == 0) {
                    slips[i][j] = i + j;
                    continue;
                }
                final boolean equal = first.charAt(i - 1) == second.charAt(j - 1);
                final int changed = slips[i - 1][j - 1] + (equal ? 0 : 1);
                slips[i][j] = Math.min(changed, 1 + Math.min(slips[i - 1][j], slips[i][j - 1]));
                if (i > 1
                        && j > 1
                        && first.charAt(i - 1) == second.charAt(j - 2)
                        && first.charAt(i - 2) == second.charAt(j - 1)) {
                    slips[i][j] = Math.min(slips[i][j], slips[i - 2][j - 2] + 1);
                }
            }
        }
        return slips[first.length()][second.length()];
    }
}
