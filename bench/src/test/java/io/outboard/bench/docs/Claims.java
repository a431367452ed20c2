package io.outboard.bench.docs;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The claims are read from a file; its head describes its syntax.
 *
 * @param files names and the paths that they stand for
 * @param list claims, in the order of the file
 */
record Claims(Map<String, String> files, List<Claim> list) {

    static Claims parse(final String text) {
        return new Parser().parse(text);
    }

    Set<String> pages() {
        final Set<String> pages = new TreeSet<>();
        list.forEach(claim -> pages.add(claim.page()));
        return pages;
    }

    private static final class Parser {

        private final Map<String, String> files = new LinkedHashMap<>();
        private final List<Claim> claims = new ArrayList<>();
        private String page = "";
        private String variable = "";
        private List<String> values = List.of("");
        private String says = "";
        private int saysLine;
        private final List<String> figures = new ArrayList<>();
        private final List<String> conditions = new ArrayList<>();

        Claims parse(final String text) {
            int line = 0;
            for (final String raw : text.split("\n", -1)) {
                line++;
                final String content = raw.strip();
                if (!content.isEmpty() && !content.startsWith("#")) {
                    read(line, content);
                }
            }
            end();
            return new Claims(files, claims);
        }

        private void read(final int line, final String content) {
            final int blank = content.indexOf(' ');
            final String word = blank < 0 ? content : content.substring(0, blank);
            final String rest = blank < 0 ? "" : content.substring(blank + 1).strip();
            switch (word) {
                case "file":
                    files.put(
                            rest.substring(0, rest.indexOf(' ')),
                            rest.substring(rest.indexOf(' ') + 1).strip());
                    break;
                case "page":
                    end();
                    page = rest;
                    break;
                case "each":
                    end();
                    variable = "$" + rest.substring(0, rest.indexOf(':'));
                    values = List.of(
                            rest.substring(rest.indexOf(':') + 1).strip().split(",\\s*"));
                    break;
                case "says":
                    end();
                    says = rest;
                    saysLine = line;
                    break;
                case "=":
                    figures.add(rest);
                    break;
                case "holds":
                    conditions.add(rest);
                    break;
                default:
                    throw new IllegalArgumentException("claims, line " + line + ": word=" + word
                            + " must be one of: file, page, each, says, =, holds");
            }
        }

        private void end() {
            if (says.isEmpty()) {
                return;
            }
            for (final String value : values) {
                claims.add(new Claim(
                        saysLine,
                        page,
                        says.replace(variable.isEmpty() ? "\0" : variable, value),
                        filledIn(figures, value),
                        filledIn(conditions, value)));
            }
            says = "";
            variable = "";
            values = List.of("");
            figures.clear();
            conditions.clear();
        }

        private List<String> filledIn(final List<String> templates, final String value) {
            return variable.isEmpty()
                    ? List.copyOf(templates)
                    : templates.stream()
                            .map(text -> text.replace(variable, value))
                            .toList();
        }
    }
}
