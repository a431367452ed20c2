package io.outboard.bench.cli.report.strategies;

import io.outboard.bench.cli.report.AtomicFile;
import io.outboard.bench.cli.report.LogBars;
import io.outboard.bench.cli.report.PagePart;
import io.outboard.bench.cli.report.Result;
import io.outboard.bench.cli.report.ResultFolder;
import io.outboard.bench.cli.report.ResultsSection;
import io.outboard.bench.cli.report.Section;
import io.outboard.bench.cli.report.Series;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** This class lists what pages show of strategies, and of pools over strategies. */
public final class StrategyParts {

    private static final PagePart TRACES = new PagePart(ResultFolder.RESULTS, StrategyParts::sections);

    /** The parts of a run's page, in their order. */
    public static final List<PagePart> ALL = List.of(
            PagePart.of(AdviceSection.FILE_NAME, AdviceSection::new),
            TRACES,
            PagePart.of(ThreadsSection.FILE_NAME, ThreadsSection::new),
            new ResultsSection.Kind(
                            "ratios.jsonl",
                            "Times faster than the driver",
                            List.of("strategy", "reusePolicy", "baseline"),
                            List.of(),
                            List.of("allocateRatio", "freeRatio"))
                    .part());

    private StrategyParts() {}

    private static List<Section> sections(final ResultFolder folder) {
        final Map<String, List<Result>> traces = folder.resultsByTrace();
        final Map<String, Series> series = Series.ofStrategies(folder.names()).stream()
                .collect(Collectors.toMap(Series::name, Function.identity(), (a, b) -> a, LinkedHashMap::new));
        final List<Section> sections = new ArrayList<>();
        final SpeedOverSpace speedOverSpace = new SpeedOverSpace(traces);
        if (!speedOverSpace.isEmpty()) {
            sections.add(speedOverSpace);
        }
        if (traces.size() > 1) {
            sections.add(new OverviewSection(traces, series));
        }
        traces.forEach(
                (trace, results) -> sections.add(new TraceSection(folder, trace, results, series, traces.size() == 1)));
        return sections;
    }

    /**
     * Writes the one chart that represents a folder's results: the percentiles of an allocation, of several processes
     * if the folder has {@code processes.jsonl}.
     *
     * @param directory the folder that holds the results
     * @param picture the file, in SVG, in place of an older one
     * @throws IllegalArgumentException if the folder is missing or has no latencies, or a file is malformed; names it
     * @throws IOException if a file cannot be read or the picture cannot be written
     */
    public static void writePicture(final Path directory, final Path picture) throws IOException {
        final ResultFolder folder = ResultFolder.open(directory, List.of(TRACES));
        final LogBars bars = new ResultHeadline(folder.headlineResults()).picture();
        if (bars.isEmpty()) {
            throw new IllegalArgumentException(directory + ": must contain latencies, of which a picture is made");
        }
        AtomicFile.write(picture, bars.file());
    }
}
