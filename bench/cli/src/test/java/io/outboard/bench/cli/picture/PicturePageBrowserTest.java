package io.outboard.bench.cli.picture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.outboard.bench.cli.browser.Browser;
import io.outboard.bench.cli.trace.Owners;
import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.bench.cli.trace.TraceReader;
import io.outboard.core.Strategies;
import io.outboard.core.StrategyOptions;
import io.outboard.core.VirtualMemorySource;
import io.outboard.pool.Pool;
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
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** These tests look at the page with a real browser; skipped, with the reason, if there is none. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@Tag("thorough")
class PicturePageBrowserTest {

    /** A quiet machine takes 3 s and 33 ms; the limits are higher because other programs may be running. */
    private static final double MOST_MILLIS = 9000;

    private static final double MOST_FRAME_MILLIS = 150;
    private static final int EVENTS = 1_000_000;

    private static @Nullable Browser browser;

    @TempDir
    private static Path folder = Path.of("");

    @BeforeAll
    static void start(@TempDir final Path temporary) throws IOException, InterruptedException {
        final Optional<String> missing = Browser.missing();
        assumeTrue(missing.isEmpty(), () -> missing.orElse(""));
        browser = new Browser(temporary);
        browser.colourScheme("light");
        browser.resize(1400, 900, false);
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
    }

    private static Browser browser() {
        if (browser == null) {
            throw new IllegalStateException("no browser");
        }
        return browser;
    }

    /** Removes complaints of another test's page. */
    @BeforeEach
    void forgetComplaints() throws IOException, InterruptedException {
        browser().console();
    }

    private static Path page(final Trace trace, final String strategy) throws IOException {
        final Path page = folder.resolve(trace.name() + ".html");
        PicturePage.write(
                new Picture(
                        trace, new Owners(), Strategies.named(strategy), StrategyOptions.DEFAULTS, trace.regionBytes()),
                page);
        return page;
    }

    /**
     * Measures, for a million events, how long the page takes to show them, and the median time of a frame while the
     * wheel turns.
     */
    @Test
    void shouldBeQuickWithAMillionEvents(final TestReporter reporter) throws IOException, InterruptedException {
        final Path page = page(Profiles.named("mid", EVENTS), "tlsf");
        browser().open(page);
        assertEquals("[]", browser().console());
        final double up = Double.parseDouble(browser().evaluate("return picture.upAfterMs"));
        browser().evaluate("""
                window.frames = [];
                let last = performance.now();
                const canvas = document.querySelector('#blocks canvas');
                const step = now => {
                  frames.push(now - last);
                  last = now;
                  if (frames.length < 60) {
                    canvas.dispatchEvent(new WheelEvent('wheel',
                      {deltaY: frames.length < 30 ? -40 : 40, clientX: 500, clientY: 300, bubbles: true, cancelable: true}));
                    requestAnimationFrame(step);
                  }
                };
                requestAnimationFrame(step);
                return 0;
                """);
        String frames = "0";
        while (!frames.equals("60")) {
            Thread.sleep(100);
            frames = browser().evaluate("return frames.length");
        }
        final double frame =
                Double.parseDouble(browser().evaluate("return Array.from(frames).sort((a, b) => a - b)[30]"));
        reporter.publishEntry("a million events, ms: up after, a frame of zooming", up + ", " + frame);
        assertTrue(up < MOST_MILLIS, "up after " + up + " ms");
        assertTrue(frame < MOST_FRAME_MILLIS, "a frame takes " + frame + " ms");
    }

    @Test
    void shouldShowBlocksWhereTheyAre() throws IOException, InterruptedException {
        final Trace trace = new Trace("two", 2, 1 << 20, new long[] {
            Trace.allocation(0, 1 << 19), Trace.allocation(1, 1 << 18), Trace.free(0, 1 << 19), Trace.free(1, 1 << 18)
        });
        browser().open(page(trace, "hal-first-fit"));

        assertEquals("[]", browser().console());
        assertEquals("2", browser().evaluate("return picture.count"));
        // From below, half of the region is in use by the first block, a quarter by the second, and a quarter is free;
        // after the first block's end, its half is free too.
        assertEquals("0", browser().evaluate("return picture.find(0.1, 0.9)"));
        assertEquals("1", browser().evaluate("return picture.find(0.5, 0.4)"));
        assertEquals("-1", browser().evaluate("return picture.find(0.5, 0.1)"));
        assertEquals("-1", browser().evaluate("return picture.find(0.9, 0.9)"));
        final String colours = browser().evaluate("""
                const canvas = document.querySelector('#blocks canvas');
                const context = canvas.getContext('2d');
                const at = (x, y) => Array.from(context.getImageData(x * canvas.width | 0, y * canvas.height | 0, 1, 1).data).join();
                return at(0.1, 0.9) === at(0.4, 0.6) && at(0.1, 0.9) !== at(0.9, 0.9) && at(0.5, 0.4) !== at(0.5, 0.1)
                  && at(0.5, 0.1) === at(0.9, 0.9);
                """);
        assertEquals("true", colours);
        assertEquals("block 1: 512 KiB at 0 B, operations 0 to 2", tipAt(0.1, 0.9));
    }

    /** Returns what the page shows where the pointer is, in fractions of the width and the height. */
    private static String tipAt(final double x, final double y) throws IOException, InterruptedException {
        return browser().evaluate("""
                const canvas = document.querySelector('#blocks canvas');
                const box = canvas.getBoundingClientRect();
                canvas.dispatchEvent(new PointerEvent('pointermove',
                  {clientX: box.left + box.width * %s, clientY: box.top + box.height * %s}));
                return document.getElementById('tip').textContent;
                """.formatted(x, y));
    }

    @Test
    void shouldTellWhoAllocatedABlock() throws IOException, InterruptedException {
        final Path log = Files.writeString(folder.resolve("rmm.csv"), """
                Thread,Time,Action,Pointer,Size,Stream
                17,1,allocate,0x100000,524288,0x7f00
                ,2,allocate,0x200000,262144,
                17,3,free,0x100000,524288,0x0
                ,4,free,0x200000,262144,
                """);
        final Owners owners = new Owners();
        final Trace trace = TraceReader.read(log, owners);
        final Path page = folder.resolve("owners.html");
        PicturePage.write(
                new Picture(trace, owners, Strategies.named("hal-first-fit"), StrategyOptions.DEFAULTS, 1 << 20), page);
        browser().open(page);

        assertEquals("[]", browser().console());
        assertEquals("block 1: 512 KiB at 0 B, operations 0 to 2, thread 17, stream 0x7f00", tipAt(0.1, 0.9));
        assertEquals("block 2: 256 KiB at 512 KiB, operations 1 to 3", tipAt(0.5, 0.4));
    }

    @Test
    void shouldOpenDumps() throws IOException, InterruptedException {
        final Path dump = folder.resolve("now.json");
        try (Pool pool = Pool.over(new VirtualMemorySource(1L << 30)).build()) {
            for (int i = 0; i < 10; i++) {
                pool.allocate(1 << 20);
            }
            pool.dump(dump);
        }
        final Path page = folder.resolve("dump.html");
        PicturePage.writeDump("now.json", Files.readString(dump), page);
        browser().open(page);

        assertEquals("[]", browser().console());
        assertEquals("10", browser().evaluate("return picture.count"));
        assertEquals("0", browser().evaluate("return picture.find(0.5, 0.999)"));
    }
}
