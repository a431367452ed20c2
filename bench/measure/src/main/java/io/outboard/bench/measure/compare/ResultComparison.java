package io.outboard.bench.measure.compare;

import io.outboard.bench.cli.report.JsonLine;
import io.outboard.bench.cli.report.JsonObject;
import io.outboard.bench.cli.report.JsonReader;
import io.outboard.bench.cli.report.LineFile;
import io.outboard.bench.measure.compare.ComparedFile.Figure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** A comparison has the figures that are in both of two folders of results. Confined to one thread. */
final class ResultComparison {

    private static final String ENVIRONMENT = "environment.json";
    private static final List<String> MACHINE = List.of("cpu", "gpu", "driver", "jdk");

    /**
     * A row is one figure in both folders.
     *
     * @param result what was measured
     * @param figure its name
     * @param before in the first folder
     * @param after in the second
     * @param loss how many times worse the second is: above 1 is worse, infinite if the figure was 0 before and isn't
     *     now
     */
    record Row(String result, String figure, double before, double after, double loss) {

        double ratio() {
            return after / before;
        }

        JsonLine json(final boolean worse) {
            return new JsonLine()
                    .put("result", result)
                    .put("figure", figure)
                    .put("before", before, 4)
                    .put("after", after, 4)
                    .put("ratio", ratio(), 4)
                    .put("worse", worse ? 1L : 0L);
        }
    }

    private final Path before;
    private final Path after;
    private final List<Row> rows = new ArrayList<>();
    private final List<String> remarks = new ArrayList<>();

    /**
     * Reads both folders.
     *
     * @param before a folder of results, or one file in it
     * @param after the same
     * @throws IllegalArgumentException if one holds no results, or they have none in common; names both
     * @throws IOException if a file can't be read
     */
    ResultComparison(final Path before, final Path after) throws IOException {
        this.before = before;
        this.after = after;
        final List<ComparedFile> common = common();
        final List<String> seenBefore = new ArrayList<>();
        final List<String> seenAfter = new ArrayList<>();
        for (final ComparedFile compared : common) {
            compare(compared, seenBefore, seenAfter);
        }
        if (rows.isEmpty()) {
            throw new IllegalArgumentException(before + " and " + after
                    + " must have results of the same kind in common, but the first has " + shortList(seenBefore)
                    + ", the second " + shortList(seenAfter));
        }
        compareMachines();
    }

    List<Row> rows() {
        return rows;
    }

    /** Returns remarks for the reader of the figures. */
    List<String> remarks() {
        return remarks;
    }

    /** Returns the kinds of results that are in both folders. */
    private List<ComparedFile> common() {
        final List<ComparedFile> first = kinds(before);
        final List<ComparedFile> second = kinds(after);
        final List<ComparedFile> common =
                first.stream().filter(second::contains).toList();
        if (common.isEmpty()) {
            throw new IllegalArgumentException(before + " and " + after
                    + " must have results of the same kind in common, but the first has " + names(first)
                    + ", the second " + names(second));
        }
        return common;
    }

    private static List<String> names(final List<ComparedFile> kinds) {
        return kinds.stream().map(ComparedFile::fileName).toList();
    }

    private static List<ComparedFile> kinds(final Path place) {
        if (!Files.exists(place)) {
            throw new IllegalArgumentException(place + ": must be a folder that --out wrote, or a file in one");
        }
        final List<ComparedFile> kinds = ComparedFile.ALL.stream()
                .filter(compared -> Files.isDirectory(place)
                        ? Files.isRegularFile(LineFile.in(place, compared.fileName()))
                        : LineFile.nameOf(place.toFile().getName()).equals(compared.fileName()))
                .toList();
        if (kinds.isEmpty()) {
            throw new IllegalArgumentException(
                    place + ": must hold results that can be compared, such as results.jsonl");
        }
        return kinds;
    }

    private static Path file(final Path place, final ComparedFile compared) {
        return Files.isDirectory(place) ? LineFile.in(place, compared.fileName()) : place;
    }

    private static Path folder(final Path place) {
        return Files.isDirectory(place) ? place : place.toAbsolutePath().resolveSibling("");
    }

    private void compare(final ComparedFile compared, final List<String> seenBefore, final List<String> seenAfter)
            throws IOException {
        final Map<String, JsonObject> first = compared.read(file(before, compared));
        final Map<String, JsonObject> second = compared.read(file(after, compared));
        seenBefore.addAll(first.keySet());
        seenAfter.addAll(second.keySet());
        remark("only in " + before, first, second);
        remark("only in " + after, second, first);
        for (final Map.Entry<String, JsonObject> entry : first.entrySet()) {
            final JsonObject then = second.get(entry.getKey());
            if (then != null) {
                checkSame(compared, entry.getKey(), entry.getValue(), then);
                compared.less().forEach(figure -> add(entry.getKey(), figure, entry.getValue(), then, true));
                compared.more().forEach(figure -> add(entry.getKey(), figure, entry.getValue(), then, false));
            }
        }
    }

    private void remark(final String what, final Map<String, JsonObject> some, final Map<String, JsonObject> others) {
        final List<String> alone =
                some.keySet().stream().filter(name -> !others.containsKey(name)).toList();
        if (!alone.isEmpty()) {
            remarks.add(what + ": " + shortList(alone));
        }
    }

    private static String shortList(final List<String> names) {
        return names.isEmpty()
                ? "none"
                : names.size() <= 3
                        ? String.join("; ", names)
                        : String.join("; ", names.subList(0, 3)) + " and " + (names.size() - 3) + " more";
    }

    /** Checks that two results of the same name are of the same work: another number of operations is another trace. */
    private void checkSame(
            final ComparedFile compared, final String name, final JsonObject first, final JsonObject second) {
        for (final String key : compared.same()) {
            if (Double.compare(first.number(key), second.number(key)) != 0) {
                throw new IllegalArgumentException(
                        before + " and " + after + " must have " + name + " with the same " + key + ", but have "
                                + JsonNumbers.text(first.number(key)) + " and "
                                + JsonNumbers.text(second.number(key)));
            }
        }
    }

    private void add(
            final String name,
            final Figure figure,
            final JsonObject first,
            final JsonObject second,
            final boolean less) {
        final double then = figure.of(first);
        final double now = figure.of(second);
        if (Double.isNaN(then) || Double.isNaN(now)) {
            return;
        }
        final double worse = Math.max(less ? now : then, figure.least());
        final double better = Math.max(less ? then : now, figure.least());
        rows.add(new Row(name, figure.title(), then, now, worse == better ? 1 : worse / better));
    }

    private void compareMachines() throws IOException {
        final Path first = folder(before).resolve(ENVIRONMENT);
        final Path second = folder(after).resolve(ENVIRONMENT);
        if (Files.isRegularFile(first) && Files.isRegularFile(second)) {
            final JsonObject then = JsonReader.read(first.toString(), 1, Files.readString(first));
            final JsonObject now = JsonReader.read(second.toString(), 1, Files.readString(second));
            Stream.concat(MACHINE.stream(), Stream.of("flags"))
                    .filter(key -> !then.text(key).equals(now.text(key)))
                    .forEach(key -> remarks.add(key + " differs: " + then.text(key) + "; " + now.text(key)));
        }
    }
}
