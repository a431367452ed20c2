package io.outboard.bench.cli.report.page;

import static org.junit.jupiter.api.Assertions.*;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.outboard.bench.cli.browser.Browser;
import io.outboard.bench.cli.report.ResultFiles;
import io.outboard.bench.kernels.report.KernelResultFiles;
import io.outboard.bench.kernels.report.KernelsSection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Looks at the page with a real browser. Skipped, with the reason, where there is none. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ReportPageBrowserTest {

    private static final int CHARTS = 2 * (2 + 4) + 1;

    /** The lines of all charts that left fewer than a few pixels of their colour on their canvas. */
    private static final String MISSING_LINES = """
            const style = getComputedStyle(document.documentElement);
            const missing = [];
            for (const figure of document.querySelectorAll('figure')) {
              const canvas = figure.querySelector('canvas');
              const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
              for (const line of JSON.parse(figure.querySelector('script').textContent)) {
                const rgb = parseInt(style.getPropertyValue(line.colour).trim().slice(1), 16);
                const near = (i, shift) => Math.abs(pixels[i] - (rgb >> shift & 255)) < 24;
                let drawn = 0;
                for (let i = 0; i < pixels.length && drawn < 20; i += 4) {
                  drawn += pixels[i + 3] > 200 && near(i, 16) && near(i + 1, 8) && near(i + 2, 0) ? 1 : 0;
                }
                if (drawn < 20) {
                  missing.push(`${figure.querySelector('figcaption').textContent}: ${line.name} ${drawn}`);
                }
              }
            }
            return missing.join(', ');
            """;

    /** How far the page can be scrolled sideways, and whatever sticks out without a frame of its own to scroll in. */
    private static final String OVERFLOW = """
            const width = document.documentElement.clientWidth;
            const out = Array.from(document.querySelectorAll('body *')).filter(element =>
              element.getBoundingClientRect().right > width + 0.5 && !element.closest('.scroll'));
            return `${document.documentElement.scrollWidth - width} ${out.map(element => element.outerHTML.slice(0, 80))}`;
            """;

    /** Numbers of tables that a phone would have to scroll to. */
    private static final String HIDDEN_CELLS = """
            const width = document.documentElement.clientWidth;
            return Array.from(document.querySelectorAll('td')).filter(cell => cell.checkVisibility() &&
              cell.getBoundingClientRect().right > width + 0.5).slice(0, 3).map(cell => cell.outerHTML).join();
            """;

    /** Texts of pictures that reach beyond the picture. */
    private static final String CLIPPED_LABELS = """
            const out = [];
            for (const svg of document.querySelectorAll('.logbars svg')) {
              const box = svg.getBoundingClientRect();
              for (const text of svg.querySelectorAll('text')) {
                const own = text.getBoundingClientRect();
                if (box.width > 0 && (own.left < box.left - 1 || own.right > box.right + 1 || own.bottom > box.bottom + 1)) {
                  out.push(text.textContent);
                }
              }
            }
            return out.join();
            """;

    private static @Nullable Browser browser;

    private static Path folder = Path.of("");

    @BeforeAll
    static void start(@TempDir final Path temporary) throws IOException, InterruptedException {
        final Optional<String> missing = Browser.missing();
        assumeTrue(missing.isEmpty(), () -> missing.orElse(""));
        folder = Files.createDirectory(temporary.resolve("a folder"));
        ResultFiles.complete(folder);
        ReportPage.write(folder);
        browser = new Browser(Files.createDirectory(temporary.resolve("browser")));
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
    }

    @BeforeEach
    void light() throws IOException, InterruptedException {
        browser().blank();
        browser().colourScheme("light");
    }

    private static void open(final Path results, final int width, final int height, final boolean phone)
            throws IOException, InterruptedException {
        browser().blank();
        browser().resize(width, height, phone);
        browser().open(results.resolve(ReportPage.FILE_NAME));
    }

    private static void openComplete() throws IOException, InterruptedException {
        open(folder, 1280, 900, false);
    }

    @Test
    void shouldLoadWithoutAComplaintOrARequest() throws IOException, InterruptedException {
        openComplete();

        assertEquals("[]", browser().console());
        assertEquals("0", browser().evaluate("return performance.getEntriesByType('resource').length"));
        assertEquals("Outboard: NVIDIA H200, 2026-11-20 14:03 UTC", browser().evaluate("return document.title"));
    }

    @Test
    void shouldDrawEveryChart() throws IOException, InterruptedException {
        openComplete();

        assertEquals(CHARTS + "", browser().evaluate("return document.querySelectorAll('canvas').length"));
        assertEquals("", browser().evaluate(MISSING_LINES));
    }

    @Test
    void shouldFitAPhone() throws IOException, InterruptedException {
        open(folder, 360, 740, true);

        assertEquals("360", browser().evaluate("return innerWidth"));
        assertEquals("0 ", browser().evaluate(OVERFLOW));
        assertEquals("", browser().evaluate(MISSING_LINES));
    }

    /** As many as there are, and the driver's, on three traces: by day, then at night on a phone. */
    @Test
    void shouldStayReadableWithElevenStrategies(@TempDir final Path many) throws IOException, InterruptedException {
        final ResultFiles files = new ResultFiles(many).environment();
        for (final String trace : new String[] {"resnet50-train.csv.gz", "llama-finetune.csv.gz", "small"}) {
            double ns = 10;
            for (final String strategy : new String[] {
                "bitmask",
                "buddy-binary",
                "buddy-fibonacci",
                "hal-best-fit",
                "hal-first-fit",
                "hal-next-fit",
                "pooled",
                "segregated-fit",
                "tlsf",
                "tlsf-frugal",
                "cudaMalloc",
                "cuMemAllocAsync"
            }) {
                files.strategy(trace, strategy, ns *= 2);
            }
        }
        ReportPage.write(many);

        open(many, 1280, 900, false);
        assertEquals("", browser().evaluate(MISSING_LINES));
        assertEquals("0 ", browser().evaluate(OVERFLOW));

        browser().blank();
        browser().colourScheme("dark");
        open(many, 360, 740, true);
        assertEquals("0 ", browser().evaluate(OVERFLOW));
        assertEquals("", browser().evaluate(MISSING_LINES));
        assertEquals("[]", browser().console());
    }

    @Test
    void shouldDrawTheFiguresOfKernels(@TempDir final Path kernels) throws IOException, InterruptedException {
        Files.write(kernels.resolve(KernelsSection.FILE_NAME), KernelResultFiles.sample());
        ReportPage.write(kernels);

        open(kernels, 1280, 900, false);
        assertEquals("8", browser().evaluate("return document.querySelectorAll('canvas').length"));
        assertEquals("", browser().evaluate(MISSING_LINES));

        open(kernels, 360, 740, true);
        assertEquals("0 ", browser().evaluate(OVERFLOW));
        assertEquals("", browser().evaluate(MISSING_LINES));
        assertEquals("[]", browser().console());
    }

    /** Every kind of page there is, of the results that are checked in. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "h100-arenas",
                "h200-paper",
                "strategies",
                "h200-kernels",
                "h200-kernels-16g",
                "h200-bitmalloc",
                "h200-programs",
                "check"
            })
    void shouldHoldTheResultOnTheFirstScreenAndFitAPhone(final String results, @TempDir final Path copy)
            throws IOException, InterruptedException {
        try (Stream<Path> files = Files.list(Path.of("results", results))) {
            for (final Path file : files.filter(Files::isRegularFile).toList()) {
                Files.copy(file, copy.resolve(file.getFileName()));
            }
        }
        ReportPage.write(copy);
        open(copy, 1400, 900, false);

        final double bottom = Double.parseDouble(
                browser().evaluate("return document.querySelector('.first').getBoundingClientRect().bottom"));
        assertTrue(bottom > 50 && bottom <= 900, results + " ends at " + bottom);
        assertEquals("0 ", browser().evaluate(OVERFLOW));
        assertEquals("false", browser().evaluate("return document.querySelector('.machine').open"));
        assertFalse(browser()
                .evaluate("return document.querySelector('h1').textContent")
                .isBlank());
        assertEquals("", browser().evaluate(CLIPPED_LABELS));

        open(copy, 420, 900, true);

        assertEquals("420", browser().evaluate("return innerWidth"));
        assertEquals("0 ", browser().evaluate(OVERFLOW));
        assertEquals("", browser().evaluate(HIDDEN_CELLS));
        assertEquals("", browser().evaluate(CLIPPED_LABELS));
        assertEquals("[]", browser().console());
    }

    @Test
    void shouldFollowTheWindowWhenItNarrows() throws IOException, InterruptedException {
        openComplete();

        browser().resize(360, 740, true);

        assertEquals("0 ", browser().evaluate(OVERFLOW));
    }

    @Test
    void shouldTurnDarkWithItsCharts() throws IOException, InterruptedException {
        openComplete();

        final String background = "return getComputedStyle(document.documentElement).backgroundColor";
        final String line = "return Chart.getChart(document.querySelector('canvas')).data.datasets[0].borderColor";
        final String lightBackground = browser().evaluate(background);
        final String lightLine = browser().evaluate(line);

        browser().colourScheme("dark");

        assertNotEquals(lightBackground, browser().evaluate(background));
        assertNotEquals(lightLine, browser().evaluate(line));
        assertEquals("", browser().evaluate(MISSING_LINES));
        assertEquals("[]", browser().console());
    }

    @Test
    void shouldSwitchALineOffInAllChartsOfItsLegend() throws IOException, InterruptedException {
        openComplete();

        final String lines =
                "return Array.from(document.querySelector('.charts[data-kind=latency]').querySelectorAll('canvas'), canvas =>"
                        + " Chart.getChart(canvas).data.datasets.map(line => line.label)).join(' ')";

        browser().evaluate("document.querySelector('[data-kind=latency] [data-series=cudaMalloc]').click()");

        assertEquals(
                "tlsf,hal-best-fit,cuMemAllocAsync tlsf,hal-best-fit,cuMemAllocAsync",
                browser().evaluate(lines));
        assertEquals(
                "false",
                browser()
                        .evaluate(
                                "return document.querySelector('[data-kind=latency] [data-series=cudaMalloc]').ariaPressed"));
    }

    @Test
    void shouldKeepItsTablesWithoutScripts() throws IOException, InterruptedException {
        browser().resize(1280, 900, false);
        browser().scripts(false);
        try {
            browser().open(folder.resolve(ReportPage.FILE_NAME));

            assertEquals("0", browser().evaluate(visible("canvas, .legend button")));
            assertEquals("1", browser().evaluate(visible("noscript p")));
            assertEquals(2 + 2 * (2 + 2) + "", browser().evaluate(visible("table")));
        } finally {
            browser().scripts(true);
        }
    }

    private static String visible(final String selector) {
        return "return Array.from(document.querySelectorAll('" + selector
                + "')).filter(element => element.checkVisibility()).length";
    }

    private static Browser browser() {
        assertNotNull(browser);
        return browser;
    }
}
