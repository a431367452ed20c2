package io.outboard.pool.internal.arena;

import org.jspecify.annotations.Nullable;

/** Blocks of an arena that wait together for the same work. External lock required: the arena's. */
final class LimboBatch {

    /** As many as make the number that a batch gets cheap, and few enough that one with a single large block is no waste. */
    static final int BLOCKS = 128;

    /** What names each to the strategy of its segment. */
    final long[] retired = new long[BLOCKS];

    /** The id of each one's segment. */
    final int[] segments = new int[BLOCKS];

    /** Those before it were released. */
    int from;

    int count;

    /** What its work's mark has to cover; see {@link Progress}. 0 while the batch is open. */
    long number;

    @Nullable
    LimboBatch next;
}
