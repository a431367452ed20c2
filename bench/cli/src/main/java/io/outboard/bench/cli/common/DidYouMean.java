package io.outboard.bench.cli.common;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.UnmatchedArgumentException;

/** This class suggests names to a user who typed a name that doesn't exist. Safe for any number of threads. */
public final class DidYouMean {

    /** The number of letters that may be wrong, missing, superfluous or swapped with the next letter. */
    private static final int MOST_SLIPS = 2;

    private DidYouMean() {}

    /**
     * Suggests the names that are most similar to what was typed.
     *
     * @param typed what the user typed, which is none of the names
     * @param names all names that exist
     * @return the end of an error message; empty if nothing is similar
     */
    public static String of(final String typed, final Collection<String> names) {
        final List<String> nearest = new ArrayList<>();
        // In a short word fewer letters may differ, or nearly any name would be similar.
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
     * Suggests an option or a command.
     *
     * @param unmatched picocli's report of an unknown argument
     * @return the end of an error message; empty if nothing is similar
     */
    public static String of(final UnmatchedArgumentException unmatched) {
        final String typed = unmatched.getUnmatched().get(0);
        final CommandSpec spec = unmatched.getCommandLine().getCommandSpec();
        return typed.startsWith("-")
                ? of(typed.replaceFirst("=.*", ""), spec.optionsMap().keySet())
                : of(typed, spec.subcommands().keySet());
    }

    /** Returns the Damerau-Levenshtein distance of two words, in the form in which no letter is changed twice. */
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
