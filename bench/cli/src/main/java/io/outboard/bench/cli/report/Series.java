package io.outboard.bench.cli.report;

import io.outboard.bench.cli.device.DriverAllocators;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A series says how a line looks in charts, legends and tables. Colours and dashes are names of properties in
 * {@code report.css}, which has one set of values for light and one for dark. Only this class assigns colours.
 *
 * @param name what the line shows
 * @param colour property that holds the colour
 * @param dash property that holds the dash
 * @param hidden whether the line is hidden until it is switched on
 */
public record Series(String name, String colour, String dash, boolean hidden) {

    private static final int COLOURS = 10;
    private static final int DASHES = 5;

    /** Known names look the same on every page, whatever stands beside them. */
    private static final Map<String, Integer> LOOKS = Map.ofEntries(
            Map.entry("tlsf", 0),
            Map.entry("hal-best-fit", 1),
            Map.entry("buddy-binary", 2),
            Map.entry("hal-first-fit", 3),
            Map.entry("hal-next-fit", 4),
            Map.entry("bitmask", 5),
            Map.entry("segregated-fit", 6),
            Map.entry("segregated-fit-paper", 10),
            Map.entry("pooled", 8),
            Map.entry("buddy-fibonacci", 9),
            Map.entry("buddy-double", 15),
            Map.entry("tlsf facade", 11),
            Map.entry("tlsf facade, STRICT", 11),
            Map.entry("tlsf pool", 12),
            Map.entry("tlsf pool, STRICT", 12),
            Map.entry("tlsf pool, TRACKED", 13),
            Map.entry("tlsf facade, TRACKED", 14),
            Map.entry("tlsf pool, IMMEDIATE", 16),
            Map.entry("tlsf facade, IMMEDIATE", 17),
            Map.entry("tlsf pool, STREAM_ORDERED", 18),
            Map.entry("tlsf facade, STREAM_ORDERED", 19),
            Map.entry("BitMalloc", 0),
            Map.entry("BitMalloc coalesced", 10),
            Map.entry("CFMMalloc", 1),
            Map.entry("CFMMalloc coalesced", 11),
            Map.entry("CMMalloc", 2),
            Map.entry("CMMalloc coalesced", 12),
            Map.entry("CFMalloc", 3),
            Map.entry("CFMalloc coalesced", 13),
            Map.entry("CMalloc", 4),
            Map.entry("CMalloc coalesced", 14),
            Map.entry("AtomicMalloc", 5),
            Map.entry("AWMalloc", 6),
            Map.entry("ObjectHeap", 7),
            Map.entry("XMalloc", 8));

    /** The name of the line that shows what a program itself has in use. */
    public static final String LIVE_BYTES = "live bytes";

    /** Names that aren't strategies': what programs need, and what ours are compared with. */
    private static final Map<String, Series> BASELINES = Map.of(
            LIVE_BYTES,
            new Series(LIVE_BYTES, "--live", "--dash-0"),
            DriverAllocators.CUDA_MALLOC,
            new Series(DriverAllocators.CUDA_MALLOC, "--baseline-0", "--dash-0"),
            DriverAllocators.CU_MEM_ALLOC_ASYNC,
            new Series(DriverAllocators.CU_MEM_ALLOC_ASYNC, "--baseline-1", "--dash-1"),
            "CudaMalloc",
            new Series("CudaMalloc", "--baseline-0", "--dash-0"),
            "Empty",
            new Series("Empty", "--baseline-1", "--dash-1"));

    public Series(final String name, final String colour, final String dash) {
        this(name, colour, dash, false);
    }

    /**
     * Assigns a look to every name. Known names look the same everywhere, baselines are shades of grey, and others get
     * free looks. People with any colour vision can tell the colours apart; up to 50 lines of a page share no pair of
     * colour and dash.
     *
     * @param names of strategies, pools or kernels' allocators
     * @return one series a name, in the same order
     */
    public static List<Series> ofStrategies(final List<String> names) {
        final Set<Integer> taken = new HashSet<>();
        names.forEach(name -> {
            if (LOOKS.containsKey(name)) {
                taken.add(LOOKS.get(name));
            }
        });
        final List<Series> series = new ArrayList<>();
        int baseline = 2;
        for (final String name : names) {
            if (BASELINES.containsKey(name)) {
                series.add(BASELINES.get(name));
            } else if (Result.isBaseline(name)) {
                series.add(new Series(name, "--baseline-" + baseline % 2, "--dash-" + baseline % DASHES));
                baseline++;
            } else if (LOOKS.containsKey(name)) {
                series.add(look(name, LOOKS.get(name)));
            } else {
                // The number depends on the name, so that the look is likely the same on the next page too.
                int number = Math.floorMod(name.hashCode(), COLOURS * DASHES);
                for (int tries = 0; tries < COLOURS * DASHES && !taken.add(number); tries++) {
                    number = (number + 1) % (COLOURS * DASHES);
                }
                series.add(look(name, number));
            }
        }
        return series;
    }

    /** Returns the look that a name has everywhere. */
    public static Series of(final String name) {
        return ofStrategies(List.of(name)).get(0);
    }

    /** Returns the look of a number; the second round of colours begins with another dash than the first. */
    private static Series look(final String name, final int number) {
        return new Series(name, "--colour-" + number % COLOURS, "--dash-" + (number + number / COLOURS) % DASHES);
    }

    /** Returns a short piece of the line and its name. */
    public String html() {
        return "<svg class=\"swatch\" viewBox=\"0 0 30 8\" aria-hidden=\"true\"><path d=\"M1 4h28\" style=\"stroke:var("
                + colour + ");stroke-dasharray:var(" + dash + ")\"/></svg>" + Html.escape(name);
    }
}
