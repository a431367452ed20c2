package io.outboard.bench.docs;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Compares a page with its claims: each figure with the value of its expression, rounded as the page rounds it. Each
 * figure of the page that has a unit, or stands in a table, must be in a claim.
 */
final class ClaimChecker {

    private static final String NUMBER = "\\d[\\d,]*(?:\\.\\d+)?(?![\\w.]*\\d)";
    private static final String UNIT = "(" + Unit.pattern() + ")(?![\\w/])";

    /** A unit may stand behind the second of two numbers and count for both. */
    private static final Pattern BEHIND =
            Pattern.compile("^(?: (?:to|and|or) " + NUMBER + "|, " + NUMBER + ")?[ ]?" + UNIT);

    private static final Pattern ANY_NUMBER = Pattern.compile("(?<![\\w.^-])" + NUMBER);
    private static final Pattern CODE_OR_TARGET = Pattern.compile("`[^`]*`|]\\([^)]*\\)|<!--.*?-->|https?://\\S+");

    private final Sources sources;
    private final Claims claims;
    private final List<String> problems = new ArrayList<>();

    ClaimChecker(final Sources sources, final Claims claims) {
        this.sources = sources;
        this.claims = claims;
    }

    /** A correction replaces the text at a place of the page by a figure. */
    private record Correction(int start, int end, String figure) {}

    /**
     * Returns what is wrong, one line each; empty if all is well.
     *
     * @param isComplete whether each figure of the page needs a claim
     */
    List<String> problems(final Page page, final boolean isComplete) {
        check(page, isComplete);
        return List.copyOf(problems);
    }

    /** Returns the page with each figure as its file has it. */
    String corrected(final Page page) {
        final StringBuilder text = new StringBuilder(page.text());
        final List<Correction> corrections = check(page, false);
        corrections.sort((one, other) -> other.start() - one.start());
        corrections.forEach(wanted -> text.replace(wanted.start(), wanted.end(), wanted.figure()));
        return text.toString();
    }

    private List<Correction> check(final Page page, final boolean isComplete) {
        problems.clear();
        final FlatText flat = new FlatText(page.prose());
        final BitSet claimed = new BitSet();
        final List<Correction> corrections = new ArrayList<>();
        for (final Claim claim : claims.list()) {
            if (claim.page().equals(page.name())) {
                check(page, flat, claim, claimed, corrections);
            }
        }
        if (isComplete) {
            reportUnclaimed(page, flat, claimed);
        }
        return corrections;
    }

    private void check(
            final Page page,
            final FlatText flat,
            final Claim claim,
            final BitSet claimed,
            final List<Correction> corrections) {
        final String where = "docs/claims.txt:" + claim.line() + ": ";
        final String[] words = claim.says().split("\\{}", -1);
        if (words.length - 1 != claim.figures().size()) {
            problems.add(where + "says has " + (words.length - 1) + " figures, and "
                    + claim.figures().size() + " sources follow");
            return;
        }
        final StringBuilder pattern = new StringBuilder();
        for (int i = 0; i < words.length; i++) {
            pattern.append(i == 0 ? "" : "(?<![\\w.])(" + NUMBER + ")").append(quoted(words[i]));
        }
        final Matcher matcher = Pattern.compile(pattern.toString()).matcher(flat.text());
        if (!matcher.find()) {
            problems.add(where + page.name() + " doesn't say: " + claim.says());
            return;
        }
        for (int i = 1; i <= matcher.groupCount(); i++) {
            claimed.set(matcher.start(i));
            compare(page, flat, claim, matcher, i, corrections);
        }
        if (matcher.find()) {
            problems.add(where + page.name() + " says more than once: " + claim.says());
        }
        for (final String condition : claim.conditions()) {
            checkCondition(where, claim, condition);
        }
    }

