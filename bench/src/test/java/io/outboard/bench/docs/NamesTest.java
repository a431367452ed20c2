package io.outboard.bench.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.core.Strategies;
import io.outboard.core.StrategyProvider;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests names in code within sentences: classes and their members, files and folders, strategies. */
class NamesTest {

    /**
     * The pattern of a class's name, with a capital and a small letter at least: constants and acronyms are no classes.
     */
    private static final Pattern NAME = Pattern.compile("^@?([A-Z]\\w*[a-z]\\w*)(?:\\.([a-z]\\w*))?(?:[(<].*)?$");

    private static final Pattern FILE = Pattern.compile("^[\\w.-]+(?:/[\\w.-]+)+/?$");
    private static final Pattern WORD = Pattern.compile("[A-Za-z_]\\w*");

    /** The names in these pages that belong to other programs and papers. */
    private static final Set<String> OTHERS = Set.of("System.Logger", "YourProgram");

    /** The strategy that only tests have. */
    private static final String OF_TESTS = "probing";

    /** The words of each source, by the name of the file without its ending. */
    private final Map<String, Set<String>> words = new HashMap<>();

    private final Set<String> all = new TreeSet<>();

    NamesTest() throws IOException {
        try (Stream<Path> files = Files.walk(Page.PROJECT)) {
            files.filter(file -> file.toString().matches(".*[/\\\\]src[/\\\\].*\\.(java|cuh|cu)"))
                    .filter(file ->
                            !file.startsWith(Page.PROJECT.resolve("bench/src/test/java/io/outboard/bench/docs")))
                    .forEach(this::read);
        }
        try (Stream<Path> files = Files.list(Page.PROJECT.resolve("bench/src/test/java/io/outboard/bench/docs"))) {
            files.forEach(file -> all.add(file.getFileName().toString().replaceFirst("\\..*", "")));
        }
    }

    @Test
    void shouldExist() {
        final List<String> unknown = new ArrayList<>();
        for (final Page page : Page.all()) {
            page.inlineCode().stream()
                    .filter(code -> !isKnown(code))
                    .forEach(code -> unknown.add(page.name() + ": " + code));
        }

        assertEquals(List.of(), unknown, () -> String.join("\n", unknown));
    }

    @Test
    void shouldFindThoseThatDoNot() {
        assertEquals(
                List.of("NoSuchClass", "Pool.noSuchMethod(bytes)", "bench/no/such/file"),
                Stream.of(
                                "Pool",
                                "Pool.allocate(bytes)",
                                "NoSuchClass",
                                "Pool.noSuchMethod(bytes)",
                                "bench/results/",
                                "bench/no/such/file",
                                "x/y")
                        .filter(code -> !isKnown(code))
                        .toList());
    }

    @Test
    void shouldTellOfEachStrategy() {
        final List<String> named = Page.read("docs/strategies.md").inlineCode();
        final Set<String> strategies = Strategies.all().stream()
                .map(StrategyProvider::name)
                .filter(name -> !name.startsWith(OF_TESTS))
                .collect(Collectors.toCollection(TreeSet::new));

        assertEquals(11, strategies.size(), "README and the tutorial say eleven");
        strategies.removeAll(named);
        assertEquals(Set.of(), strategies);
    }

    private boolean isKnown(final String code) {
        if (OTHERS.contains(code)) {
            return true;
        }
        final Matcher file = FILE.matcher(code);
        if (file.matches()) {
            final boolean isOurs = Files.isDirectory(Page.PROJECT.resolve(code.substring(0, code.indexOf('/'))));
            return !isOurs || code.contains("/target/") || Files.exists(Page.PROJECT.resolve(code));
        }
        final Matcher name = NAME.matcher(code);
        if (!name.matches()) {
            return true;
        }
        final String type = name.group(1);
        final String member = name.group(2);
        return all.contains(type)
                && (member == null
                        || !words.containsKey(type)
                        || words.get(type).contains(member));
    }

    private void read(final Path file) {
        try {
            final Set<String> found = WORD.matcher(Files.readString(file))
                    .results()
                    .map(word -> word.group())
                    .collect(Collectors.toSet());
            final String name = file.getFileName().toString().replaceFirst("\\..*", "");
            words.computeIfAbsent(name, key -> new TreeSet<>()).addAll(found);
            all.addAll(found);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void shouldSeeNamesAtAll() {
        assertTrue(Page.read("docs/design.md").inlineCode().size() > 50);
    }
}
