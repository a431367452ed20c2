package io.outboard.cuda;

import io.outboard.cuda.internal.facade.PoolOptions;
import io.outboard.pool.ReusePolicy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the pools behind {@link OutboardRuntime} and {@link OutboardDriver} are like. Immutable, so safe for any number of
 * threads.
 *
 * @param strategy name of the strategy that divides regions; property {@code outboard.strategy}, {@code tlsf} by default
 * @param reuse when a freed block may be handed out again; property {@code outboard.reuse}, {@code strict} by default,
 *     otherwise {@code tracked}, {@code stream-ordered} or {@code immediate}
 * @param share most that a pool holds, as a share of what is free on the device when the pool is made,
 *     {@code 0 < share <= 1}; property {@code outboard.share}, 0.9 by default. What a pool can't serve the driver does, as
 *     far as it can
 * @param firstRegionBytes size of a pool's first region in bytes, {@code 0 <= firstRegionBytes <= 2^62}, 0 for a
 *     thirty-second of what is free on the device when the pool is made, or 64 MiB if it grows in place; property {@code
 *     outboard.firstRegion}, such as {@code 512MiB} or {@code 512M}, 0 by default
 * @param freeIsBarrier whether {@code cudaFree} and {@code cuMemFree} of a pool's memory wait until all work in its context has
 *     finished, as CUDA's own do; property {@code outboard.free}, {@code limbo} by default, which doesn't, or
 *     {@code barrier}. For programs that lean on it: they copy to pinned memory without waiting, free, and read
 * @param growInPlace whether a pool's memory grows in place, goes back from anywhere, and moves when it is scattered ({@link
 *     CudaMemorySource#reserve}), on JDK 22 and newer; property {@code outboard.growInPlace}, {@code true} by default. Without it a pool
 *     grows by whole regions
 * @param keep how long memory is kept that no block needs, before it goes back to the device, as {@link
 *     io.outboard.pool.PoolBuilder#keep} says, from a millisecond to a thousand days, or 0 for ever; property {@code outboard.keep} in
 *     seconds, such as {@code 1} or {@code 0.5}, 0 by default
 * @param leaveBytes what is to be left to others on the device in bytes, {@code 0 <= leaveBytes <= 2^62}: while that has less, free
 *     memory goes back to it, as {@link io.outboard.pool.PoolBuilder#leave} says; property {@code outboard.leave}, such as {@code 2GiB} or {@code 2G}, 0
 *     by default
 * @param slackBytes most that a pool holds beyond what is in use, in bytes, {@code 0 <= slackBytes <= 2^62}, as {@link
 *     io.outboard.pool.PoolBuilder#slackBytes} says, null for what suits the device; property {@code outboard.slack}, such as {@code 0} or
 *     {@code 64M}, not set by default. For programs whose libraries need what the pool holds and doesn't use
 * @param dumpFolder where JMX clients may write dumps of pools, as {@link io.outboard.pool.PoolBuilder#dumpFolder} says, null for
 *     nowhere; property {@code outboard.dumpFolder}, a folder that exists, not set by default
 * @param service socket of the {@link io.outboard.service.Lender} that all memory is leased from ({@link CudaMemorySource#connect}),
 *     absolute, at most 107 bytes, null for none; property {@code outboard.service}, not set by default. What the lender refuses the
 *     driver isn't asked for. Needs JDK 22 or newer, which the first use of a pool finds out
 * @param serviceName by which name the lender knows the quota: 1 to 32 letters, digits, {@code .}, {@code _} and {@code -}, null for
 *     {@code pid-} and the process's number; property {@code outboard.serviceName}, not set by default
 * @param record file that each pool's allocations and frees are written to, as {@link io.outboard.pool.Pool#record} says, in a folder that
 *     exists, null for none; property {@code outboard.record}, not set by default. It is that of the first pool of device 0; the file of
 *     another one has that one's name added, such as {@code program.rec.facade-device1}, and after a reset of the device, or where another process
 *     records to it, a number. {@code %p} stands for the process's number, {@code %t} for the time, {@code %%} for one of them
 */
public record OutboardOptions(
        String strategy,
        ReusePolicy reuse,
        double share,
        long firstRegionBytes,
        boolean freeIsBarrier,
        boolean growInPlace,
        Duration keep,
        long leaveBytes,
        @Nullable Long slackBytes,
        @Nullable Path dumpFolder,
        @Nullable Path service,
        @Nullable String serviceName,
        @Nullable Path record)
        implements PoolOptions {

    private static final int MOST_SOCKET_BYTES = 107;
    static final String SOCKET_RULE = "must be an absolute path of at most " + MOST_SOCKET_BYTES + " bytes";
    static final Pattern SERVICE_NAME = Pattern.compile("[A-Za-z0-9._-]{1,32}");
    static final String FILE_RULE = "must be a file, in a folder that exists";
    static final String SERVICE_NAME_RULE = "must consist of letters, digits, . _ and -, at most 32";

    static final Duration LEAST_KEEP = Duration.ofMillis(1);
    static final Duration MOST_KEEP = Duration.ofDays(1000);

    /**
     * Checks the ranges. Whether there is such a strategy shows when the first pool is made.
     *
     * @param strategy name of the strategy
     * @param reuse when a freed block may be handed out again
     * @param share most that a pool holds, as a share of what is free
     * @param firstRegionBytes size of a pool's first region in bytes
     * @param freeIsBarrier whether a free waits as CUDA's does
     * @param growInPlace whether regions grow in place, where that is possible
     * @param keep how long memory is kept that no block needs
     * @param leaveBytes what is to be left to others
     * @param slackBytes most that a pool holds beyond what is in use, null for what suits the device
     * @param dumpFolder where JMX clients may write dumps, null for nowhere
     * @param service socket of the lender that all memory is leased from, null for none
     * @param serviceName by which name the lender knows the quota, null for the process's number
     * @param record file that allocations and frees are written to, null for none
     * @throws IllegalArgumentException if an option is outside of its range
     */
    public OutboardOptions {
        Objects.requireNonNull(strategy, "strategy");
        Objects.requireNonNull(reuse, "reuse");
        Objects.requireNonNull(keep, "keep");
        if (!(share > 0 && share <= 1)) {
            throw new IllegalArgumentException("share=" + share + " must be > 0 and <= 1");
        }
        if (firstRegionBytes < 0 || firstRegionBytes > 1L << 62) {
            throw new IllegalArgumentException("firstRegionBytes=" + firstRegionBytes + " must be >= 0 and <= 2^62");
        }
        if (!isKeep(keep)) {
            throw new IllegalArgumentException("keep=" + keep + " must be 0, or >= 1 ms and <= 1000 days");
        }
        if (leaveBytes < 0 || leaveBytes > 1L << 62) {
            throw new IllegalArgumentException("leaveBytes=" + leaveBytes + " must be >= 0 and <= 2^62");
        }
        if (slackBytes != null && (slackBytes < 0 || slackBytes > 1L << 62)) {
            throw new IllegalArgumentException("slackBytes=" + slackBytes + " must be >= 0 and <= 2^62");
        }
        if (service != null && !isSocket(service)) {
            throw new IllegalArgumentException("service=" + service + " " + SOCKET_RULE);
        }
        if (serviceName != null && !SERVICE_NAME.matcher(serviceName).matches()) {
            throw new IllegalArgumentException("serviceName=" + serviceName + " " + SERVICE_NAME_RULE);
        }
        if (record != null && !isFile(record)) {
            throw new IllegalArgumentException("record=" + record + " " + FILE_RULE);
        }
    }

    static boolean isSocket(final Path path) {
        return path.isAbsolute() && path.toString().getBytes(StandardCharsets.UTF_8).length <= MOST_SOCKET_BYTES;
    }

    static boolean isFile(final Path path) {
        final Path folder = path.toAbsolutePath().getParent();
        return folder != null && Files.isDirectory(folder) && !Files.isDirectory(path);
    }

    static boolean isKeep(final Duration keep) {
        return keep.isZero() || (keep.compareTo(LEAST_KEEP) >= 0 && keep.compareTo(MOST_KEEP) <= 0);
    }

    /**
     * With frees that don't wait, and regions that grow in place and keep their memory.
     *
     * @param strategy name of the strategy
     * @param reuse when a freed block may be handed out again
     * @param share most that a pool holds, as a share of what is free
     * @param firstRegionBytes size of a pool's first region in bytes
     * @throws IllegalArgumentException if an option is outside of its range
     */
    public OutboardOptions(
            final String strategy, final ReusePolicy reuse, final double share, final long firstRegionBytes) {
        this(strategy, reuse, share, firstRegionBytes, false, true, Duration.ZERO, 0, null, null, null, null, null);
    }

    /**
     * What the system properties say, and defaults for those that aren't set.
     *
     * @return options
     * @throws IllegalArgumentException if a property has a wrong value; the message names it
     */
    public static OutboardOptions ofProperties() {
        return OutboardProperties.read();
    }

    /**
     * These options with another strategy.
     *
     * @param newStrategy name of the strategy
     * @return new options
     */
    public OutboardOptions withStrategy(final String newStrategy) {
        return with(draft -> draft.strategy = newStrategy);
    }

    /**
     * These options with another policy.
     *
     * @param newReuse when a freed block may be handed out again
     * @return new options
     */
    public OutboardOptions withReuse(final ReusePolicy newReuse) {
        return with(draft -> draft.reuse = newReuse);
    }

    /**
     * These options with another limit.
     *
     * @param newShare most that a pool holds, as a share of what is free, {@code 0 < newShare <= 1}
     * @return new options
     * @throws IllegalArgumentException if the share is outside of its range
     */
    public OutboardOptions withShare(final double newShare) {
        return with(draft -> draft.share = newShare);
    }

    /**
     * These options with another first region.
     *
     * @param newFirstRegionBytes its size in bytes, {@code 0 <= newFirstRegionBytes <= 2^62}, 0 for the default
     * @return new options
     * @throws IllegalArgumentException if the size is outside of its range
     */
    public OutboardOptions withFirstRegionBytes(final long newFirstRegionBytes) {
        return with(draft -> draft.firstRegionBytes = newFirstRegionBytes);
    }

    /**
     * These options with other frees.
     *
     * @param newFreeIsBarrier whether a free waits as CUDA's does
     * @return new options
     */
    public OutboardOptions withFreeIsBarrier(final boolean newFreeIsBarrier) {
        return with(draft -> draft.freeIsBarrier = newFreeIsBarrier);
    }

    /**
     * These options with other growth.
     *
     * @param newGrowInPlace whether regions grow in place, where that is possible
     * @return new options
     */
    public OutboardOptions withGrowInPlace(final boolean newGrowInPlace) {
        return with(draft -> draft.growInPlace = newGrowInPlace);
    }

    /**
     * These options with memory that goes back to the device.
     *
     * @param newKeep how long it is kept though no block needs it, from a millisecond to a thousand days, or 0 for ever
     * @return new options
     * @throws IllegalArgumentException if that is outside of its range
     */
    public OutboardOptions withKeep(final Duration newKeep) {
        return with(draft -> draft.keep = newKeep);
    }

    /**
     * These options with memory that goes back while the device has little.
     *
     * @param newLeaveBytes what is to be left to others, {@code 0 <= newLeaveBytes <= 2^62}
     * @return new options
     * @throws IllegalArgumentException if that is outside of its range
     */
    public OutboardOptions withLeaveBytes(final long newLeaveBytes) {
        return with(draft -> draft.leaveBytes = newLeaveBytes);
    }

    /**
     * These options with another slack.
     *
     * @param newSlackBytes most that a pool holds beyond what is in use, {@code 0 <= newSlackBytes <= 2^62}; null for what suits the device
     * @return new options
     * @throws IllegalArgumentException if that is outside of its range
     */
    public OutboardOptions withSlackBytes(final @Nullable Long newSlackBytes) {
        return with(draft -> draft.slackBytes = newSlackBytes);
    }

    /**
     * These options with dumps.
     *
     * @param newDumpFolder where JMX clients may write dumps of pools, null for nowhere
     * @return new options
     */
    public OutboardOptions withDumpFolder(final @Nullable Path newDumpFolder) {
        return with(draft -> draft.dumpFolder = newDumpFolder);
    }

    /**
     * These options with memory of a lender.
     *
     * @param newService its socket, an absolute path of at most 107 bytes; null for the driver's own memory
     * @param newServiceName by which name it knows the quota, null for the process's number
     * @return new options
     * @throws IllegalArgumentException if an argument isn't that
     */
    public OutboardOptions withService(final @Nullable Path newService, final @Nullable String newServiceName) {
        return with(draft -> {
            draft.service = newService;
            draft.serviceName = newServiceName;
        });
    }

    /**
     * These options with a recording.
     *
     * @param newRecord file that allocations and frees are written to, in a folder that exists; null for none
     * @return new options
     * @throws IllegalArgumentException if it isn't that
     */
    public OutboardOptions withRecord(final @Nullable Path newRecord) {
        return with(draft -> draft.record = newRecord);
    }

    private OutboardOptions with(final Consumer<Draft> change) {
        return new Draft(this).changed(change);
    }

    /** Options that are being changed. */
    private static final class Draft {

        private String strategy;
        private ReusePolicy reuse;
        private double share;
        private long firstRegionBytes;
        private boolean freeIsBarrier;
        private boolean growInPlace;
        private Duration keep;
        private long leaveBytes;
        private @Nullable Long slackBytes;
        private @Nullable Path dumpFolder;
        private @Nullable Path service;
        private @Nullable String serviceName;
        private @Nullable Path record;

        Draft(final OutboardOptions from) {
            strategy = from.strategy;
            reuse = from.reuse;
            share = from.share;
            firstRegionBytes = from.firstRegionBytes;
            freeIsBarrier = from.freeIsBarrier;
            growInPlace = from.growInPlace;
            keep = from.keep;
            leaveBytes = from.leaveBytes;
            slackBytes = from.slackBytes;
            dumpFolder = from.dumpFolder;
            service = from.service;
            serviceName = from.serviceName;
            record = from.record;
        }

        OutboardOptions changed(final Consumer<Draft> change) {
            change.accept(this);
            return new OutboardOptions(
                    strategy,
                    reuse,
                    share,
                    firstRegionBytes,
                    freeIsBarrier,
                    growInPlace,
                    keep,
                    leaveBytes,
                    slackBytes,
                    dumpFolder,
                    service,
                    serviceName,
                    record);
        }
    }
}
