package io.outboard.bench.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.cuda.OutboardOptions;
import io.outboard.pool.ReusePolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table of options in docs/drop-in.md against what reads them, and every property that a page names. */
class OptionsTest {

    private static final Pattern ROW =
            Pattern.compile("^\\| `(outboard\\.\\w+)` \\| (`[^`]*`|not set) \\| (.*) \\|$", Pattern.MULTILINE);
    private static final Pattern LITERAL = Pattern.compile("\"(outboard(?:\\.\\w+)+)\"");
    private static final Pattern NAMED = Pattern.compile("(?:^|[^\\w./])(?:-D)?(outboard\\.[a-z]\\w*(?:\\.\\w+)*)=?");
    private static final Pattern AGENT = Pattern.compile("-javaagent:\\S*?([\\w.-]+\\.jar)(?:=(\\S+))?");

    private final Map<String, String> defaults = new TreeMap<>();

    OptionsTest() {
        ROW.matcher(Page.read("docs/drop-in.md").text())
                .results()
                .forEach(row -> defaults.put(row.group(1), row.group(2).replace("`", "")));
    }

    @Test
    void shouldHaveEachPropertyThatIsRead() {
        assertEquals(
                literals("cuda-backend/src/main/java/io/outboard/cuda/OutboardProperties.java"), defaults.keySet());
    }

    @Test
    void shouldHaveEachOptionOfTheAgent() {
        final String source = Page.read("cuda-backend/agent/src/main/java/io/outboard/cuda/agent/AgentOptions.java")
                .text();
        final Set<String> options = new TreeSet<>();
        defaults.keySet().forEach(name -> options.add(name.substring(name.indexOf('.') + 1)));

        final String list =
                source.substring(source.indexOf("List.of("), source.indexOf(");", source.indexOf("List.of(")));
        assertEquals(
                options,
                Pattern.compile("\"(\\w+)\"")
                        .matcher(list)
                        .results()
                        .map(word -> word.group(1))
                        .collect(Collectors.toCollection(TreeSet::new)));
    }

    @Test
    void shouldSayTheDefaults() {
        final OutboardOptions unset = OutboardOptions.ofProperties();

        assertEquals(
                List.of(
                        "outboard.dumpFolder",
                        "outboard.record",
                        "outboard.service",
                        "outboard.serviceName",
                        "outboard.slack"),
                unsetOnes());
        assertNull(unset.dumpFolder());
        assertNull(unset.service());
        assertNull(unset.serviceName());
        assertNull(unset.record());
        assertNull(unset.slackBytes());
        defaults.keySet().stream().filter(name -> !unsetOnes().contains(name)).forEach(name -> {
            final String value = String.valueOf(defaults.get(name));
            assertEquals(unset, with(name, value, OutboardOptions::ofProperties), () -> name + "=" + value);
        });
    }

    private List<String> unsetOnes() {
        return defaults.keySet().stream()
                .filter(name -> "not set".equals(defaults.get(name)))
                .toList();
    }

    @Test
    void shouldBeReadBySomebody() {
        for (final String name : defaults.keySet()) {
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
        final String row = ROW.matcher(Page.read("docs/drop-in.md").text())
                .results()
                .filter(found -> found.group(1).equals("outboard.reuse"))
                .map(found -> found.group(3))
                .findFirst()
                .orElseThrow();
        for (final ReusePolicy policy : ReusePolicy.values()) {
            final String name = policy.name().toLowerCase(Locale.ROOT).replace('_', '-');
            assertTrue(row.contains("`" + name + "`"), name);
        }
    }

    @Test
    void shouldNameNoOtherProperty() throws IOException {
        final Set<String> known = new TreeSet<>();
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
                        .filter(option -> !option.equals("report") && !defaults.containsKey("outboard." + option))
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
