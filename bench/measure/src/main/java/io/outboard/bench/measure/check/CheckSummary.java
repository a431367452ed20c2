package io.outboard.bench.measure.check;

import io.outboard.bench.cli.common.Environment;
import io.outboard.bench.cli.report.JsonLine;
import java.util.List;
import java.util.Objects;

/**
 * A summary has the results of all shards of a strategy.
 *
 * @param strategy name
 * @param results one for each shard
 */
record CheckSummary(String strategy, List<ShardResult> results) {

    long operations() {
        return results.stream().mapToLong(ShardResult::operations).sum();
    }

    /** Returns how many calls named a block by its handle. */
    long byHandle() {
        return results.stream().mapToLong(ShardResult::byHandle).sum();
    }

    /** Returns how many calls had a handle that named no block, and were refused. */
    long wrongHandles() {
        return results.stream().mapToLong(ShardResult::wrongHandles).sum();
    }

    long violations() {
        return results.stream()
                .map(ShardResult::violation)
                .filter(Objects::nonNull)
                .count();
    }

    /** Returns the time that the shards took together, each on one thread. */
    double seconds() {
        return results.stream().mapToDouble(ShardResult::seconds).sum();
    }

    double nsPerOperation() {
        return seconds() * 1e9 / Math.max(1, operations());
    }

    /** Returns a number that depends on every answer of the strategy, and not on the order of shards. */
    long digest() {
        return results.stream().mapToLong(ShardResult::digest).reduce(0, (a, b) -> a ^ b);
    }

    JsonLine json(final long seed) {
        return new JsonLine()
                .put("strategy", strategy)
                .put("seed", seed)
                .put("shards", (long) results.size())
                .put("operations", operations())
                .put("byHandle", byHandle())
                .put("wrongHandles", wrongHandles())
                .put("violations", violations())
                .put("digest", Long.toHexString(digest()))
                .put("seconds", seconds(), 1)
                .put("nsPerOp", nsPerOperation(), 1)
                .put("jdk", Environment.jdk())
                .put("cpu", Environment.cpu())
                .put("commit", Environment.commit());
    }
}
