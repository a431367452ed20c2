package io.outboard.pool;

import io.outboard.core.Region;
import io.outboard.pool.internal.arena.Arenas;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.agrona.collections.LongArrayList;
import org.agrona.collections.LongHashSet;
import org.jspecify.annotations.Nullable;

/**
 * A pool dump is a pool's state at one moment, copied under all arenas' locks, at most 24 bytes a block, and written
 * without the locks. Confined to one thread.
 */
final class PoolDump {

    private static final String USED = "used";
    private static final int MOST_HOLDERS = 8;

    private final @Nullable LeakTracker tracker;
    private final PoolStatistics statistics;
    private final List<Region> regions = new ArrayList<>();

    private final LongArrayList addresses = new LongArrayList();
    private final LongArrayList sizes = new LongArrayList();
    private final List<String> states = new ArrayList<>();

    PoolDump(final Diagnosis diagnosis, final Arenas arenas, final @Nullable LeakTracker tracker) {
        this.tracker = tracker;
        arenas.settle();
        final PoolStatistics[] then = new PoolStatistics[1];
        arenas.whileLocked(() -> {
            then[0] = diagnosis.statistics();
            regions.addAll(arenas.held());
            final LongHashSet limbo = new LongHashSet();
            arenas.forEachInLimbo(limbo::add);
            arenas.forEachBlock((address, sizeBytes, free) -> {
                addresses.addLong(address);
                sizes.addLong(sizeBytes);
                states.add(free ? "free" : limbo.contains(address) ? "limbo" : USED);
            });
        });
        statistics = then[0];
    }

    /** Returns the largest blocks in use, largest first, those of one size in the order of addresses. */
    List<Holder> holders() {
        final Comparator<Integer> smallestFirst = Comparator.comparingLong(sizes::getLong);
        final TreeSet<Integer> holders =
                new TreeSet<>(smallestFirst.reversed().thenComparing(Comparator.naturalOrder()));
        for (int i = 0; i < states.size(); i++) {
            if (states.get(i).equals(USED)) {
                holders.add(i);
                if (holders.size() > MOST_HOLDERS) {
                    holders.pollLast();
                }
            }
        }
        return holders.stream().map(this::block).toList();
    }

    /** Looks for the site without locks, since that is slow: a block freed since has none, or the next owner's. */
    private Holder block(final int i) {
        final String site =
                tracker == null || !states.get(i).equals(USED) ? null : tracker.siteAt(addresses.getLong(i));
        return new Holder(addresses.getLong(i), sizes.getLong(i), site);
    }

    void write(final Path path, final @Nullable String name) throws IOException {
        try (Writer out = Files.newBufferedWriter(path)) {
            out.append('{');
            if (name != null) {
                out.append("\"name\": ").append(quoted(name)).append(",\n");
            }
            writeStatistics(out);
            writeList(
                    out,
                    "regions",
                    regions.stream().map(each -> json(new Holder(each.address(), each.sizeBytes()), null)));
            writeList(out, "blocks", IntStream.range(0, states.size()).mapToObj(i -> json(block(i), states.get(i))));
            writeList(out, "holders", holders().stream().map(each -> json(each, null)));
            out.append("}\n");
        }
    }

    private void writeStatistics(final Writer out) throws IOException {
        final Map<String, Number> numbers = Diagnosis.numbers(statistics);
        numbers.remove("limitBytes", PoolStatistics.NO_LIMIT);
        out.append(numbers.entrySet().stream()
                .map(each -> quoted(each.getKey()) + ": " + each.getValue())
                .collect(Collectors.joining(", ", "\"statistics\": {", "}")));
    }

    private static void writeList(final Writer out, final String name, final Stream<String> entries)
            throws IOException {
        out.append(",\n\"" + name + "\": [");
        String separator = "\n";
        for (final Iterator<String> each = entries.iterator(); each.hasNext(); separator = ",\n") {
            out.append(separator).append(each.next());
        }
        out.append(']');
    }

    /** Writes addresses as strings: a reader that takes numbers for doubles would round those above 2^53. */
    private static String json(final Holder block, final @Nullable String state) {
        return "{\"address\": \"0x" + Long.toHexString(block.address()) + "\", \"sizeBytes\": " + block.sizeBytes()
                + (state == null ? "" : ", \"state\": " + quoted(state))
                + (block.site() == null ? "" : ", \"site\": " + quoted(block.site())) + "}";
    }

    /** Returns a JSON string. Surrogates are escaped, too, since they needn't come in pairs in the name of a class. */
    static String quoted(final String text) {
        final StringBuilder quoted = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            final char c = text.charAt(i);
            if (c < ' ' || Character.isSurrogate(c)) {
                quoted.append(String.format("\\u%04x", (int) c));
            } else if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
