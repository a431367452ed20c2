package io.outboard.bench.docs;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Compares figures of README and docs with the files that they are from. {@code -Doutboard.docs.update=true} writes the
 * files' figures into the pages; authors have to check which words become wrong.
 */
class ClaimsTest {

    /** The pages in which each figure needs a source; the others may have claims. */
    private static final Set<String> COMPLETE = Set.of("README.md", "docs/strategies.md", "docs/benchmarks.md");

    private final Claims claims = Claims.parse(Page.read("docs/claims.txt").text());
    private final ClaimChecker checker = new ClaimChecker(new Sources(Page.PROJECT), claims);

    @Test
    void shouldHaveEachFigureFromAFile() throws IOException {
        final Set<String> pages = new TreeSet<>(COMPLETE);
        pages.addAll(claims.pages());
        final List<String> problems = new ArrayList<>();
        for (final String name : pages) {
            if (Boolean.getBoolean("outboard.docs.update")) {
                Files.writeString(Page.PROJECT.resolve(name), checker.corrected(Page.read(name)));
            }
            problems.addAll(checker.problems(Page.read(name), COMPLETE.contains(name)));
        }

        assertTrue(problems.isEmpty(), () -> String.join("\n", problems));
    }

    @Test
    void shouldHaveClaimsAtAll() {
        assertTrue(claims.list().size() > COMPLETE.size(), claims.list()::toString);
    }
}
