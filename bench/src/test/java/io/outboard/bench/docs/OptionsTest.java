package io.outboard.bench.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.OutboardOption;
import io.outboard.cuda.OutboardOptions;
import io.outboard.pool.ReusePolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Tests that the table of options in docs/drop-in.md is that of OutboardOptions, and that every property in a page
 * exists.
 */
class OptionsTest {

    /** Options of the agent that set no property. */
    private static final Set<String> OF_AGENT = Set.of("report", "redirect", "foreign");

    private static final String PAGE = "docs/drop-in.md";
    private static final Pattern TABLE =
            Pattern.compile("^\\| property \\| default \\| \\|\n(?:\\|.*\n)+", Pattern.MULTILINE);
    private static final Pattern LITERAL = Pattern.compile("\"(outboard(?:\\.\\w+)+)\"");
    private static final Pattern NAMED = Pattern.compile("(?:^|[^\\w./])(?:-D)?(outboard\\.[a-z]\\w*(?:\\.\\w+)*)=?");
    private static final Pattern AGENT = Pattern.compile("-javaagent:\\S*?([\\w.-]+\\.jar)(?:=(\\S+))?");

    /** With {@code -Doutboard.docs.update=true}, the test first writes the table into the page. */
    @Test
    void shouldHaveTheTableOfOptions() throws IOException {
        final String table = "| property | default | |\n|---|---|---|\n"
                + OutboardOptions.all().stream().map(OptionsTest::row).collect(Collectors.joining());
        if (Boolean.getBoolean("outboard.docs.update")) {
            final String page = Page.read(PAGE).text();
            Files.writeString(
                    Page.PROJECT.resolve(PAGE), TABLE.matcher(page).replaceFirst(Matcher.quoteReplacement(table)));
        }

        final List<String> tables = TABLE.matcher(Page.read(PAGE).text())
                .results()
                .map(MatchResult::group)
                .toList();
        assertEquals(List.of(table), tables, "repeat with -Doutboard.docs.update=true");
    }

    private static String row(final OutboardOption<?> option) {
        final String standard = option.defaultText() == null ? "not set" : "`" + option.defaultText() + "`";
        return "| `" + option.property() + "` | " + standard + " | " + option.description() + " |\n";
    }

    @Test
    void shouldBeReadBySomebody() {
        for (final OutboardOption<?> option : OutboardOptions.all()) {
            final String name = option.property();
            if (name.equals("outboard.strategy")) {
                assertEquals("?", with(name, "?", OutboardOptions::ofProperties).strategy());
            } else if (name.equals("outboard.record")) {
                final OutboardOptions named = with(name, "?", OutboardOptions::ofProperties);
                assertEquals(Path.of("?"), named.record());
            } else {
                final Exception refused = assertThrows(
                        IllegalArgumentException.class, () -> with(name, "?", OutboardOptions::ofProperties));
                assertTrue(String.valueOf(refused.getMessage()).startsWith(name + "=?"), refused::toString);
            }
        }
    }

    @Test
    void shouldNameEachReusePolicy() {
        final String row = OutboardOptions.all().stream()
                .filter(option -> option.name().equals("reuse"))
                .map(OutboardOption::description)
                .findFirst()
                .orElseThrow();
        for (final ReusePolicy policy : ReusePolicy.values()) {
            final String name = policy.name().toLowerCase(Locale.ROOT).replace('_', '-');
            assertTrue(row.contains("`" + name + "`"), name);
        }
    }

    @Test
    void shouldNameNoOtherProperty() throws IOException {
        final Set<String> known = OutboardOptions.all().stream()
                .map(OutboardOption::property)
                .collect(Collectors.toCollection(TreeSet::new));
        try (Stream<Path> files = Files.walk(Page.PROJECT)) {
            files.map(file -> Page.PROJECT.relativize(file).toString().replace('\\', '/'))
                    .filter(name -> name.matches(".*/src/(main|test)/java/.*\\.java"))
                    .forEach(name -> known.addAll(literals(name)));
        }
        for (final String pom : List.of("pom.xml", "bench/jmh/pom.xml")) {
            known.addAll(matches(Pattern.compile("\\$\\{(outboard\\.\\w+)}|<(outboard\\.\\w+)>"), pom));
        }
        final List<String> unknown = new ArrayList<>();
        for (final Page page : Page.all()) {
            Stream.concat(page.commandLines().stream(), page.inlineCode().stream())
                    .flatMap(code -> NAMED.matcher(code).results())
                    .map(found -> found.group(1))
                    .filter(name -> !known.contains(name))
                    .forEach(name -> unknown.add(page.name() + ": " + name));
        }

        assertEquals(List.of(), unknown);
    }

    @Test
    void shouldStartTheAgentAsItIsBuilt() {
        final List<String> names =
                OutboardOptions.all().stream().map(OutboardOption::name).toList();
        final List<String> wrong = new ArrayList<>();
        int count = 0;
        for (final Page page : Page.all()) {
            for (final MatchResult agent : AGENT.matcher(page.text()).results().toList()) {
                count++;
                if (!agent.group(1).equals("outboard-agent.jar")) {
                    wrong.add(page.name() + ": " + agent.group());
                }
                Stream.of((agent.group(2) == null ? "report" : agent.group(2)).split(","))
                        .map(option -> option.replaceFirst("=.*", ""))
                        .filter(option -> !OF_AGENT.contains(option) && !names.contains(option))
                        .forEach(option -> wrong.add(page.name() + ": " + agent.group()));
            }
        }

        assertEquals(List.of(), wrong);
        assertTrue(count >= 4, "count=" + count);
    }

    private static Set<String> literals(final String file) {
        return matches(LITERAL, file);
    }

    private static Set<String> matches(final Pattern pattern, final String file) {
        return pattern.matcher(Page.read(file).text())
                .results()
                .map(found -> found.group(1) == null ? found.group(2) : found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static OutboardOptions with(
            final String property, final String value, final Supplier<OutboardOptions> action) {
        final String before = System.getProperty(property);
        System.setProperty(property, value);
        try {
            return action.get();
        } finally {
            if (before == null) {
                System.clearProperty(property);
            } else {
                System.setProperty(property, before);
            }
        }
    }
}
