package io.outboard.bench.cli.report;

import static org.junit.jupiter.api.Assertions.*;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class SeriesTest {

    private static final Pattern COLOUR = Pattern.compile("(--[a-z0-9-]+): #([0-9a-f]{6});");

    @Test
    void shouldGiveEveryStrategyALookOfItsOwn() {
        final List<String> names = Stream.concat(
                        Stream.of("cudaMalloc", "cuMemAllocAsync"),
                        IntStream.range(0, 40).mapToObj(i -> "s" + i))
                .toList();

        final List<Series> series = Series.ofStrategies(names);

        assertEquals(names, series.stream().map(Series::name).toList());
        assertEquals(
                names.size(),
                series.stream()
                        .map(look -> look.colour() + look.dash())
                        .distinct()
                        .count());
    }

    @Test
    void shouldGiveAStrategyOneLookOnEveryPage() {
        final List<String> names =
                List.of("tlsf", "cudaMalloc", "hal-best-fit", "pooled", "tlsf facade, STRICT", "other");

        for (int first = 0; first < names.size(); first++) {
            for (final Series look : Series.ofStrategies(names.subList(first, names.size()))) {
                assertEquals(Series.of(look.name()), look);
            }
        }
    }

    @Test
    void shouldFindEveryPropertyInTheStyleSheetForLightAndDark() {
        final String style = Template.load("report.css");

        for (final Series look :
                Series.ofStrategies(IntStream.range(0, 9).mapToObj(i -> "s" + i).toList())) {
            assertEquals(3, style.split(look.colour() + ":", -1).length, look.colour());
            assertEquals(2, style.split(look.dash() + ":", -1).length, look.dash());
        }
    }

    /** By WCAG 2.2, lines need a contrast of 3 to 1 (criterion 1.4.11), and text needs 4.5 to 1 (1.4.3). */
    @Test
    void shouldStandOutFromThePaper() {
        final String style = Template.load("report.css");
        double paper = Double.NaN;
        int checked = 0;

        final Matcher matcher = COLOUR.matcher(style);
        while (matcher.find()) {
            final double luminance = luminance(Integer.parseInt(matcher.group(2), 16));
            final String name = matcher.group(1);
            if (name.equals("--paper")) {
                paper = luminance;
            } else if (name.matches("--(colour|baseline)-\\d|--(ink|soft|link|alarm|live|extent|region|device)")) {
                final boolean line = name.matches("--(colour|baseline)-\\d|--(live|extent|region|device)");
                final double contrast = (Math.max(paper, luminance) + 0.05) / (Math.min(paper, luminance) + 0.05);
                assertTrue(contrast >= (line ? 3 : 4.5), matcher.group() + " has a contrast of " + contrast);
                checked++;
            }
        }

        assertEquals(2 * 20, checked);
    }

    private static double luminance(final int rgb) {
        return 0.2126 * linear(rgb >> 16) + 0.7152 * linear(rgb >> 8) + 0.0722 * linear(rgb);
    }

    private static double linear(final int channel) {
        final double value = (channel & 0xFF) / 255.0;
        return value <= 0.04045 ? value / 12.92 : Math.pow((value + 0.055) / 1.055, 2.4);
    }
}
