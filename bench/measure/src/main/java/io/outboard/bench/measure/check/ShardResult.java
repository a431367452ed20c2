package io.outboard.bench.measure.check;

import io.outboard.bench.cli.report.JsonLine;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What came of a shard.
 *
 * @param shard what was asked for
 * @param operations what was done; with a violation, the number of the operation that shows it, from 1
 * @param byHandle calls among these that named a block by handle
 * @param wrongHandles calls with handles that named no block, each of which was refused
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
     * Which operations a seed and a number stand for; before handles were checked, shards had no version and other
     * operations.
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

    /** What a line of {@link #json} says, if it is one of a shard without a violation. */
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

    /** Whether a line is one of a shard of another version, as far as its beginning tells. */
    static boolean isOfAnotherVersion(final String line) {
        return (line.startsWith("{\"strategy\":") && line.contains("\"asked\":"))
                || (line.startsWith("{\"version\":") && !line.startsWith("{\"version\":" + VERSION + ","));
    }

    /** The commit that a line names, which {@link #parse} reads. */
    static String commitOf(final String line) {
        final Matcher match = LINE.matcher(line);
        return match.matches() ? match.group(COMMIT_GROUP) : "";
    }
}
