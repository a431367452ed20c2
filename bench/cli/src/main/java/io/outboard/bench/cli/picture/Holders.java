package io.outboard.bench.cli.picture;

import io.outboard.bench.cli.trace.Owners.Owner;
import io.outboard.core.ByteSize;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Holders are those who hold the memory at the peak of a picture: the blocks in use then, grouped by what the file says
 * of their owners.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: a pass over all blocks.
 */
public final class Holders {

    private static final int MOST_LINES = 10;
    private static final double MICROSECOND_NANOS = 1e3;
    private static final double MILLISECOND_NANOS = 1e6;
    private static final double SECOND_NANOS = 1e9;

    private Holders() {}

    /** What blocks are grouped by, the most telling first. */
    enum Part {
        SITE,
        THREAD,
        STREAM;

        String of(final Owner owner) {
            return switch (this) {
                case SITE -> owner.site();
                case THREAD -> owner.thread();
                case STREAM -> owner.stream();
            };
        }
    }

    /**
     * One group of blocks in use at the peak.
     *
     * @param name what they have in common; empty if it isn't known
     * @param bytes what they take, with what sizes are rounded up by
     * @param blocks how many they are
     * @param medianLife the median of their lives, in nanoseconds where the file has times, and otherwise in
     *     operations; infinite if at least half of them are never freed
     */
    record Holder(String name, long bytes, int blocks, double medianLife) {}

    /** Returns the most telling part that the file has of any owner; empty if it has none. */
    static Optional<Part> part(final Picture picture) {
        return Arrays.stream(Part.values())
                .filter(part -> picture.known.table().stream()
                        .anyMatch(owner -> !part.of(owner).isEmpty()))
                .findFirst();
    }

    /** Returns the groups at the peak; that with most bytes is the first. */
    static List<Holder> atPeak(final Picture picture, final Part part) {
        final Map<String, List<Integer>> groups = IntStream.range(0, picture.starts.length)
                .filter(i -> picture.starts[i] <= picture.peak && picture.peak < picture.ends[i])
                .boxed()
                .collect(Collectors.groupingBy(
                        i -> part.of(picture.known.table().get(picture.owners[i])),
                        LinkedHashMap::new,
                        Collectors.toList()));
        final List<Holder> holders = new ArrayList<>();
        groups.forEach((name, blocks) -> {
            final double[] lives =
                    blocks.stream().mapToDouble(i -> life(picture, i)).sorted().toArray();
            holders.add(new Holder(
                    name,
                    blocks.stream().mapToLong(i -> picture.sizes[i]).sum() * picture.granuleBytes,
                    lives.length,
                    lives[lives.length / 2]));
        });
        holders.sort(Comparator.comparingLong(Holder::bytes).reversed());
        return holders;
    }

    private static double life(final Picture picture, final int block) {
        final int end = picture.ends[block];
        if (end == picture.trace.operationCount()) {
            return Double.POSITIVE_INFINITY;
        }
        final int start = picture.starts[block];
        return picture.nanos.length == 0 ? end - start : picture.nanos[end] - picture.nanos[start];
    }

    /**
     * Tells of the peak in lines for a terminal.
     *
     * @param picture the picture
     * @return when the peak is, and who holds most memory then, as far as the file says
     */
    public static List<String> lines(final Picture picture) {
        final boolean isTimed = picture.nanos.length > 0;
        final List<String> lines = new ArrayList<>();
        lines.add("peak: " + ByteSize.text(picture.peakBytes)
                + String.format(Locale.ROOT, " in use after operation %,d", picture.peak)
                + (isTimed ? ", at " + time((double) picture.nanos[picture.peak]) : ""));
        part(picture).ifPresent(part -> {
            final List<Holder> holders = atPeak(picture, part);
            for (final Holder each : holders.subList(0, Math.min(MOST_LINES, holders.size()))) {
                final String what = part == Part.SITE ? "" : part.name().toLowerCase(Locale.ROOT) + " ";
                lines.add(String.format(
                        Locale.ROOT,
                        "%10s %3.0f %%  %,6d blocks, median life %s: %s",
                        ByteSize.text(each.bytes()),
                        100.0 * each.bytes() / picture.peakBytes,
                        each.blocks(),
                        life(each.medianLife(), isTimed),
                        each.name().isEmpty() ? "unknown" : what + printable(each.name())));
            }
            if (holders.size() > MOST_LINES) {
                lines.add(String.format(Locale.ROOT, "%10s and %,d more", "", holders.size() - MOST_LINES));
            }
        });
        return lines;
    }

    /** Returns a file's text without what a terminal would take for a command. */
    private static String printable(final String name) {
        return name.replaceAll("\\p{Cntrl}", "?");
    }

    private static String life(final double life, final boolean isTimed) {
        if (Double.isInfinite(life)) {
            return "to the end";
        }
        return isTimed ? time(life) : String.format(Locale.ROOT, "%,.0f operations", life);
    }

    private static String time(final double nanos) {
        if (nanos < MILLISECOND_NANOS) {
            return String.format(Locale.ROOT, "%.0f us", nanos / MICROSECOND_NANOS);
        }
        return nanos < SECOND_NANOS
                ? String.format(Locale.ROOT, "%.1f ms", nanos / MILLISECOND_NANOS)
                : String.format(Locale.ROOT, "%.2f s", nanos / SECOND_NANOS);
    }
}
