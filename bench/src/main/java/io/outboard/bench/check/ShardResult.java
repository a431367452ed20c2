package io.outboard.bench.check;

import io.outboard.bench.report.JsonLine;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What came of a shard.
 *
 * @param shard what was asked for
 * @param operations what was done; with a violation, the number of the operation that shows it, from 1
 * @param digest depends on every answer of the strategy: the same on every machine
 * @param seconds one thread's time
 * @param violation what the strategy did wrong, null for nothing
 */
record ShardResult(
        Shard shard,
        long operations,
        long digest,
        double seconds,
        @Nullable String violation) {

    private static final Pattern LINE =
            Pattern.compile("\\{\"strategy\":\"([\\w-]+)\",\"seed\":(-?\\d+),\"shard\":(\\d+),"
                    + "\"asked\":(\\d+),\"operations\":(\\d+),\"digest\":\"([0-9a-f]+)\",\"seconds\":(\\d+\\.\\d+),\"violations\":0,"
                    + "\"commit\":\"([^\"]*)\"\\}");

    private static final int COMMIT_GROUP = 8;

    String json(final String commit) {
        return new JsonLine()
                .put("strategy", shard.strategy())
                .put("seed", shard.seed())
                .put("shard", shard.number())
                .put("asked", shard.operations())
                .put("operations", operations)
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
                    Long.parseUnsignedLong(match.group(6), 16),
                    Double.parseDouble(match.group(7)),
                    null));
        } catch (final NumberFormatException tooLarge) {
            return Optional.empty();
        }
    }

    /** The commit that a line names, which {@link #parse} reads. */
    static String commitOf(final String line) {
        final Matcher match = LINE.matcher(line);
        return match.matches() ? match.group(COMMIT_GROUP) : "";
    }
}
