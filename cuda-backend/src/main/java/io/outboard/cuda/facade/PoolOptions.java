package io.outboard.cuda.facade;

import io.outboard.pool.ReusePolicy;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What the facade's pools are to be like; {@code OutboardOptions} says what each of these means, and what null does.
 *
 * <p>Not for applications.
 */
public interface PoolOptions {

    String strategy();

    ReusePolicy reuse();

    double share();

    long firstRegionBytes();

    boolean freeIsBarrier();

    boolean growInPlace();

    Duration keep();

    long leaveBytes();

    @Nullable
    Long slackBytes();

    @Nullable
    Path dumpFolder();

    @Nullable
    Path service();

    @Nullable
    String serviceName();

    @Nullable
    Path record();
}
