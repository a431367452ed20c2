package io.outboard.bench.cli.report;

import static org.junit.jupiter.api.Assertions.*;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.outboard.bench.cli.browser.Browser;
import io.outboard.bench.cli.browser.PageScripts;
import io.outboard.bench.cli.report.strategies.StrategyParts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** These tests look at the page with a real browser; skipped, with the reason, if there is none. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@Tag("thorough")
class ReportPageBrowserTest {

    private static final int CHARTS = 2 * (2 + 4) + 1;

    private static @Nullable Browser browser;

    private static Path folder = Path.of("");

    @BeforeAll
    static void start(@TempDir final Path temporary) throws IOException, InterruptedException {
        final Optional<String> missing = Browser.missing();
        assumeTrue(missing.isEmpty(), () -> missing.orElse(""));
        folder = Files.createDirectory(temporary.resolve("a folder"));
        ResultFiles.complete(folder);
        ReportPage.write(folder, StrategyParts.ALL);
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
        assertEquals("", browser().evaluate(PageScripts.MISSING_LINES));
    }

    @Test
    void shouldFitAPhone() throws IOException, InterruptedException {
        open(folder, 360, 740, true);

        assertEquals("360", browser().evaluate("return innerWidth"));
        assertEquals("0 ", browser().evaluate(PageScripts.OVERFLOW));
        assertEquals("", browser().evaluate(PageScripts.MISSING_LINES));
    }

    /**
     * The page shows all strategies that exist and the driver's, on three traces, in light colours and then in dark
     * ones on a phone.
     */
    @Test
    void shouldStayReadableWithElevenStrategies(@TempDir final Path many) throws IOException, InterruptedException {
        final ResultFiles files = new ResultFiles(many).environment();
        for (final String trace : new String[] {"resnet50-train.csv.gz", "llama-finetune.csv.gz", "small"}) {
            double ns = 10;
            for (final String strategy : new String[] {
                "bitmask",
                "buddy-binary",
                "buddy-double",
                "buddy-fibonacci",
                "hal-best-fit",
                "hal-first-fit",
                "hal-next-fit",
                "pooled",
                "segregated-fit",
                "segregated-fit-paper",
                "tlsf",
                "cudaMalloc",
                "cuMemAllocAsync"
            }) {
                files.strategy(trace, strategy, ns *= 2);
            }
        }
        ReportPage.write(many, StrategyParts.ALL);

        open(many, 1280, 900, false);
        assertEquals("", browser().evaluate(PageScripts.MISSING_LINES));
        assertEquals("0 ", browser().evaluate(PageScripts.OVERFLOW));

        browser().blank();
        browser().colourScheme("dark");
        open(many, 360, 740, true);
        assertEquals("0 ", browser().evaluate(PageScripts.OVERFLOW));
        assertEquals("", browser().evaluate(PageScripts.MISSING_LINES));
        assertEquals("[]", browser().console());
    }

    @Test
    void shouldFollowTheWindowWhenItNarrows() throws IOException, InterruptedException {
        openComplete();

        browser().resize(360, 740, true);

        assertEquals("0 ", browser().evaluate(PageScripts.OVERFLOW));
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
        assertEquals("", browser().evaluate(PageScripts.MISSING_LINES));
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
