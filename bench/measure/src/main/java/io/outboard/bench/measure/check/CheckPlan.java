package io.outboard.bench.measure.check;

import java.util.ArrayList;
import java.util.List;

/** The plan decides which shards a run consists of. */
final class CheckPlan {

    private CheckPlan() {}

    /** Returns the shards for a number of operations, split evenly over strategies, which take turns. */
    static List<Shard> shards(final List<String> strategies, final long seed, final long operations) {
        final List<Shard> shards = new ArrayList<>();
        final long each = (operations - 1) / strategies.size() + 1;
        for (long done = 0; done < each; done += Shard.MOST_OPERATIONS) {
            for (final String strategy : strategies) {
                shards.add(new Shard(
                        strategy, seed, done / Shard.MOST_OPERATIONS, Math.min(Shard.MOST_OPERATIONS, each - done)));
            }
        }
        return shards;
    }
}
