package io.outboard.bench.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests that links of README and docs within the project lead somewhere, headings included. */
class LinksTest {

    private static final Pattern HEADING = Pattern.compile("^#+ (.*)$", Pattern.MULTILINE);

    @Test
    void shouldLead() {
        final List<String> broken = new ArrayList<>();
        final List<Page> pages = new ArrayList<>(Page.allAndResults());
        pages.add(Page.read("CHANGELOG.md"));
        for (final Page page : pages) {
            page.links().stream()
                    .filter(link -> !leads(page, link))
                    .forEach(link -> broken.add(page.name() + ": " + link));
        }

        assertEquals(List.of(), broken);
    }

    @Test
    void shouldFindThoseThatDoNot() {
        final Page page = new Page("docs/page.md", """
                # A page: of `code`, words
                [here](#a-page-of-code-words), [there](design.md#the-picture), [up](../README.md), [folder](../bench)
                [no](#a-page), [no](design.md#no-such-heading), [no](no.md), ![picture](no.svg)
                """);

        assertEquals(
                List.of("#a-page", "design.md#no-such-heading", "no.md"),
                page.links().stream().filter(link -> !leads(page, link)).toList());
    }

    @Test
    void shouldSeeLinksAtAll() {
        assertTrue(Page.read("README.md").links().size() > 10);
    }

    private static boolean leads(final Page page, final String link) {
        if (link.startsWith("https://")) {
            return true;
        }
        final int sign = link.indexOf('#');
        final String path = sign < 0 ? link : link.substring(0, sign);
        final Path target = path.isEmpty()
                ? Page.PROJECT.resolve(page.name())
                : Page.PROJECT.resolve(page.name()).resolveSibling(path).normalize();
        if (sign < 0) {
            return Files.exists(target);
        }
        final Page there = path.isEmpty()
                ? page
                : Files.exists(target)
                        ? Page.read(Page.PROJECT.relativize(target).toString())
                        : new Page("", "");
        return HEADING.matcher(there.prose())
                .results()
                .map(LinksTest::anchor)
                .anyMatch(link.substring(sign + 1)::equals);
    }

    /** Returns the anchor that GitHub makes of a heading. */
    private static String anchor(final MatchResult heading) {
        return heading.group(1)
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\w\\- ]", "")
                .replace(' ', '-');
    }
}
