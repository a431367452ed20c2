package io.outboard.bench.docs;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An expression says how a figure is computed, read from left to right:
 * {@code [median|least|most|sum] TERM [+|-|*|/ TERM]...}, where a term is a number, {@code FILE key=value ... member},
 * or {@code line FILE "regular expression"}. A term may be many numbers, for example of as many processes; operations
 * pair them. Without one of the words in front there must be one number.
 */
final class Expression {

    private static final Pattern TOKEN = Pattern.compile("(?:[^\\s\"]|\"[^\"]*\")+");
    private static final List<String> OPERATORS = List.of("+", "-", "*", "/");
    private static final List<String> AGGREGATES = List.of("median", "least", "most", "sum");

    private final Sources sources;
    private final Map<String, String> files;
    private final String text;

    /**
     * Reads an expression.
     *
     * @param files the names that stand for files
     */
    Expression(final Sources sources, final Map<String, String> files, final String text) {
        this.sources = sources;
        this.files = files;
        this.text = text;
    }

    /**
     * Returns the value.
     *
     * @throws IllegalArgumentException if the expression can't be read, names no file, or finds nothing or too much
     *     there
     */
    double value() {
        return value(true);
    }

    /** Returns the value as a bound in a comparison, which may be a number alone. */
    double bound() {
        return value(false);
    }

    private double value(final boolean mustNameFile) {
        final List<String> tokens = new ArrayList<>();
        final Matcher matcher = TOKEN.matcher(text);
        while (matcher.find()) {
            tokens.add(matcher.group());
        }
        final String aggregate = AGGREGATES.contains(tokens.get(0)) ? tokens.remove(0) : "";
        double[] value = null;
        String operator = "";
        final List<String> term = new ArrayList<>();
        if (mustNameFile && tokens.stream().allMatch(token -> OPERATORS.contains(token) || isNumber(token))) {
            throw wrong("must name a file");
        }
        tokens.add("/");
        for (final String token : tokens) {
            if (!OPERATORS.contains(token)) {
                term.add(token);
                continue;
            }
            value = value == null ? term(term) : combined(value, operator, term(term));
            operator = token;
            term.clear();
        }
        return aggregated(aggregate, value == null ? new double[0] : value);
    }

    private double[] term(final List<String> tokens) {
        if (tokens.isEmpty()) {
            throw wrong("must have a term on each side of an operator");
        }
        final String first = tokens.get(0);
        if (tokens.size() == 1 && isNumber(first)) {
            return new double[] {Double.parseDouble(first)};
        }
        if (first.equals("line")) {
            if (tokens.size() != 3) {
                throw wrong("must have a file and an expression in quotes behind line");
            }
            return sources.matches(
                    fileOf(tokens.get(1)), Pattern.compile(tokens.get(2).replace("\"", ""), Pattern.MULTILINE));
        }
        final Map<String, String> where = new LinkedHashMap<>();
        for (final String token : tokens.subList(1, tokens.size() - 1)) {
            final int sign = token.indexOf('=');
            if (sign < 0) {
                throw wrong("must have key=value where it has " + token);
            }
            where.put(token.substring(0, sign), token.substring(sign + 1).replace("\"", ""));
        }
        return sources.numbers(fileOf(first), where, tokens.get(tokens.size() - 1));
    }

    private static boolean isNumber(final String token) {
        return token.matches("\\d+(\\.\\d+)?");
    }

    private String fileOf(final String name) {
        final String file = files.get(name);
        if (file == null) {
            throw wrong("must have the name of a file where it has " + name);
        }
        return file;
    }

    private double[] combined(final double[] left, final String operator, final double[] right) {
        if (left.length == 0 || right.length == 0) {
            throw foundNothing();
        }
        if (left.length != right.length && left.length != 1 && right.length != 1) {
            throw wrong("must not pair " + left.length + " numbers with " + right.length);
        }
        final double[] result = new double[Math.max(left.length, right.length)];
        for (int i = 0; i < result.length; i++) {
            final double a = left[left.length == 1 ? 0 : i];
            final double b = right[right.length == 1 ? 0 : i];
            result[i] = switch (operator) {
                case "+" -> a + b;
                case "-" -> a - b;
                case "*" -> a * b;
                default -> a / b;
            };
        }
        return result;
    }

    private double aggregated(final String aggregate, final double[] numbers) {
        if (numbers.length == 0) {
            throw foundNothing();
        }
        final double[] sorted = numbers.clone();
        Arrays.sort(sorted);
        final int middle = sorted.length / 2;
        switch (aggregate) {
            case "least":
                return sorted[0];
            case "most":
                return sorted[sorted.length - 1];
            case "sum":
                return Arrays.stream(numbers).sum();
            case "median":
                return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
            default:
                if (numbers.length > 1) {
                    throw wrong("found " + numbers.length + " numbers, and says neither median, least, most nor sum");
                }
                return numbers[0];
        }
    }

    private IllegalArgumentException foundNothing() {
        return wrong("found nothing in its file");
    }

    private IllegalArgumentException wrong(final String rule) {
        return new IllegalArgumentException("expression=" + text + " " + rule);
    }
}
