package io.outboard.pool;

import io.outboard.core.Region;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.growth.Growth;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.agrona.collections.LongHashSet;
import org.jspecify.annotations.Nullable;

/** A pool's state at one moment: copied under its lock, 24 bytes a block, then written without it. Confined to one thread. */
final class PoolDump {

    /** What a copied block has in {@link #blocks}: address, size, state. */
    private static final int STRIDE = 3;

    private static final int FREE = 0;
    private static final int USED = 1;
    private static final int LIMBO = 2;
    private static final String[] STATES = {"free", "used", "limbo"};

    private static final int MOST_HOLDERS = 8;

    private final @Nullable LeakTracker tracker;
    private final PoolStatistics statistics;
    private final List<Region> regions;
    private long[] blocks = new long[64 * STRIDE];
    private int length;

    /** Largest first. */
    private final TreeSet<Holder> holders =
            new TreeSet<>(Comparator.comparingLong(Holder::sizeBytes).reversed().thenComparingLong(Holder::address));

    /** Copies, while nothing changes: all locks are taken for that. */
    PoolDump(final Diagnosis diagnosis, final Arenas arenas, final Growth growth, final @Nullable LeakTracker tracker) {
        this.tracker = tracker;
        arenas.settle();
        arenas.whole.lock();
        try {
            statistics = diagnosis.statistics();
            final LongHashSet limbo = new LongHashSet();
            arenas.whole.forEachInLimbo(limbo::add);
            regions = growth.held();
            arenas.whole.forEachBlock((address, sizeBytes, free) ->
                    add(address, sizeBytes, free ? FREE : limbo.contains(address) ? LIMBO : USED));
        } finally {
            arenas.whole.unlock();
        }
    }

    private void add(final long address, final long sizeBytes, final int state) {
        if (length == blocks.length) {
            blocks = Arrays.copyOf(blocks, 2 * length);
        }
        blocks[length] = address;
        blocks[length + 1] = sizeBytes;
        blocks[length + 2] = state;
        length += STRIDE;
        if (state == USED) {
            holders.add(new Holder(address, sizeBytes));
            if (holders.size() > MOST_HOLDERS) {
                holders.pollLast();
            }
        }
    }

    /** Largest first, with their sites. */
    List<Holder> holders() {
        return holders.stream()
                .map(holder -> new Holder(holder.address(), holder.sizeBytes(), siteAt(holder.address())))
                .toList();
    }

    /** Not under the lock, since that is slow: of a block that was freed since there is none, or that of the next owner. */
    private @Nullable String siteAt(final long address) {
        return tracker == null ? null : tracker.siteAt(address);
    }

    void write(final Path path, final @Nullable String name) throws IOException {
        try (Writer out = Files.newBufferedWriter(path)) {
            out.append('{');
            if (name != null) {
                out.append("\"name\": ").append(quoted(name)).append(",\n");
            }
            writeStatistics(out);
            writeList(out, "regions", regions.stream().map(each -> json(each.address(), each.sizeBytes(), null, null)));
            writeList(out, "blocks", IntStream.range(0, length / STRIDE).mapToObj(i -> block(i * STRIDE)));
            writeList(
                    out,
                    "holders",
                    holders().stream().map(each -> json(each.address(), each.sizeBytes(), null, each.site())));
            out.append("}\n");
        }
    }

    private String block(final int at) {
        final int state = (int) blocks[at + 2];
        return json(blocks[at], blocks[at + 1], STATES[state], state == USED ? siteAt(blocks[at]) : null);
    }

    private void writeStatistics(final Writer out) throws IOException {
        out.append("\"statistics\": {\"regions\": " + statistics.regions()
                + ", \"heldBytes\": " + statistics.heldBytes()
                + (statistics.limitBytes() == PoolStatistics.NO_LIMIT
                        ? ""
                        : ", \"limitBytes\": " + statistics.limitBytes())
                + ", \"usedBytes\": " + statistics.usedBytes()
                + ", \"limboBytes\": " + statistics.limboBytes()
                + ", \"freeBytes\": " + statistics.freeBytes()
                + ", \"peakUsedBytes\": " + statistics.peakUsedBytes()
                + ", \"liveBlocks\": " + statistics.liveBlocks()
                + ", \"allocations\": " + statistics.allocations()
                + ", \"synchronizations\": " + statistics.synchronizations()
                + ", \"mappings\": " + statistics.mappings()
                + ", \"movedBytes\": " + statistics.movedBytes()
                + ", \"failures\": " + statistics.failures()
                + ", \"leaks\": " + statistics.leaks() + "}");
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

    /** Addresses as strings: a reader that takes numbers for doubles would round those above 2^53. */
    private static String json(
            final long address, final long sizeBytes, final @Nullable String state, final @Nullable String site) {
        return "{\"address\": \"0x" + Long.toHexString(address) + "\", \"sizeBytes\": " + sizeBytes
                + (state == null ? "" : ", \"state\": " + quoted(state))
                + (site == null ? "" : ", \"site\": " + quoted(site)) + "}";
    }

    /** What a JSON string must escape, and surrogates, which needn't come in pairs in the name of a class. */
    static String quoted(final String text) {
        final StringBuilder quoted = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            final char c = text.charAt(i);
            if (c < ' ' || Character.isSurrogate(c)) {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                if (c == '"' || c == '\\') {
                    quoted.append('\\');
                }
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
