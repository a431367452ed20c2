package io.outboard.bench.cli.picture;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
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
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
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
                null,
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
                Loader,1,allocate,0x100000,524288,0x7F00
                ,2,allocate,0x200000,262144,
                Loader,3,free,0x100000,524288,0x0
                ,4,free,0x200000,262144,
                """);
        final Owners owners = new Owners();
        final Trace trace = TraceReader.read(log, owners);
        final Path page = folder.resolve("owners.html");
        PicturePage.write(
                new Picture(trace, owners, Strategies.named("hal-first-fit"), StrategyOptions.DEFAULTS, 1 << 20),
                null,
                page);
        browser().open(page);

        assertEquals("[]", browser().console());
        assertEquals("block 1: 512 KiB at 0 B, operations 0 to 2, thread Loader, stream 0x7F00", tipAt(0.1, 0.9));
        assertEquals("block 2: 256 KiB at 512 KiB, operations 1 to 3", tipAt(0.5, 0.4));
        choose("#find", "loader");
        assertEquals("Loader512 KiB66.7 %12", text("#holders tbody tr").replaceAll(" op.", ""));
    }

    /** Opens the page of a log whose peak is after its fourth operation, at 2 ms. */
    private Picture openTimed() throws IOException, InterruptedException {
        final Path log = Files.writeString(folder.resolve("timed.csv"), """
                Thread,Time,Action,Pointer,Size,Stream
                1,00:00:01.000000,allocate,0x10,262144,0x7
                2,00:00:01.001000,allocate,0x20,131072,0x8
                1,00:00:01.001500,free,0x10,262144,0x7
                3,00:00:01.002000,allocate,0x30,524288,0x8
                3,00:00:01.003000,free,0x30,524288,0x8
                2,00:00:01.003500,free,0x20,131072,0x8
                1,00:00:01.004000,allocate,0x10,1000,0x7
                """);
        final Owners owners = new Owners();
        final Picture picture = new Picture(
                TraceReader.read(log, owners),
                owners,
                Strategies.named("hal-first-fit"),
                StrategyOptions.DEFAULTS,
                1 << 20);
        final Path page = folder.resolve("timed.html");
        PicturePage.write(picture, null, page);
        browser().open(page);
        assertEquals("[]", browser().console());
        return picture;
    }

    private static String text(final String selector) throws IOException, InterruptedException {
        return browser()
                .evaluate("return Array.from(document.querySelectorAll('" + selector
                        + "'), each => each.textContent).join('|')");
    }

    private static void choose(final String selector, final String value) throws IOException, InterruptedException {
        browser()
                .evaluate(
                        "const chosen = document.querySelector('" + selector + "'); chosen.value = '" + value
                                + "'; chosen.dispatchEvent(new Event(chosen.matches('input') ? 'input' : 'change')); return 0;");
    }

    /** The page computes the table again, since it can be of any moment; at the peak it is what Java has. */
    @Test
    void shouldTellWhoHoldsMemoryAtThePeak() throws IOException, InterruptedException {
        final Picture picture = openTimed();

        for (final Holders.Part part : List.of(Holders.Part.THREAD, Holders.Part.STREAM)) {
            choose("#by", part.name().toLowerCase(Locale.ROOT));
            assertEquals(
                    Holders.atPeak(picture, part).stream()
                            .map(each -> each.name() + " " + each.bytes() + " " + each.blocks() + " "
                                    + Math.round(each.medianLife() / 1000))
                            .collect(Collectors.joining("|")),
                    browser()
                            .evaluate(
                                    "return picture.holders().map(each => `${each.text} ${each.bytes} ${each.blocks} ${"
                                            + "Math.round(each.life * 1e6)}`).join('|')"));
        }
        choose("#by", "thread");
        assertEquals("In use at the peak: 640 KiB", text("#holders h2"));
        assertEquals("after operation 3, 2.00 ms|", text("#holders p"));
        assertEquals("3512 KiB80.0 %11.00 ms|2128 KiB20.0 %12.50 ms", text("#holders tbody tr"));
        choose("#by", "size");
        assertEquals("to 1 MiB640 KiB100.0 %22.50 ms", text("#holders tbody tr"));
    }

    /** Each group stands beside the same one of the other recording, and what is only there comes, too. */
    @Test
    void shouldCompareThePeaksOfTwoRecordings() throws IOException, InterruptedException {
        final Picture picture = openTimed();
        final Owners owners = new Owners();
        final Path log = Files.writeString(folder.resolve("before.csv"), """
                Thread,Time,Action,Pointer,Size,Stream
                3,1,allocate,0x10,786432,0x8
                4,2,allocate,0x20,131072,0x8
                """);
        final Picture before = new Picture(
                TraceReader.read(log, owners),
                owners,
                Strategies.named("hal-first-fit"),
                StrategyOptions.DEFAULTS,
                1 << 20);
        final Path page = folder.resolve("beside.html");
        PicturePage.write(picture, before, page);
        browser().open(page);

        assertEquals("[]", browser().console());
        assertEquals("thread|bytes|share|beside|change", text("#holders thead th"));
        assertEquals(
                "3512 KiB80.0 %768 KiB\u2212256 KiB|2128 KiB20.0 %0 B+128 KiB|40 B0.0 %128 KiB\u2212128 KiB",
                text("#holders tbody tr"));
        assertEquals("after operation 3, 2.00 ms; beside it before.csv: 896 KiB at its peak|", text("#holders p"));
        assertEquals("", text("#holders tr[aria-selected=true]"));
        choose("#by", "stream");
        assertEquals("0x8640 KiB100.0 %896 KiB\u2212256 KiB", text("#holders tbody tr"));
        choose("#by", "size");
        assertEquals("size|bytes|share|blocks|median life", text("#holders thead th"));
    }

    /** A click on the lower picture chooses a moment, and the button goes back to the peak. */
    @Test
    void shouldTellWhoHoldsMemoryAtAnotherMoment() throws IOException, InterruptedException {
        openTimed();

        browser().evaluate("""
                const area = document.querySelector('#free canvas');
                const box = area.getBoundingClientRect();
                area.dispatchEvent(new MouseEvent('click', {clientX: box.left + box.width * 0.3, clientY: box.top + 9}));
                return 0;
                """);
        assertEquals("1", browser().evaluate("return picture.moment()"));
        assertEquals("In use at this moment: 384 KiB", text("#holders h2"));
        assertEquals("1256 KiB66.7 %11.50 ms|2128 KiB33.3 %12.50 ms", text("#holders tbody tr"));
        browser().evaluate("document.getElementById('peak').click(); return 0;");
        assertEquals("In use at the peak: 640 KiB", text("#holders h2"));
    }

    @Test
    void shouldHaveAnAxisInSecondsAndOneInOperations() throws IOException, InterruptedException {
        openTimed();

        assertEquals("0 ms|1 ms|2 ms|3 ms|4 ms", text("#times span"));
        assertEquals("0 B|128 KiB|256 KiB|384 KiB|512 KiB|640 KiB|768 KiB|896 KiB", text("#places span"));
        final String first = tipAt(0.1, 0.9);
        assertEquals("-1", browser().evaluate("return picture.find(0.45, 0.9)"));
        browser().evaluate("picture.look({t0: 0.003, t1: 0.0035, a0: 3 << 10, a1: 4 << 10}); return 0;");
        browser().settle();
        assertEquals("3.0 ms|3.1 ms|3.2 ms|3.3 ms|3.4 ms|3.5 ms", text("#times span"));
        assertTrue(text("#places span").startsWith("768 KiB|800 KiB|"), text("#places span"));
        assertEquals("\u2190 peak", text("#peak"));
        browser().evaluate("document.getElementById('whole').click(); return 0;");
        choose("#unit select", "operations");
        browser().settle();
        assertEquals("0|1|2|3|4|5|6|7", text("#times span"));
        assertEquals(first, tipAt(0.2, 0.9));
    }

    /** What isn't found, or isn't of the row that was clicked, fades, and the table has what is found. */
    @Test
    void shouldFindBlocksByTheirOwners() throws IOException, InterruptedException {
        openTimed();
        final String colour = """
                const canvas = document.querySelector('#blocks canvas');
                const at = (x, y) => Array.from(canvas.getContext('2d').getImageData(
                  x * canvas.width | 0, y * canvas.height | 0, 1, 1).data).join();
                return at(0.1, 0.9) + ' ' + at(0.35, 0.65);
                """;
        final String before = browser().evaluate(colour);
        choose("#find", "STREAM 0X8");
        browser().settle();
        final String[] after = browser().evaluate(colour).split(" ", -1);

        assertNotEquals(before.split(" ", -1)[0], after[0]);
        assertEquals(before.split(" ", -1)[1], after[1]);
        choose("#find", "thread 3");
        assertEquals("3512 KiB80.0 %11.00 ms", text("#holders tbody tr"));
        assertEquals("after operation 3, 2.00 ms; found: 512 KiB, 80.0 %|", text("#holders p"));
        choose("#find", "");
        browser().evaluate("document.querySelectorAll('#holders tbody tr')[1].click(); return 0;");
        browser().settle();
        assertArrayEquals(after, browser().evaluate(colour).split(" ", -1));
    }

    /** Sends events of fingers, each with its number, what it does and where in the picture. */
    private static void touch(final String... events) throws IOException, InterruptedException {
        final StringBuilder script = new StringBuilder(
                "const canvas = document.querySelector('#blocks canvas'); canvas.setPointerCapture = () => 0;"
                        + "const box = canvas.getBoundingClientRect();"
                        + "const send = (id, name, x, y) => canvas.dispatchEvent(new PointerEvent('pointer' + name, {"
                        + "pointerId: id, pointerType: 'touch', clientX: box.left + box.width * x,"
                        + "clientY: box.top + box.height * y}));");
        for (final String event : events) {
            script.append("send(").append(event).append(");");
        }
        browser().evaluate(script + "return 0;");
    }

    private static String view() throws IOException, InterruptedException {
        return browser()
                .evaluate(
                        "const {t0, t1, a0, a1} = picture.view(); return [t0 / picture.whole.t1, t1 / picture.whole.t1,"
                                + "a0 / picture.whole.a1, a1 / picture.whole.a1].map(each => each.toFixed(2)).join(' ')");
    }

    @Test
    void shouldFollowFingers() throws IOException, InterruptedException {
        openTimed();

        touch("1, 'down', 0.4, 0.5", "2, 'down', 0.6, 0.5", "1, 'move', 0.3, 0.5", "2, 'move', 0.7, 0.5");
        assertEquals("0.25 0.75 0.00 1.00", view(), "fingers side by side zoom time");
        touch("1, 'up', 0.3, 0.5", "2, 'up', 0.7, 0.5");
        touch("1, 'down', 0.1, 0.5", "2, 'down', 0.2, 0.9", "1, 'up', 0.1, 0.5", "2, 'up', 0.2, 0.9");
        assertEquals("-1", browser().evaluate("return picture.picked()"), "two fingers are no tap");
        touch("1, 'down', 0.5, 0.5", "1, 'move', 0.7, 0.5", "1, 'up', 0.7, 0.5");
        assertEquals("0.15 0.65 0.00 1.00", view(), "one finger moves");
        touch(
                "1, 'down', 0.5, 0.4",
                "2, 'down', 0.5, 0.6",
                "2, 'move', 0.5, 0.8",
                "2, 'up', 0.5, 0.8",
                "1, 'up', 0.5, 0.4");
        assertEquals("0.15 0.65 0.30 0.80", view(), "fingers above each other zoom addresses");
    }

    @Test
    void shouldTellTheLifeOfABlockThatIsTapped() throws IOException, InterruptedException {
        openTimed();

        touch("1, 'down', 0.1, 0.9", "1, 'up', 0.1, 0.9");
        assertEquals("0", browser().evaluate("return picture.picked()"));
        assertEquals("Block 1: 256 KiB", text("#block h2"));
        assertEquals(
                "from operation 0, 0 s, to operation 2, 1.50 ms, life: 1.50 ms|thread 1, stream 0x7", text("#block p"));
        assertEquals("block 1: 256 KiB at 0 B, operations 0 to 2, thread 1, stream 0x7", text("#tip"));
        touch("1, 'down', 0.1, 0.1", "1, 'up', 0.1, 0.1");
        assertEquals("true", browser().evaluate("return document.getElementById('block').hidden"));
    }

    @Test
    void shouldTellTheStackOfABlock() throws IOException, InterruptedException {
        final Path file = folder.resolve("memory_snapshot.pickle");
        try (InputStream in = Objects.requireNonNull(TraceReader.class.getResourceAsStream("torch-2.11.pickle"))) {
            Files.copy(in, file);
        }
        final Owners owners = new Owners();
        final Trace trace = TraceReader.read(file, owners);
        final Path page = folder.resolve("stacks.html");
        PicturePage.write(
                new Picture(trace, owners, Strategies.named("hal-first-fit"), StrategyOptions.DEFAULTS, 1 << 27),
                null,
                page);
        browser().open(page);

        touch("1, 'down', 0.99, 0.99", "1, 'up', 0.99, 0.99");
        final int picked = Integer.parseInt(browser().evaluate("return picture.picked()"));
        final List<String> stack =
                owners.stacks().get(owners.table().get(owners.owner(picked)).stack());
        assertEquals("train.py:10 run", stack.get(6));
        assertEquals(String.join("|", stack), text("#block li"));
        choose("#find", "_Call_Impl");
        assertTrue(text("#holders tbody th").contains("train.py:10 run"), text("#holders tbody th"));
        assertFalse(text("#holders tbody th").contains("train.py:6 run"), text("#holders tbody th"));
    }

    /** On a screen with two pixels a unit the image has two, too, and nothing leaves a phone's page. */
    @Test
    void shouldBeSharpAndFitOnAPhone() throws IOException, InterruptedException {
        openTimed();
        browser().resize(390, 844, true);
        try {
            assertEquals(
                    "true",
                    browser()
                            .evaluate("return [...document.querySelectorAll('canvas')].every(each => each.width ==="
                                    + " Math.round(each.getBoundingClientRect().width * 2) && each.width > 300)"));
            assertEquals("true", browser().evaluate("return document.documentElement.scrollWidth <= innerWidth"));
        } finally {
            browser().resize(1400, 900, false);
        }
    }

    /** What a dark screen shows in dark colours is printed in light ones. */
    @Test
    void shouldPrintInLightColours() throws IOException, InterruptedException {
        openTimed();
        browser().colourScheme("dark");
        try {
            assertEquals("20,24,28", paper());
            browser().media("print", "dark");
            assertEquals("255,255,255", paper());
        } finally {
            browser().colourScheme("light");
        }
        assertEquals("252,252,250", paper());
    }

    /** Returns the colour at the top of the picture, where nothing is. */
    private static String paper() throws IOException, InterruptedException {
        return browser()
                .evaluate("return Array.from(document.querySelector('#blocks canvas').getContext('2d')"
                        + ".getImageData(2, 2, 1, 1).data.slice(0, 3)).join()");
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
        // The axis of a dump has addresses, and no time.
        assertTrue(text("#places span").startsWith("0x10000000000|+ "), text("#places span"));
        assertEquals("", text("#times span"));
        assertEquals("Held: 10.0 MiB", text("#holders h2"));
        assertEquals("to 16 MiB10.0 MiB100.0 %10", text("#holders tbody tr"));
    }
}