    /** Returns a pattern for words as they stand, except that an ellipsis matches anything within a cell of a table. */
    private static String quoted(final String words) {
        return Arrays.stream(words.split("…", -1)).map(Pattern::quote).collect(Collectors.joining("[^|]*?"));
    }

    private void compare(
            final Page page,
            final FlatText flat,
            final Claim claim,
            final Matcher matcher,
            final int group,
            final List<Correction> corrections) {
        final String shown = matcher.group(group);
        final String expression = claim.figures().get(group - 1);
        final double value;
        try {
            value = new Expression(sources, claims.files(), expression).value();
        } catch (final IllegalArgumentException e) {
            problems.add("docs/claims.txt:" + claim.line() + ": " + e.getMessage());
            return;
        }
        final Matcher unit = BEHIND.matcher(flat.text())
                .region(matcher.end(group), flat.text().length());
        final String symbol = unit.lookingAt() ? unit.group(1) : "";
        final String wanted =
                rounded(symbol.isEmpty() ? value : value * Unit.named(symbol).scale(), shown);
        if (!shown.equals(wanted)) {
            final int start = flat.original(matcher.start(group));
            corrections.add(new Correction(start, flat.original(matcher.end(group) - 1) + 1, wanted));
            problems.add(page.name() + ":" + page.lineAt(start) + ": says " + shown + (" " + symbol).stripTrailing()
                    + " where the file says " + wanted + (" " + symbol).stripTrailing() + " (docs/claims.txt:"
                    + claim.line() + ": " + expression + " = " + value + ")");
        }
    }

    private void checkCondition(final String where, final Claim claim, final String condition) {
        final int sign = condition.indexOf(" < ");
        if (sign < 0) {
            problems.add(where + "condition=" + condition + " must have a < between two expressions");
            return;
        }
        try {
            final double less = new Expression(sources, claims.files(), condition.substring(0, sign)).bound();
            final double more = new Expression(sources, claims.files(), condition.substring(sign + 3)).bound();
            if (!(less < more)) {
                problems.add(where + "says: " + claim.says() + ", but of " + condition + " the first is " + less
                        + " and the second " + more);
            }
        } catch (final IllegalArgumentException e) {
            problems.add(where + e.getMessage());
        }
    }

    private void reportUnclaimed(final Page page, final FlatText flat, final BitSet claimed) {
        final StringBuilder text = new StringBuilder(flat.text());
        final Matcher code = CODE_OR_TARGET.matcher(flat.text());
        while (code.find()) {
            text.replace(code.start(), code.end(), " ".repeat(code.end() - code.start()));
        }
        final Matcher number = ANY_NUMBER.matcher(text);
        while (number.find()) {
            final int start = flat.original(number.start());
            final boolean hasUnit =
                    BEHIND.matcher(text).region(number.end(), text.length()).lookingAt();
            if (!claimed.get(number.start()) && (hasUnit || isInTable(page, start))) {
                final int end = Math.min(text.length(), number.end() + 30);
                problems.add(page.name() + ":" + page.lineAt(start) + ": the figure in \""
                        + flat.text().substring(Math.max(0, number.start() - 30), end)
                        + "\" has no claim in docs/claims.txt that names its source");
            }
        }
    }

    private static boolean isInTable(final Page page, final int position) {
        return page.text().charAt(page.text().lastIndexOf('\n', position) + 1) == '|';
    }

    /**
     * Returns a value with as many decimals as {@code shown}, and with commas unless {@code shown} begins with four
     * digits.
     */
    private static String rounded(final double value, final String shown) {
        if (!Double.isFinite(value)) {
            return String.valueOf(value);
        }
        final int decimals = shown.contains(".") ? shown.length() - shown.indexOf('.') - 1 : 0;
        final String commas = shown.matches("\\d{4,}.*") ? "" : ",";
        return String.format(
                Locale.ROOT,
                "%" + commas + "." + decimals + "f",
                new BigDecimal(value).setScale(decimals, RoundingMode.HALF_UP));
    }
}
