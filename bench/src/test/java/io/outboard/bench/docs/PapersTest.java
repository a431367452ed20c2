package io.outboard.bench.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.outboard.bench.cli.paper.Paper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests that docs/papers.md has everything of the papers, and that everything it names is there. */
class PapersTest {

    private static final Pattern OUTPUT = Pattern.compile("[a-z]+/[\\w-]+");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final String REASON = "not here, because ";

    /** The papers by a word of their headings, and how many figures, tables and algorithms each has, by numbers. */
    private static final Map<String, Map<String, Integer>> PAPERS = Map.of(
            "bell", Map.of("figure", 5, "table", 0, "algorithm", 6),
            "huang", Map.of("figure", 9, "table", 0, "algorithm", 0),
            "springer", Map.of("figure", 8, "table", 0, "algorithm", 2),
            "vinkler", Map.of("figure", 5, "table", 5, "algorithm", 3));

    /** A row of the page's tables. */
    private record Row(String paper, String what, String where) {

        Set<String> outputs() {
            return CODE.matcher(where)
                    .results()
                    .map(code -> code.group(1))
                    .filter(code -> OUTPUT.matcher(code).matches())
                    .collect(Collectors.toCollection(LinkedHashSet::new));
        }
    }

    private final List<Row> rows = rows(Page.read("docs/papers.md"));

    @Test
    void shouldNameTheOutputsOfEachPaper() {
        final List<Paper> papers = Paper.all();

        // Only builds with the harness for in-kernel allocators have the papers about them.
        assertTrue(papers.stream().map(Paper::name).toList().contains("bell"));
        for (final Paper paper : papers) {
            assertEquals(List.of(), differences(rows, paper), "docs/papers.md and the command's outputs must agree");
        }
    }

    @Test
    void shouldNameOutputsOfThePaperAlone() {
        for (final Row row : rows) {
            row.outputs().forEach(output -> assertTrue(output.startsWith(row.paper + "/"), row + ": " + output));
        }
    }

    @Test
    void shouldSayOfEachRowWhereItIsOrWhyItIsNot() throws IOException {
        final Set<String> files = files();

        for (final Row row : rows) {
            final boolean hasReason = row.where.startsWith(REASON) && row.where.length() > REASON.length() + 10;
            assertTrue(hasReason || CODE.matcher(row.where).find(), row.toString());
            CODE.matcher(row.where)
                    .results()
                    .map(code -> code.group(1))
                    .filter(code -> code.matches("\\w+\\.cuh?|[A-Z]\\w+"))
                    .forEach(code -> assertTrue(
                            files.contains(code) || files.contains(code + ".java"), row + ": " + code + " must exist"));
        }
    }

    @Test
    void shouldHaveEachFigureTableAndAlgorithm() {
        PAPERS.forEach((paper, counts) -> counts.forEach((kind, count) -> {
            final Set<Integer> told = rows.stream()
                    .filter(row -> row.paper.equals(paper))
                    .flatMap(row -> numbers(row.what, kind))
                    .collect(Collectors.toCollection(TreeSet::new));
            assertEquals(
                    IntStream.rangeClosed(1, count).boxed().collect(Collectors.toCollection(TreeSet::new)),
                    told,
                    paper + ": " + kind);
        }));
    }

    @Test
    void shouldFindWhatIsMissingOnEitherSide() {
        final Paper bell = Paper.all().stream()
                .filter(paper -> paper.name().equals("bell"))
                .findFirst()
                .orElseThrow();
        final List<Row> wrong = new ArrayList<>(rows);
        assertTrue(wrong.removeIf(row -> row.where.contains("bell/claim-two-orders")));
        wrong.add(new Row("bell", "figure 9", "`bell/figure-9`"));

        assertEquals(List.of("bell/figure-9", "bell/claim-two-orders"), differences(wrong, bell));
        assertEquals(
                List.of(3, 4, 7),
                numbers("buffers (figures 3, 4 and 7), table 2", "figure").toList());
        assertFalse(numbers("table 2", "figure").findAny().isPresent());
    }

    /** Returns the outputs that the page alone names, then those that the command alone gives. */
    private static List<String> differences(final List<Row> rows, final Paper paper) {
        final Set<String> told = rows.stream()
                .filter(row -> row.paper.equals(paper.name()))
                .flatMap(row -> row.outputs().stream())
                .collect(Collectors.toCollection(LinkedHashSet::new));
        final List<String> given =
                paper.outputs().stream().map(output -> output.name()).toList();
        return Stream.concat(
                        told.stream().filter(name -> !given.contains(name)),
                        given.stream().filter(name -> !told.contains(name)))
                .toList();
    }

    /** Returns the numbers behind a word such as figure, also those of a list. */
    private static Stream<Integer> numbers(final String text, final String kind) {
        return Pattern.compile("\\b" + kind + "s? (\\d+(?:(?:, | and )\\d+)*)")
                .matcher(text)
                .results()
                .flatMap(list -> Stream.of(list.group(1).split(", | and ")))
                .map(Integer::valueOf);
    }

    private static List<Row> rows(final Page page) {
        final List<Row> rows = new ArrayList<>();
        String paper = "";
        for (final String line : page.text().lines().toList()) {
            if (line.startsWith("## ")) {
                paper = PAPERS.keySet().stream()
                        .filter(name -> line.toLowerCase(Locale.ROOT).startsWith("## " + name))
                        .findFirst()
                        .orElseThrow(() -> new AssertionError(line + " must be a paper's heading"));
            } else if (line.startsWith("| ") && !line.startsWith("| of the paper")) {
                final String[] cells = line.split("\\|", -1);
                rows.add(new Row(paper, cells[1].strip(), cells[2].strip()));
            }
        }
        return rows;
    }

    /** Returns the names of all source files. */
    private static Set<String> files() throws IOException {
        try (Stream<Path> files = Files.walk(Page.PROJECT)) {
            return files.filter(file -> file.toString().matches(".*[/\\\\]src[/\\\\]main[/\\\\].*\\.(java|cuh|cu)"))
                    .map(file -> file.toFile().getName())
                    .collect(Collectors.toSet());
        }
    }
}
