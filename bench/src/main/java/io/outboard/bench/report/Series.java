package io.outboard.bench.report;

import java.util.ArrayList;
import java.util.List;

/**
 * How a line looks in charts, legends and tables. Colours and dashes are names of properties in {@code report.css},
 * which has one set of values for light and one for dark.
 *
 * @param name what the line shows
 * @param colour property that holds the colour
 * @param dash property that holds the dash
 * @param hidden whether the line waits to be switched on
 */
public record Series(String name, String colour, String dash, boolean hidden) {

    private static final int COLOURS = 8;
    private static final int DASHES = 5;

    public Series(final String name, final String colour, final String dash) {
        this(name, colour, dash, false);
    }

    /**
     * A look for every strategy: baselines in shades of grey, the rest in colours that people with any colour vision
     * can tell apart, and every line with its own dash.
     *
     * @param strategies names in the order in which looks are given away
     * @return one series a name
     */
    public static List<Series> ofStrategies(final List<String> strategies) {
        final List<Series> series = new ArrayList<>();
        int strategy = 0;
        int baseline = 0;
        for (final String name : strategies) {
            if (Result.isBaseline(name)) {
                series.add(new Series(name, "--baseline-" + baseline % 2, "--dash-" + baseline % DASHES));
                baseline++;
            } else {
                // The second round of colours begins with another dash than the first.
                final int dash = (strategy + strategy / COLOURS) % DASHES;
                series.add(new Series(name, "--colour-" + strategy % COLOURS, "--dash-" + dash));
                strategy++;
            }
        }
        return series;
    }

    /** A short piece of the line and its name. */
    public String html() {
        return "<svg class=\"swatch\" viewBox=\"0 0 30 8\" aria-hidden=\"true\"><path d=\"M1 4h28\" style=\"stroke:var("
                + colour + ");stroke-dasharray:var(" + dash + ")\"/></svg>" + Html.escape(name);
    }
}
