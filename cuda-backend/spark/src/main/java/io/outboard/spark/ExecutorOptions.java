package io.outboard.spark;

import io.outboard.core.ByteSize;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.jspecify.annotations.Nullable;

/**
 * The options are what the driver tells executors, by the names of Spark's own configuration. They are sent as texts,
 * which both sides read. Immutable.
 *
 * @param values what is set, by option
 */
record ExecutorOptions(Map<String, String> values) {

    static final String SOCKET = "spark.outboard.socket";
    static final String NAME = "spark.outboard.name";
    static final String LIMIT = "spark.outboard.limit";
    static final String KEEP = "spark.outboard.keep";
    static final String GPU = "spark.outboard.gpu";

    /** All options, as docs/spark.md lists them. */
    static final List<String> ALL = List.of(SOCKET, NAME, LIMIT, KEEP, GPU);

    /** The part of the socket's path that stands for the number of the executor's GPU. */
    static final String GPU_PLACE = "{gpu}";

    static final String DEFAULT_NAME = "spark";
    static final String DEFAULT_KEEP = "60s";

    private static final String PREFIX = "spark.outboard.";
    private static final Pattern TIME = Pattern.compile("([0-9]{1,9})(ms|s|m|min|h)");
    private static final Pattern QUOTA_NAME = Pattern.compile("[A-Za-z0-9._-]{1,32}");
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,4}");

    ExecutorOptions {
        values = Map.copyOf(values);
    }

    /**
     * Reads the driver's configuration.
     *
     * @throws IllegalArgumentException if there is an unknown option, or a wrong value
     */
    static ExecutorOptions ofDriver(final SparkConf conf) {
        final Map<String, String> values = new TreeMap<>();
        Arrays.stream(conf.getAll())
                .filter(entry -> entry._1().startsWith(PREFIX))
                .forEach(entry -> values.put(entry._1(), entry._2()));
        return ofMap(values);
    }

    /** Reads a map of options, as {@link #ofDriver} reads a configuration. */
    static ExecutorOptions ofMap(final Map<String, String> values) {
        for (final String option : values.keySet()) {
            if (!ALL.contains(option)) {
                throw new IllegalArgumentException(
                        option + "=" + values.get(option) + " must be one of " + String.join(", ", ALL));
            }
        }
        final ExecutorOptions options = new ExecutorOptions(values);
        options.socket(0);
        options.name();
        options.limitBytes();
        options.kept();
        options.gpu();
        return options;
    }

    Map<String, String> toMap() {
        return values;
    }

    /** Returns the lender's path for an executor with that GPU. */
    String socket(final int gpu) {
        final String socket = values.get(SOCKET);
        if (socket == null || !socket.startsWith("/")) {
            throw new IllegalArgumentException(SOCKET + "=" + (socket == null ? "" : socket)
                    + " must be the absolute path of the lender's socket on each node, such as /run/outboard/gpu"
                    + GPU_PLACE);
        }
        return socket.replace(GPU_PLACE, String.valueOf(gpu));
    }

    String name() {
        final String name = text(NAME, DEFAULT_NAME);
        if (!QUOTA_NAME.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    NAME + "=" + name + " must consist of letters, digits, . _ and -, at most 32");
        }
        return name;
    }

    /**
     * Returns the most bytes that an executor's pool may hold; {@link ByteSize#MOST_BYTES} if only the lender limits
     * it.
     */
    long limitBytes() {
        final String limit = values.get(LIMIT);
        if (limit == null) {
            return ByteSize.MOST_BYTES;
        }
        final long bytes = ByteSize.parse(LIMIT, limit);
        if (bytes == 0) {
            throw new IllegalArgumentException(LIMIT + "=" + limit + " must be > 0");
        }
        return bytes;
    }

    /** Returns how long free memory is kept; zero means without end. */
    Duration kept() {
        return time(KEEP, DEFAULT_KEEP);
    }

    /** Returns the GPU's number among those that an executor sees; null if Spark's resources say it. */
    @Nullable
    Integer gpu() {
        final String gpu = values.get(GPU);
        if (gpu != null && !NUMBER.matcher(gpu).matches()) {
            throw new IllegalArgumentException(GPU + "=" + gpu + " must be the number of a GPU, such as 0");
        }
        return gpu == null ? null : Integer.valueOf(gpu);
    }

    private String text(final String option, final String unset) {
        return values.getOrDefault(option, unset);
    }

    private Duration time(final String option, final String unset) {
        final String text = text(option, unset);
        final Matcher matcher = TIME.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(option + "=" + text + " must be a time such as 500ms, 5s, 1m or 2h");
        }
        final long count = Long.parseLong(matcher.group(1));
        final Duration time = switch (matcher.group(2)) {
            case "ms" -> Duration.ofMillis(count);
            case "s" -> Duration.ofSeconds(count);
            case "h" -> Duration.ofHours(count);
            default -> Duration.ofMinutes(count);
        };
        if (time.compareTo(Duration.ofDays(1)) > 0) {
            throw new IllegalArgumentException(option + "=" + text + " must be at most a day");
        }
        return time;
    }
}
