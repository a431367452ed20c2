package io.outboard.bench.cli.report;

import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * This class makes one result of the results of several processes, each of which measured the same things: of each
 * percentile the median of the processes. The file is {@code processes.jsonl}, with a line for each result of each
 * process, and lines of other kinds, which are left out.
 */
final class ProcessMedians {

    static final String FILE_NAME = "processes.jsonl";

    private static final List<String> NAMES = List.of("trace", "strategy", "device", "reusePolicy");

    private ProcessMedians() {}

    /** Reads the file; the results are in the order in which the first process measured. */
    static List<Result> read(final ResultFolder folder) throws IOException {
        final Map<List<String>, List<JsonObject>> processes = folder.results(FILE_NAME, JsonReader::read).stream()
                .filter(line -> line.keys().contains("allocate"))
                .collect(Collectors.groupingBy(
                        line -> NAMES.stream().map(line::text).toList(), LinkedHashMap::new, Collectors.toList()));
        return Result.ofLines(processes.values().stream()
                .map(lines -> median(folder.path(FILE_NAME), lines))
                .toList());
    }

    private static JsonObject median(final String file, final List<JsonObject> lines) {
        final JsonObject first = lines.get(0);
        final JsonLine median = new JsonLine();
        NAMES.forEach(name -> median.put(name, first.text(name)));
        median.put("processes", (long) lines.size());
        median.put("nsPerOp", median(lines, line -> line.number("nsPerOp")), 2);
        median.put(
                "failures",
                lines.stream()
                        .mapToDouble(line -> line.number("failures"))
                        .max()
                        .orElse(0),
                0);
        for (final String operation : List.of("allocate", "free")) {
            final JsonLine latencies = new JsonLine();
            for (final Percentile percentile : Percentile.OF_RESULTS) {
                latencies.put(
                        percentile.key(),
                        median(lines, line -> line.object(operation).number(percentile.key())),
                        1);
            }
            median.put(operation, latencies);
        }
        return JsonReader.read(file, 1, median.toString());
    }

    private static double median(final List<JsonObject> lines, final Function<JsonObject, Double> number) {
        final double[] numbers = lines.stream().mapToDouble(number::apply).toArray();
        Arrays.sort(numbers);
        return (numbers[(numbers.length - 1) / 2] + numbers[numbers.length / 2]) / 2;
    }
}
