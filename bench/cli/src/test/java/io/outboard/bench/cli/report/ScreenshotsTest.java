package io.outboard.bench.cli.report;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.outboard.bench.cli.browser.Browser;
import io.outboard.bench.cli.picture.Picture;
import io.outboard.bench.cli.picture.PicturePage;
import io.outboard.bench.cli.trace.Owners;
import io.outboard.bench.cli.trace.Profiles;
import io.outboard.bench.cli.trace.Trace;
import io.outboard.core.Strategies;
import io.outboard.core.StrategyOptions;
import java.awt.image.BufferedImage;
import java.awt.image.IndexColorModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Makes the pictures under {@code docs/screenshots} anew: the first screen of every page that is checked in. */
@EnabledIfSystemProperty(named = ScreenshotsTest.FOLDER, matches = ".+", disabledReason = "only on request")
class ScreenshotsTest {

    /** Where the pictures go, from the module's folder. */
    static final String FOLDER = "outboard.screenshots";

    private static final int MOST_BYTES = 150_000;
    private static final int COLOURS = 64;

    @Test
    void shouldTakeEveryPageWideAndNarrowLightAndDark(@TempDir final Path temporary)
            throws IOException, InterruptedException {
        final Optional<String> missing = Browser.missing();
        assumeTrue(missing.isEmpty(), () -> missing.orElse(""));
        final Path folder = Files.createDirectories(Path.of(System.getProperty(FOLDER)));
        final Map<String, Path> pages = new TreeMap<>();
        try (Stream<Path> all = Files.list(Path.of("../results"))) {
            all.filter(result -> Files.exists(result.resolve(ReportPage.FILE_NAME)))
                    .forEach(result -> pages.put(
                            result.toFile().getName(),
                            result.resolve(ReportPage.FILE_NAME).toAbsolutePath()));
        }
        pages.put("picture", picture(temporary));
        try (Browser browser = new Browser(temporary)) {
            for (final Map.Entry<String, Path> page : pages.entrySet()) {
                for (final int width : new int[] {1400, 420}) {
                    for (final String scheme : List.of("light", "dark")) {
                        browser.colourScheme(scheme);
                        browser.resize(width, 900, false);
                        browser.open(page.getValue());
                        final Path taken = temporary.resolve("taken.png");
                        browser.screenshot(taken);
                        final Path file = folder.resolve(page.getKey() + "-" + width + "-" + scheme + ".png");
                        ImageIO.write(withFewColours(ImageIO.read(taken.toFile())), "png", file.toFile());
                        assertTrue(Files.size(file) < MOST_BYTES, file + " has " + Files.size(file) + " bytes");
                    }
                }
            }
        }
        assertTrue(pages.size() > 1, "run in the folder of the module");
    }

    /** Blocks of a profile, as {@code ./outboard picture} shows them. */
    private static Path picture(final Path temporary) throws IOException {
        final Path page = temporary.resolve("picture.html");
        final Trace trace = Profiles.named("mid", 20_000);
        PicturePage.write(
                new Picture(trace, new Owners(), Strategies.named("tlsf"), StrategyOptions.DEFAULTS, 34L << 20), page);
        return page;
    }

    /** The most frequent ones, and the nearest of them for all others: a third of the size. */
    private static BufferedImage withFewColours(final BufferedImage image) {
        final int width = image.getWidth();
        final int[] pixels = image.getRGB(0, 0, width, image.getHeight(), null, 0, width);
        final Map<Integer, Integer> counts = new HashMap<>();
        Arrays.stream(pixels).forEach(pixel -> counts.merge(pixel & 0xFFFFFF, 1, Integer::sum));
        final int[] palette = counts.entrySet().stream()
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                .limit(COLOURS)
                .mapToInt(Map.Entry::getKey)
                .toArray();
        final Map<Integer, Integer> nearest = new HashMap<>();
        final BufferedImage result = new BufferedImage(
                width,
                image.getHeight(),
                BufferedImage.TYPE_BYTE_INDEXED,
                new IndexColorModel(8, palette.length, channel(palette, 16), channel(palette, 8), channel(palette, 0)));
        for (int i = 0; i < pixels.length; i++) {
            final int colour = pixels[i] & 0xFFFFFF;
            final int index = nearest.computeIfAbsent(
                    colour,
                    wanted -> IntStream.range(0, palette.length)
                            .boxed()
                            .min(Comparator.comparingInt(candidate -> distance(wanted, palette[candidate])))
                            .orElse(0));
            result.getRaster().setSample(i % width, i / width, 0, index);
        }
        return result;
    }

    private static byte[] channel(final int[] palette, final int shift) {
        final byte[] channel = new byte[palette.length];
        for (int i = 0; i < channel.length; i++) {
            channel[i] = (byte) (palette[i] >> shift);
        }
        return channel;
    }

    private static int distance(final int one, final int other) {
        int sum = 0;
        for (int shift = 0; shift <= 16; shift += 8) {
            final int difference = (one >> shift & 0xFF) - (other >> shift & 0xFF);
            sum += difference * difference;
        }
        return sum;
    }
}
