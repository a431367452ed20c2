package io.outboard.bench.docs;

import io.outboard.bench.cli.report.JsonObject;
import io.outboard.bench.cli.report.JsonReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The sources are the files that figures come from: results, with a JSON object on each line, and lines of any other
 * text.
 */
final class Sources {

    private static final Pattern GROUPED = Pattern.compile("(?<=\\d),(?=\\d{3})");

    private final Path folder;
    private final Map<String, String> texts = new HashMap<>();
    private final Map<String, List<JsonObject>> objects = new HashMap<>();

    Sources(final Path folder) {
        this.folder = folder;
    }

    /**
     * Returns one number for each object that has these texts and the member; nested members have a point in their
     * name.
     */
    double[] numbers(final String file, final Map<String, String> where, final String path) {
        final int point = path.indexOf('.');
        return objects(file).stream()
                .filter(object -> where.entrySet().stream()
                        .allMatch(wanted -> object.text(wanted.getKey()).equals(wanted.getValue())))
                .filter(object -> object.keys().contains(point < 0 ? path : path.substring(0, point)))
                .mapToDouble(object -> point < 0
                        ? object.number(path)
                        : object.object(path.substring(0, point)).number(path.substring(point + 1)))
                .toArray();
    }

    /** Returns one number for each match: its first group, in the unit that its second one names, if it has two. */
    double[] matches(final String file, final Pattern pattern) {
        final Matcher matcher = pattern.matcher(text(file));
        final List<Double> numbers = new ArrayList<>();
        while (matcher.find()) {
            final double number =
                    Double.parseDouble(GROUPED.matcher(matcher.group(1)).replaceAll(""));
            numbers.add(
                    matcher.groupCount() < 2
                            ? number
                            : number / Unit.named(matcher.group(2)).scale());
        }
        return numbers.stream().mapToDouble(Double::doubleValue).toArray();
    }

    private List<JsonObject> objects(final String file) {
        return objects.computeIfAbsent(file, name -> {
            final List<JsonObject> read = new ArrayList<>();
            int line = 0;
            for (final String object : text(name).split("\n", -1)) {
                line++;
                if (!object.isBlank()) {
                    read.add(JsonReader.read(name, line, object));
                }
            }
            return read;
        });
    }

    private String text(final String file) {
        return texts.computeIfAbsent(file, name -> {
            try {
                return Files.readString(folder.resolve(name));
            } catch (final IOException e) {
                throw new IllegalArgumentException("file=" + name + " must be a text file of the project", e);
            }
        });
    }
}
