package io.outboard.cuda;

import io.outboard.core.ByteSize;
import io.outboard.cuda.OutboardOption.Parser;
import io.outboard.cuda.internal.facade.PoolMaker;
import io.outboard.pool.ReusePolicy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * These options describe the pools behind {@link OutboardRuntime} and {@link OutboardDriver}. Each option can be set by
 * a system property, by an argument of the agent and by a method of this class; {@link #all} is the table of options.
 * Immutable, so safe for any number of threads.
 *
 * <p>The methods that change an option throw {@link IllegalArgumentException} if its value is outside of its range; the
 * message names the option, the value and the rule.
 */
public final class OutboardOptions implements PoolMaker.Options {

    private static final int MOST_SOCKET_BYTES = 107;
    private static final Duration LEAST_KEEP = Duration.ofMillis(1);
    private static final Duration MOST_KEEP = Duration.ofDays(1000);

    private static final String SOCKET_RULE = "must be an absolute path of at most " + MOST_SOCKET_BYTES + " bytes";
    private static final String SERVICE_NAME_RULE = "must consist of letters, digits, . _ and -, at most 32";
    private static final String FILE_RULE = "must be a file, in a folder that exists";

    /** The options, in the order of the rows. */
    private static final List<OutboardOption<?>> ALL = new ArrayList<>();

    // The rows below are the table of options. A further option needs a row here, two methods below, and its use in
    // PoolMaker.

    private static final OutboardOption<String> STRATEGY =
            row("strategy", "tlsf", (property, text) -> text, "what divides regions; see [strategies](strategies.md)");
    private static final OutboardOption<Double> SHARE = row(
            "share",
            "0.9",
            Parser.of(Double::valueOf, OutboardOptions::isShare, "must be a number > 0 and <= 1"),
            "most that a pool holds, as a share of what the device has free when the pool is made");
    private static final OutboardOption<ReusePolicy> REUSE = row(
            "reuse",
            "strict",
            Parser.of(OutboardOptions::policyOf, policy -> true, "must be one of: " + policies()),
            "when a freed block may be handed out again: `strict`, `tracked`, `stream-ordered`, `immediate`; see [below](#reuse)");
    private static final OutboardOption<Boolean> FREE = row(
            "free",
            "limbo",
            choice("limbo", "barrier", "must be one of: limbo, barrier"),
            "`barrier`: `cudaFree` and `cuMemFree` wait for the device, as CUDA's own do");
    private static final OutboardOption<Long> FIRST_REGION = row(
            "firstRegion",
            "0",
            ByteSize::parse,
            "bytes of the first region, such as `512M`. 0: 64 MiB; where pools grow by whole regions, a 32nd of what is free");
    private static final OutboardOption<Boolean> GROW_IN_PLACE = row(
            "growInPlace",
            "true",
            choice("false", "true", "must be true or false"),
            "`false`: pools grow by whole regions, as on JDK 21 and older");
    private static final OutboardOption<Duration> KEEP = row(
            "keep",
            "0",
            OutboardOptions::keepOf,
            "seconds after which memory that no block needs goes back to the device. 0: never");
    private static final OutboardOption<Long> LEAVE = row(
            "leave",
            "0",
            ByteSize::parse,
            "bytes that are left to others, such as `2G`: while the device has less free, free memory goes back to it");
    private static final OutboardOption<Long> SLACK = row(
            "slack",
            null,
            ByteSize::parse,
            "bytes that a pool may hold beyond what is in use before it asks the device, such as `64M` or `0`. Not set: what suits the device; see [below](#growth)");
    private static final OutboardOption<Path> DUMP_FOLDER = row(
            "dumpFolder",
            null,
            path(Files::isDirectory, "must be a folder that exists"),
            "folder, which must exist, in which JMX clients may write dumps of pools; without it they can't");
    private static final OutboardOption<Path> SERVICE = row(
            "service",
            null,
            path(OutboardOptions::isSocket, SOCKET_RULE),
            "socket of a lender, an absolute path: all memory is [leased](#one-gpu-many-processes) from it. Needs JDK 22 or newer");
    private static final OutboardOption<String> SERVICE_NAME = row(
            "serviceName",
            null,
            Parser.of(text -> text, OutboardOptions::isServiceName, SERVICE_NAME_RULE),
            "by which name the lender knows the quota. Not set: `pid-` and the process's number");
    private static final OutboardOption<Boolean> CHECK = row(
            "check",
            "none",
            choice("none", "poison", "must be one of: none, poison"),
            "`poison`: writes behind the end of a block and after its free are [found](#checking-memory); slow, for finding faults");
    private static final OutboardOption<Path> RECORD = row(
            "record",
            null,
            path(OutboardOptions::isFile, FILE_RULE),
            "file to which [all allocations and frees](advise.md) are written, in a folder that exists; "
                    + "`%p` stands for the process, `%t` for the time");

    /** The values of the options that are set; the map is never changed. */
    private final Map<OutboardOption<?>, Object> values;

    private OutboardOptions(final Map<OutboardOption<?>, Object> values) {
        this.values = values;
    }

    /** {@return all options that there are} */
    public static List<OutboardOption<?>> all() {
        return Collections.unmodifiableList(ALL);
    }

    /** {@return the defaults, whatever the system properties say} */
    public static OutboardOptions defaults() {
        return read(property -> null);
    }

    /**
     * Reads the options from the system properties; options that aren't set have their defaults.
     *
     * @return options
     * @throws IllegalArgumentException if a property has a wrong value; the message names it
     */
    public static OutboardOptions ofProperties() {
        return read(System::getProperty);
    }

    private static OutboardOptions read(final Function<String, @Nullable String> properties) {
        final Map<OutboardOption<?>, Object> values = new LinkedHashMap<>();
        for (final OutboardOption<?> option : ALL) {
            final String set = properties.apply(option.property());
            final String text = set == null ? option.defaultText() : set;
            if (text != null) {
                values.put(option, option.parse(text));
            }
        }
        return new OutboardOptions(values);
    }

    /** {@return the name of the strategy that divides regions} */
    @Override
    public String strategy() {
        return get(STRATEGY);
    }

    /**
     * {@return these options with another strategy}
     *
     * @param strategy the name; whether the strategy exists is checked when the first pool is made
     */
    public OutboardOptions withStrategy(final String strategy) {
        return with(STRATEGY, Objects.requireNonNull(strategy, "strategy"));
    }

    /** {@return most that a pool holds, as a share of what is free on the device when the pool is made} */
    @Override
    public double share() {
        return get(SHARE);
    }

    /**
     * {@return these options with another limit} The driver serves what a pool can't, as far as it has memory.
     *
     * @param share most that a pool holds, as a share of what is free on the device, {@code 0 < share <= 1}
     */
    public OutboardOptions withShare(final double share) {
        return with(SHARE, "share", share, OutboardOptions::isShare, "must be > 0 and <= 1");
    }

    /** {@return when a freed block may be handed out again} */
    @Override
    public ReusePolicy reuse() {
        return get(REUSE);
    }

    /**
     * {@return these options with another policy}
     *
     * @param reuse when a freed block may be handed out again
     */
    public OutboardOptions withReuse(final ReusePolicy reuse) {
        return with(REUSE, Objects.requireNonNull(reuse, "reuse"));
    }

    /** {@return whether frees of a pool's memory wait until all work in its context has finished, as CUDA's own do} */
    @Override
    public boolean freeIsBarrier() {
        return get(FREE);
    }

    /**
     * {@return these options with other frees} A program needs frees that wait if it copies to pinned memory without
     * waiting, frees, and then reads the copy.
     *
     * @param freeIsBarrier whether a free waits as CUDA's does
     */
    public OutboardOptions withFreeIsBarrier(final boolean freeIsBarrier) {
        return with(FREE, freeIsBarrier);
    }

    /**
     * {@return bytes of a pool's first region; 0 for a 32nd of what is free on the device, or 64 MiB where the pool
     * grows in place}
     */
    @Override
    public long firstRegionBytes() {
        return get(FIRST_REGION);
    }

    /**
     * {@return these options with another first region}
     *
     * @param firstRegionBytes the region's size in bytes, {@code 0 <= firstRegionBytes <= 2^62}, 0 for the default
     */
    public OutboardOptions withFirstRegionBytes(final long firstRegionBytes) {
        return withBytes(FIRST_REGION, "firstRegionBytes", firstRegionBytes);
    }

    /**
     * {@return whether a pool's memory grows in place, where that is possible, see {@link CudaMemorySource#reserve};
     * else by whole regions}
     */
    @Override
    public boolean growInPlace() {
        return get(GROW_IN_PLACE);
    }

    /**
     * {@return these options with other growth}
     *
     * @param growInPlace whether regions grow in place, where that is possible
     */
    public OutboardOptions withGrowInPlace(final boolean growInPlace) {
        return with(GROW_IN_PLACE, growInPlace);
    }

    /**
     * {@return how long memory is kept that no block needs, as {@link io.outboard.pool.PoolBuilder#keep} says; 0 for no
     * limit}
     */
    @Override
    public Duration keep() {
        return get(KEEP);
    }

    /**
     * {@return these options with memory that goes back to the device}
     *
     * @param keep how long memory is kept that no block needs, from a millisecond to a thousand days; 0 for no limit
     */
    public OutboardOptions withKeep(final Duration keep) {
        return with(
                KEEP,
                "keep",
                Objects.requireNonNull(keep, "keep"),
                OutboardOptions::isKeep,
                "must be 0, or >= 1 ms and <= 1000 days");
    }

    /** {@return bytes that are left to others on the device, as {@link io.outboard.pool.PoolBuilder#leave} says} */
    @Override
    public long leaveBytes() {
        return get(LEAVE);
    }

    /**
     * {@return these options with memory that goes back while the device has little}
     *
     * @param leaveBytes how much is left to others, {@code 0 <= leaveBytes <= 2^62}
     */
    public OutboardOptions withLeaveBytes(final long leaveBytes) {
        return withBytes(LEAVE, "leaveBytes", leaveBytes);
    }

    /**
     * {@return most bytes held beyond what is in use, as {@link io.outboard.pool.PoolBuilder#slackBytes} says, null for
     * what suits the device}
     */
    @Override
    public @Nullable Long slackBytes() {
        return getOrNull(SLACK);
    }

    /**
     * {@return these options with another slack} A small slack suits programs whose libraries need the memory that the
     * pool holds and doesn't use.
     *
     * @param slackBytes most that a pool holds beyond what is in use, {@code 0 <= slackBytes <= 2^62}; null for what
     *     suits the device
     */
    public OutboardOptions withSlackBytes(final @Nullable Long slackBytes) {
        return withBytes(SLACK, "slackBytes", slackBytes);
    }

    /**
     * {@return where JMX clients may write dumps of pools, as {@link io.outboard.pool.PoolBuilder#dumpFolder} says,
     * null for nowhere}
     */
    @Override
    public @Nullable Path dumpFolder() {
        return getOrNull(DUMP_FOLDER);
    }

    /**
     * {@return these options with dumps}
     *
     * @param dumpFolder where JMX clients may write dumps of pools, null for nowhere
     */
    public OutboardOptions withDumpFolder(final @Nullable Path dumpFolder) {
        return with(DUMP_FOLDER, dumpFolder);
    }

    /** {@return the socket of the {@link io.outboard.service.Lender} that all memory is leased from, null for none} */
    @Override
    public @Nullable Path service() {
        return getOrNull(SERVICE);
    }

    /** {@return the name by which the lender knows the quota, null for {@code pid-} and the process's number} */
    @Override
    public @Nullable String serviceName() {
        return getOrNull(SERVICE_NAME);
    }

    /**
     * {@return these options with memory of a lender ({@link CudaMemorySource#connect})} If the lender refuses, the
     * driver isn't asked. A lender's memory needs JDK 22 or newer, which is checked at the first use of a pool.
     *
     * @param service its socket, an absolute path of at most 107 bytes; null for the driver's own memory
     * @param serviceName the name by which the lender knows the quota: 1 to 32 letters, digits, {@code .}, {@code _}
     *     and {@code -}; null for the process's number
     */
    public OutboardOptions withService(final @Nullable Path service, final @Nullable String serviceName) {
        return with(SERVICE, "service", service, OutboardOptions::isSocket, SOCKET_RULE)
                .with(SERVICE_NAME, "serviceName", serviceName, OutboardOptions::isServiceName, SERVICE_NAME_RULE);
    }

    /**
     * {@return whether pools look for writes behind the end of a block and after its free, as {@link
     * io.outboard.pool.PoolBuilder#check} says, and print what they find to standard error}
     */
    @Override
    public boolean checksMemory() {
        return get(CHECK);
    }

    /**
     * {@return these options with a check of memory, or without one} What is found goes to standard error, with the
     * calls that allocated and freed the block, and the program goes on. Memory is also checked before its context or
     * the process ends.
     *
     * @param checksMemory whether pools look for writes behind the end of a block and after its free
     */
    public OutboardOptions withMemoryCheck(final boolean checksMemory) {
        return with(CHECK, checksMemory);
    }

    /**
     * {@return the file that allocations and frees are written to, as {@link io.outboard.pool.Pool#record} says, null
     * for none}
     */
    @Override
    public @Nullable Path record() {
        return getOrNull(RECORD);
    }

    /**
     * {@return these options with a recording} The first pool of device 0 is recorded to the file itself. For another
     * pool the pool's name is added to the file's name, such as {@code program.rec.facade-device1}. A number is added
     * after a reset of the device, or if another process records to the file.
     *
     * @param record file in a folder that exists, null for none. {@code %p} stands for the process's number, {@code %t}
     *     for the time, {@code %%} for a {@code %}
     */
    public OutboardOptions withRecord(final @Nullable Path record) {
        return with(RECORD, "record", record, OutboardOptions::isFile, FILE_RULE);
    }

    @Override
    public boolean equals(final @Nullable Object other) {
        return other instanceof OutboardOptions options && values.equals(options.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }

    @Override
    public String toString() {
        return "OutboardOptions" + values;
    }

    private static <T> OutboardOption<T> row(
            final String name, final @Nullable String defaultText, final Parser<T> parser, final String description) {
        final OutboardOption<T> option = new OutboardOption<>(name, defaultText, parser, description);
        ALL.add(option);
        return option;
    }

    private <T> T get(final OutboardOption<T> option) {
        return Objects.requireNonNull(getOrNull(option), option::name);
    }

    @SuppressWarnings("unchecked")
    private <T> @Nullable T getOrNull(final OutboardOption<T> option) {
        return (T) values.get(option);
    }

    private <T> OutboardOptions with(final OutboardOption<T> option, final @Nullable T value) {
        final Map<OutboardOption<?>, Object> changed = new LinkedHashMap<>(values);
        if (value == null) {
            changed.remove(option);
        } else {
            changed.put(option, value);
        }
        return new OutboardOptions(changed);
    }

    private OutboardOptions withBytes(
            final OutboardOption<Long> option, final String argument, final @Nullable Long bytes) {
        return with(
                option, argument, bytes, size -> size >= 0 && size <= ByteSize.MOST_BYTES, "must be >= 0 and <= 2^62");
    }

    private <T> OutboardOptions with(
            final OutboardOption<T> option,
            final String argument,
            final @Nullable T value,
            final Predicate<T> fits,
            final String rule) {
        if (value != null && !fits.test(value)) {
            throw new IllegalArgumentException(argument + "=" + value + " " + rule);
        }
        return with(option, value);
    }

    private static boolean isShare(final double share) {
        return share > 0 && share <= 1;
    }

    private static boolean isKeep(final Duration keep) {
        return keep.isZero() || (keep.compareTo(LEAST_KEEP) >= 0 && keep.compareTo(MOST_KEEP) <= 0);
    }

    private static boolean isSocket(final Path path) {
        return path.isAbsolute() && path.toString().getBytes(StandardCharsets.UTF_8).length <= MOST_SOCKET_BYTES;
    }

    private static boolean isServiceName(final String name) {
        return name.matches("[A-Za-z0-9._-]{1,32}");
    }

    private static boolean isFile(final Path path) {
        final Path folder = path.toAbsolutePath().getParent();
        return folder != null && Files.isDirectory(folder) && !Files.isDirectory(path);
    }

    /** Makes a parser of two words, one for off and one for on. */
    private static Parser<Boolean> choice(final String off, final String on, final String rule) {
        final Map<String, Boolean> values = Map.of(off, false, on, true);
        return Parser.of(values::get, value -> true, rule);
    }

    private static Parser<Path> path(final Predicate<Path> fits, final String rule) {
        return Parser.of(text -> text.isEmpty() ? null : Path.of(text), fits, rule);
    }

    private static @Nullable ReusePolicy policyOf(final String text) {
        return Arrays.stream(ReusePolicy.values())
                .filter(policy -> nameOf(policy).equals(text))
                .findFirst()
                .orElse(null);
    }

    private static String policies() {
        return Arrays.stream(ReusePolicy.values()).map(OutboardOptions::nameOf).collect(Collectors.joining(", "));
    }

    private static String nameOf(final ReusePolicy policy) {
        return policy.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static Duration keepOf(final String property, final String text) {
        final double seconds = Parser.of(Double::valueOf, number -> true, "must be a number of seconds")
                .parse(property, text);
        if (seconds == 0 || (seconds >= LEAST_KEEP.toMillis() / 1000.0 && seconds <= MOST_KEEP.toSeconds())) {
            return Duration.ofMillis(Math.round(seconds * 1000));
        }
        throw new IllegalArgumentException(
                property + "=" + text + " must be 0, or >= 0.001 and <= " + MOST_KEEP.toSeconds() + " seconds");
    }
}
