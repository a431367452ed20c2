package io.outboard.cuda.agent;

import io.outboard.core.Strategies;
import io.outboard.cuda.OutboardOption;
import io.outboard.cuda.OutboardOptions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The options stand after {@code -javaagent:outboard-agent.jar=}.
 *
 * @param values by name, of those that set a property
 * @param redirect the names of the program's own bindings
 * @param foreign whether to redirect handles of native functions
 * @param report whether to print at exit what was saved
 */
record AgentOptions(Map<String, String> values, List<String> redirect, boolean foreign, boolean report) {

    private static final String REDIRECT = "redirect";
    private static final String FOREIGN = "foreign";
    private static final String REPORT = "report";
    private static final List<String> WITHOUT_VALUE = List.of(FOREIGN, REPORT);
    private static final String PREFIX = "outboard.";
    private static final List<String> WITH_VALUE = Stream.concat(
                    OutboardOptions.all().stream().map(OutboardOption::name), Stream.of(REDIRECT))
            .toList();

    /**
     * Splits the text. Values are checked by {@link #apply}.
     *
     * @throws IllegalArgumentException if an option is unknown, comes twice or lacks its value, or a quotation mark
     *     isn't closed
     */
    static AgentOptions parse(final @Nullable String text) {
        final Map<String, String> values = new LinkedHashMap<>();
        final Set<String> flags = new HashSet<>();
        for (final String option : text == null || text.isEmpty() ? List.<String>of() : split(text)) {
            final int sign = option.indexOf('=');
            final String name = sign < 0 ? option : option.substring(0, sign);
            if (WITHOUT_VALUE.contains(option)) {
                flags.add(option);
            } else if (WITHOUT_VALUE.contains(name)) {
                throw new IllegalArgumentException(option + " must have no value");
            } else if (!WITH_VALUE.contains(name)) {
                throw new IllegalArgumentException("option=" + name + " must be one of: "
                        + String.join(", ", WITH_VALUE) + ", " + String.join(", ", WITHOUT_VALUE));
            } else if (sign < 0) {
                throw new IllegalArgumentException("option=" + name + " must have a value: " + name + "=...");
            } else if (values.put(name, option.substring(sign + 1)) != null) {
                throw new IllegalArgumentException("option=" + name + " must be given once");
            }
        }
        final String redirect = values.remove(REDIRECT);
        return new AgentOptions(
                Map.copyOf(values),
                redirect == null ? List.of() : List.of(redirect.split(":", -1)),
                flags.contains(FOREIGN),
                flags.contains(REPORT));
    }

    /**
     * Splits a text at commas outside of quotation marks. The marks are left out; two marks inside a quotation are one.
     */
    private static List<String> split(final String text) {
        final List<String> options = new ArrayList<>();
        final StringBuilder option = new StringBuilder();
        boolean quoted = false;
        for (int i = 0; i < text.length(); i++) {
            final char next = text.charAt(i);
            if (next == ',' && !quoted) {
                options.add(option.toString());
                option.setLength(0);
            } else if (next != '"') {
                option.append(next);
            } else if (quoted && text.startsWith("\"\"", i)) {
                option.append(next);
                i++;
            } else {
                quoted = !quoted;
            }
        }
        options.add(option.toString());
        if (quoted) {
            throw new IllegalArgumentException("option=" + options.get(options.size() - 1)
                    + " must end with the quotation mark that it begins with");
        }
        return options;
    }

    /**
     * Sets the system properties that the pools read.
     *
     * @throws IllegalArgumentException if a value is wrong, of an option or of a property that was set in another way
     */
    void apply() {
        values.forEach((name, value) -> System.setProperty(PREFIX + name, value));
        try {
            Strategies.named(OutboardOptions.ofProperties().strategy());
        } catch (final IllegalArgumentException e) {
            throw new IllegalArgumentException(inOurWords(String.valueOf(e.getMessage())), e);
        }
    }

    /** Replaces the property's name in a message by the option's, if the user gave the option. */
    private String inOurWords(final String message) {
        for (final String name : values.keySet()) {
            if (message.startsWith(PREFIX + name + "=")) {
                return message.substring(PREFIX.length());
            }
        }
        return message;
    }
}
