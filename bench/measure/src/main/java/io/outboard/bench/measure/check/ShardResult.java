package io.outboard.bench.measure.check;

import io.outboard.bench.cli.report.JsonLine;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The result of a shard says what was done and what was found.
 *
 * @param shard what was asked for
 * @param operations what was done; with a violation, the number of the operation that shows it, from 1
 * @param byHandle how many of the calls named a block by its handle
 * @param wrongHandles how many calls had a handle that named no block; each was refused
 * @param digest depends on every answer of the strategy: the same on every machine
 * @param seconds one thread's time
 * @param violation what the strategy did wrong, null for nothing
 */
record ShardResult(
        Shard shard,
        long operations,
        long byHandle,
        long wrongHandles,
        long digest,
        double seconds,
        @Nullable String violation) {

    /**
     * The version of shards: a seed and a number stand for other operations in another version. Shards from before
     * handles were checked have no version.
     */
    static final long VERSION = 3;

    private static final Pattern LINE = Pattern.compile(
            "\\{\"version\":" + VERSION + ",\"strategy\":\"([\\w-]+)\",\"seed\":(-?\\d+),\"shard\":(\\d+),"
                    + "\"asked\":(\\d+),\"operations\":(\\d+),\"byHandle\":(\\d+),\"wrongHandles\":(\\d+),"
                    + "\"digest\":\"([0-9a-f]+)\",\"seconds\":(\\d+\\.\\d+),\"violations\":0,"
                    + "\"commit\":\"([^\"]*)\"\\}");

    private static final int COMMIT_GROUP = 10;

    String json(final String commit) {
        return new JsonLine()
                .put("version", VERSION)
                .put("strategy", shard.strategy())
                .put("seed", shard.seed())
                .put("shard", shard.number())
                .put("asked", shard.operations())
                .put("operations", operations)
                .put("byHandle", byHandle)
                .put("wrongHandles", wrongHandles)
                .put("digest", Long.toHexString(digest))
                .put("seconds", seconds, 3)
                .put("violations", violation == null ? 0L : 1L)
                .put("commit", commit)
                .toString();
    }

    /** Reads a line that {@link #json} wrote; empty if it is no such line, or has a violation. */
    static Optional<ShardResult> parse(final String line) {
        final Matcher match = LINE.matcher(line);
        if (!match.matches()) {
            return Optional.empty();
        }
        try {
            final Shard shard = new Shard(
                    match.group(1),
                    Long.parseLong(match.group(2)),
                    Long.parseLong(match.group(3)),
                    Long.parseLong(match.group(4)));
            return Optional.of(new ShardResult(
                    shard,
                    Long.parseLong(match.group(5)),
                    Long.parseLong(match.group(6)),
                    Long.parseLong(match.group(7)),
                    Long.parseUnsignedLong(match.group(8), 16),
                    Double.parseDouble(match.group(9)),
                    null));
        } catch (final NumberFormatException tooLarge) {
            return Optional.empty();
        }
    }

    /** Returns whether a line has a shard of another version, as far as the line's beginning tells. */
    static boolean isOfAnotherVersion(final String line) {
        return (line.startsWith("{\"strategy\":") && line.contains("\"asked\":"))
                || (line.startsWith("{\"version\":") && !line.startsWith("{\"version\":" + VERSION + ","));
    }

    /** Returns the commit that a line names; {@link #parse} can read the line. */
    static String commitOf(final String line) {
        final Matcher match = LINE.matcher(line);
        return match.matches() ? match.group(COMMIT_GROUP) : "";
    }
}
