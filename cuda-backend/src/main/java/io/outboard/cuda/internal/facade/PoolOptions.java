package io.outboard.cuda.internal.facade;

import io.outboard.pool.ReusePolicy;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What the facade's pools are to be like; {@code OutboardOptions} says what each of these means, and what null does.
 */
public interface PoolOptions {

    /** {@return the name of the strategy that divides regions} */
    String strategy();

    /** {@return when freed memory is handed out again} */
    ReusePolicy reuse();

    /** {@return most that a pool holds, as a share of what is free when it is made: more than 0, at most 1} */
    double share();

    /** {@return bytes of the first region, 0 for what suits the way of growing} */
    long firstRegionBytes();

    /** {@return whether a free waits for the context} */
    boolean freeIsBarrier();

    /** {@return whether memory grows in place} */
    boolean growInPlace();

    /** {@return how long memory is kept that isn't needed, 0 for ever} */
    Duration keep();

    /** {@return bytes that are left to others, 0 for nothing} */
    long leaveBytes();

    /** {@return bytes held beyond what is in use, null for what suits the device} */
    @Nullable
    Long slackBytes();

    /** {@return where JMX clients may write dumps, null for nowhere} */
    @Nullable
    Path dumpFolder();

    /** {@return the socket of the lender, null for none} */
    @Nullable
    Path service();

    /** {@return by which name the lender knows the quota, null for one of this process} */
    @Nullable
    String serviceName();

    /** {@return the file that allocations and frees are written to, null for none} */
    @Nullable
    Path record();
}
