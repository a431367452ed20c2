package io.outboard.bench.measure.compare;

import io.outboard.bench.cli.report.JsonObject;
import io.outboard.bench.cli.report.JsonReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The record describes a file of results that can be compared: its name, and the keys that a comparison needs.
 *
 * @param fileName in a folder of results: one JSON object a line
 * @param rows keys whose values tell one line from the others
 * @param same keys whose values must be the same for a comparison to mean anything
 * @param less figures that are better when they are less
 * @param more figures that are better when they are more
 */
record ComparedFile(String fileName, List<String> rows, List<String> same, List<Figure> less, List<Figure> more) {

    /**
     * A figure is one number of a line.
     *
     * @param key of the object that it is in, empty for the line itself
     * @param name its own key
     * @param least smaller values count as this one, since they are noise
     */
    record Figure(String key, String name, double least) {

        double of(final JsonObject line) {
            return (key.isEmpty() ? line : line.object(key)).number(name);
        }

        String title() {
            return key.isEmpty() ? name : key + " " + name;
        }
    }

    private static final List<String> PERCENTILES = List.of("p50", "p99", "p999");

    /** All files that can be compared. */
    static final List<ComparedFile> ALL = List.of(
            new ComparedFile(
                    "results.jsonl",
                    List.of("trace", "strategy", "reusePolicy", "device"),
                    List.of("ops", "peakLiveBytes"),
                    with(
                            latencies("allocate", "free"),
                            new Figure("", "nsPerOp", 0.1),
                            new Figure("", "gcBytesPerOp", 0.1),
                            new Figure("", "smallestRegionBytes", 1),
                            new Figure("", "hostBytesPerBlock", 1),
                            new Figure("", "failures", 0)),
                    List.of()),
            new ComparedFile(
                    "threads.jsonl",
                    List.of("trace", "strategy", "reusePolicy", "threads"),
                    List.of(),
                    List.of(),
                    List.of(new Figure("", "opsPerSecond", 1))),
            new ComparedFile(
                    "thread-profiles.jsonl",
                    List.of("profile", "strategy", "allocator", "reusePolicy", "threads", "others", "launchers"),
                    List.of("smallestBytes", "largestBytes", "liveBlocks"),
                    with(latencies("allocate", "free"), new Figure("", "peakHeldBytes", 1)),
                    List.of(new Figure("", "opsPerSecond", 1))),
            new ComparedFile(
                    "thread-memory.jsonl",
                    List.of("trace", "mode", "strategy", "reusePolicy", "slackBytes", "threads"),
                    List.of("peakLiveBytes"),
                    List.of(new Figure("", "heldBytes", 1)),
                    List.of()),
            new ComparedFile(
                    "sweep.jsonl",
                    List.of("sizeBytes", "strategy", "allocator", "reusePolicy", "threads"),
                    List.of("liveBlocks"),
                    latencies("allocate", "free"),
                    List.of()),
            new ComparedFile(
                    "smallest.jsonl",
                    List.of("profile", "strategy"),
                    List.of("ops", "seeds"),
                    List.of(
                            new Figure("", "firstServedMean", 1),
                            new Figure("", "lastRefusedMean", 1),
                            new Figure("", "unserved", 0)),
                    List.of()),
            new ComparedFile(
                    "tail.jsonl",
                    List.of("profile", "strategy", "beside"),
                    List.of(),
                    List.of(
                            new Figure("", "p50Ns", 1),
                            new Figure("", "p999Ns", 1),
                            new Figure("", "p9999Ns", 1),
                            new Figure("", "p99999Ns", 1),
                            new Figure("", "failures", 0)),
                    List.of()));

    private static List<Figure> latencies(final String... keys) {
        final List<Figure> figures = new ArrayList<>();
        for (final String key : keys) {
            PERCENTILES.forEach(percentile -> figures.add(new Figure(key, percentile, 1)));
        }
        return figures;
    }

    private static List<Figure> with(final List<Figure> some, final Figure... others) {
        final List<Figure> all = new ArrayList<>(List.of(others));
        all.addAll(some);
        return all;
    }

    /**
     * Reads the lines of a file, by the values of their {@link #rows}, in the file's order.
     *
     * @throws IllegalArgumentException if the file breaks a rule; names file and line
     * @throws IOException if it can't be read
     */
    Map<String, JsonObject> read(final Path file) throws IOException {
        final Map<String, JsonObject> lines = new LinkedHashMap<>();
        final List<String> texts = Files.readAllLines(file);
        for (int i = 0; i < texts.size(); i++) {
            if (!texts.get(i).isBlank()) {
                final JsonObject line = JsonReader.read(file.toString(), i + 1, texts.get(i));
                final String base = rows.stream()
                        .map(line::text)
                        .filter(text -> !text.isEmpty())
                        .collect(Collectors.joining(", "));
                String name = base;
                for (int number = 2; lines.putIfAbsent(name, line) != null; number++) {
                    name = base + ", " + number;
                }
            }
        }
        return lines;
    }
}
