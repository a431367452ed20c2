package io.outboard.pool;

import io.outboard.core.Region;
import io.outboard.pool.internal.arena.Arenas;
import io.outboard.pool.internal.growth.Growth;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.agrona.collections.LongHashSet;
import org.jspecify.annotations.Nullable;

/**
 * A pool's state at one moment: copied under its lock, 24 bytes a block, then written without it. Confined to one thread.
 */
final class PoolDump {

    /** What a copied block has in {@link #blocks}: address, size, state. */
    private static final int STRIDE = 3;

    private static final long FREE = 0;
    private static final long USED = 1;
    private static final long LIMBO = 2;
    private static final String[] STATES = {"free", "used", "limbo"};

    private final PoolStatistics statistics;
    private final List<Region> regions;
    private final LargestHolders holders = new LargestHolders();
    private long[] blocks = new long[64 * STRIDE];
    private int length;

    /** Copies, while nothing changes: all locks are taken for that. */
    PoolDump(final Diagnosis diagnosis, final Arenas arenas, final Growth growth) {
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

    List<Holder> holders(final @Nullable LeakTracker tracker) {
        return holders.list(tracker);
    }

    private void add(final long address, final long sizeBytes, final long state) {
        if (length == blocks.length) {
            blocks = Arrays.copyOf(blocks, 2 * length);
        }
        blocks[length] = address;
        blocks[length + 1] = sizeBytes;
        blocks[length + 2] = state;
        length += STRIDE;
        if (state == USED) {
            holders.add(address, sizeBytes);
        }
    }

    /** Sites are looked up here: that of a block which was freed since is missing, or that of who has the address now. */
    void write(final Path path, final @Nullable String name, final @Nullable LeakTracker tracker) throws IOException {
        try (Writer out = Files.newBufferedWriter(path)) {
            out.append('{');
            if (name != null) {
                out.append("\"name\": ").append(quoted(name)).append(",\n");
            }
            writeStatistics(out);
            out.append(",\n\"regions\": [");
            for (int i = 0; i < regions.size(); i++) {
                out.append(i == 0 ? "\n" : ",\n");
                writeBlock(out, regions.get(i).address(), regions.get(i).sizeBytes(), null, null);
            }
            out.append("],\n\"blocks\": [");
            for (int i = 0; i < length; i += STRIDE) {
                final long state = blocks[i + 2];
                final String site = state == USED && tracker != null ? tracker.siteAt(blocks[i]) : null;
                out.append(i == 0 ? "\n" : ",\n");
                writeBlock(out, blocks[i], blocks[i + 1], STATES[(int) state], site);
            }
            out.append("],\n\"holders\": [");
            String separator = "\n";
            for (final Holder holder : holders.list(tracker)) {
                out.append(separator);
                writeBlock(out, holder.address(), holder.sizeBytes(), null, holder.site());
                separator = ",\n";
            }
            out.append("]}\n");
        }
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

    /** Addresses as strings: a reader that takes numbers for doubles would round those above 2^53. */
    private static void writeBlock(
            final Writer out,
            final long address,
            final long sizeBytes,
            final @Nullable String state,
            final @Nullable String site)
            throws IOException {
        out.append("{\"address\": \"0x").append(Long.toHexString(address)).append("\", \"sizeBytes\": ");
        out.append(Long.toString(sizeBytes));
        if (state != null) {
            out.append(", \"state\": ").append(quoted(state));
        }
        if (site != null) {
            out.append(", \"site\": ").append(quoted(site));
        }
        out.append('}');
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
