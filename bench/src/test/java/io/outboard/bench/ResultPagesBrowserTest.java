package io.outboard.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.outboard.bench.cli.browser.Browser;
import io.outboard.bench.cli.browser.PageScripts;
import io.outboard.bench.cli.common.CommandModule;
import io.outboard.bench.cli.report.PagePart;
import io.outboard.bench.cli.report.ReportPage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests every kind of page, made from the results in the repository. */
@Tag("thorough")
class ResultPagesBrowserTest {

    private static @Nullable Browser browser;

    @BeforeAll
    static void start(@TempDir final Path temporary) throws IOException, InterruptedException {
        final Optional<String> missing = Browser.missing();
        assumeTrue(missing.isEmpty(), () -> missing.orElse(""));
        browser = new Browser(temporary);
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
    }

    private static void open(final Path results, final int width, final boolean phone)
            throws IOException, InterruptedException {
        browser().blank();
        browser().resize(width, 900, phone);
        browser().open(results.resolve(ReportPage.FILE_NAME));
    }

    @ParameterizedTest
    @CsvSource({
        "h100-arenas, results.jsonl",
        "h200-paper, results.jsonl",
        "strategies, results.jsonl",
        "check, check.jsonl",
        "h200-kernels, kernels.jsonl",
        "h200-kernels-16g, kernels.jsonl",
        "h200-bitmalloc, kernels.jsonl",
        "h200-programs, programs.jsonl",
    })
    void shouldHoldTheResultOnTheFirstScreenAndFitAPhone(
            final String results, final String shown, @TempDir final Path copy)
            throws IOException, InterruptedException {
        final List<PagePart> parts = CommandModule.allPageParts();
        assumeTrue(
                parts.stream().map(PagePart::fileName).anyMatch(shown::equals),
                "the kernels' module is built by -Pkernels and -Pthorough");
        try (Stream<Path> files = Files.list(Path.of("results", results))) {
            for (final Path file : files.filter(Files::isRegularFile).toList()) {
                Files.copy(file, copy.resolve(file.getFileName()));
            }
        }
        ReportPage.write(copy, parts);
        open(copy, 1400, false);

        final double bottom = Double.parseDouble(
                browser().evaluate("return document.querySelector('.first').getBoundingClientRect().bottom"));
        assertTrue(bottom > 50 && bottom <= 900, results + " ends at " + bottom);
        assertEquals("0 ", browser().evaluate(PageScripts.OVERFLOW));
        assertEquals("", browser().evaluate(PageScripts.MISSING_LINES));
        assertEquals("false", browser().evaluate("return document.querySelector('.machine').open"));
        assertFalse(browser()
                .evaluate("return document.querySelector('h1').textContent")
                .isBlank());
        assertEquals("", browser().evaluate(PageScripts.CLIPPED_LABELS));

        open(copy, 420, true);

        assertEquals("420", browser().evaluate("return innerWidth"));
        assertEquals("0 ", browser().evaluate(PageScripts.OVERFLOW));
        assertEquals("", browser().evaluate(PageScripts.MISSING_LINES));
        assertEquals("", browser().evaluate(PageScripts.HIDDEN_CELLS));
        assertEquals("", browser().evaluate(PageScripts.CLIPPED_LABELS));
        assertEquals("[]", browser().console());
    }

    private static Browser browser() {
        assertNotNull(browser);
        return browser;
    }
}
