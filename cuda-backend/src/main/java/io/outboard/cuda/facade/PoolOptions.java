package io.outboard.cuda.facade;

import io.outboard.pool.ReusePolicy;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What the facade's pools are to be like.
 *
 * <p>Not for applications.
 */
public interface PoolOptions {

    /** The name of the strategy that divides regions. */
    String strategy();

    ReusePolicy reuse();

    /** Most that a pool holds, as a share of what is free when it is made. */
    double share();

    /** 0 for a part of what is free. */
    long firstRegionBytes();

    /** Whether a free waits for the context. */
    boolean freeIsBarrier();

    /** Whether regions grow in place, where that is possible. */
    boolean growInPlace();

    /** How long memory is kept that isn't needed; 0 for ever. */
    Duration keep();

    /** What is left to others, as long as there is free memory; 0 for nothing. */
    long leaveBytes();

    /** Where JMX clients may write dumps; null for nowhere. */
    @Nullable
    Path dumpFolder();
}
