package io.outboard.bench.check;

import io.outboard.bench.common.WrongUseException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Which shards a run consists of. */
final class CheckPlan {

    private static final Pattern COUNT = Pattern.compile("[0-9]{1,18}(\\.[0-9]{1,18})?([eE][0-9]{1,2})?");
    private static final BigDecimal MOST = BigDecimal.valueOf(1_000_000_000_000_000L);

    private CheckPlan() {}

    /**
     * Reads a number of operations: {@code 1000000}, {@code 1e9}, {@code 2.5e6}.
     *
     * @throws WrongUseException if it is none, or not a whole one from 1 to 10^15
     */
    static long operations(final String text) {
        if (COUNT.matcher(text).matches()) {
            final BigDecimal count = new BigDecimal(text);
            if (count.signum() > 0
                    && count.compareTo(MOST) <= 0
                    && count.stripTrailingZeros().scale() <= 0) {
                return count.longValueExact();
            }
        }
        throw new WrongUseException("--ops=" + text + " must be a whole number from 1 to 1e15, such as 1000000 or 1e9");
    }

    /** Shards for so many operations, split evenly over strategies, which take turns. */
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
