package io.outboard.pool;

import io.outboard.core.Region;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.growth.Growth;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.agrona.collections.LongArrayList;
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

    private static final Comparator<Holder> LARGEST_FIRST =
            Comparator.comparingLong(Holder::sizeBytes).reversed().thenComparingLong(Holder::address);

    private final @Nullable LeakTracker tracker;
    private final PoolStatistics statistics;
    private final List<Region> regions;
    private final LongArrayList blocks = new LongArrayList();

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
            arenas.whole.forEachBlock((address, sizeBytes, free) -> {
                blocks.addLong(address);
                blocks.addLong(sizeBytes);
                blocks.addLong(free ? FREE : limbo.contains(address) ? LIMBO : USED);
            });
        } finally {
            arenas.whole.unlock();
        }
    }

    /** Largest first, with their sites. */
    List<Holder> holders() {
        final TreeSet<Holder> holders = new TreeSet<>(LARGEST_FIRST);
        for (int at = 0; at < blocks.size(); at += STRIDE) {
            if (blocks.getLong(at + 2) == USED) {
                holders.add(block(at));
                if (holders.size() > MOST_HOLDERS) {
                    holders.pollLast();
                }
            }
        }
        return holders.stream().map(this::withSite).toList();
    }

    /** Not under the lock, since that is slow: of a block that was freed since there is none, or that of the next owner. */
    private Holder withSite(final Holder block) {
        final String site = tracker == null ? null : tracker.siteAt(block.address());
        return new Holder(block.address(), block.sizeBytes(), site);
    }

    private Holder block(final int at) {
        return new Holder(blocks.getLong(at), blocks.getLong(at + 1));
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
            writeList(out, "blocks", IntStream.range(0, blocks.size() / STRIDE).mapToObj(i -> json(i * STRIDE)));
            writeList(out, "holders", holders().stream().map(each -> json(each, null)));
            out.append("}\n");
        }
    }

    private String json(final int at) {
        final int state = (int) blocks.getLong(at + 2);
        return json(state == USED ? withSite(block(at)) : block(at), STATES[state]);
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
    private static String json(final Holder block, final @Nullable String state) {
        return "{\"address\": \"0x" + Long.toHexString(block.address()) + "\", \"sizeBytes\": " + block.sizeBytes()
                + (state == null ? "" : ", \"state\": " + quoted(state))
                + (block.site() == null ? "" : ", \"site\": " + quoted(block.site())) + "}";
    }

    /** What a JSON string must escape, and surrogates, which needn't come in pairs in the name of a class. */
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
