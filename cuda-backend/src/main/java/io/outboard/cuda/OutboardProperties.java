package io.outboard.cuda;

import io.outboard.core.ByteSize;
import io.outboard.pool.ReusePolicy;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Reads {@link OutboardOptions} from the system properties {@code outboard.*}. */
final class OutboardProperties {

    private static final String LIMBO = "limbo";
    private static final String BARRIER = "barrier";

    private OutboardProperties() {}

    /**
     * What they say, and defaults for those that aren't set.
     *
     * @throws IllegalArgumentException if one has a wrong value; the message names it
     */
    static OutboardOptions read() {
        return new OutboardOptions(
                System.getProperty("outboard.strategy", "tlsf"),
                reuseOf(System.getProperty("outboard.reuse", "strict")),
                shareOf(System.getProperty("outboard.share", "0.9")),
                ByteSize.parse("outboard.firstRegion", System.getProperty("outboard.firstRegion", "0")),
                isBarrier(System.getProperty("outboard.free", LIMBO)),
                isTrue(System.getProperty("outboard.growInPlace", "true")),
                keepOf(System.getProperty("outboard.keep", "0")),
                ByteSize.parse("outboard.leave", System.getProperty("outboard.leave", "0")),
                slackOf(System.getProperty("outboard.slack")),
                pathOf("outboard.dumpFolder", "must be a folder that exists", Files::isDirectory),
                pathOf("outboard.service", OutboardOptions.SOCKET_RULE, OutboardOptions::isSocket),
                serviceNameOf(System.getProperty("outboard.serviceName")),
                pathOf("outboard.record", OutboardOptions.FILE_RULE, OutboardOptions::isFile));
    }

    private static boolean isTrue(final String text) {
        if (text.equals("true") || text.equals("false")) {
            return text.equals("true");
        }
        throw wrong("outboard.growInPlace", text, "must be true or false", null);
    }

    private static boolean isBarrier(final String text) {
        if (text.equals(LIMBO) || text.equals(BARRIER)) {
            return text.equals(BARRIER);
        }
        throw wrong("outboard.free", text, "must be one of: " + LIMBO + ", " + BARRIER, null);
    }

    private static ReusePolicy reuseOf(final String text) {
        for (final ReusePolicy policy : ReusePolicy.values()) {
            if (nameOf(policy).equals(text)) {
                return policy;
            }
        }
        final String names = Arrays.stream(ReusePolicy.values())
                .map(OutboardProperties::nameOf)
                .collect(Collectors.joining(", "));
        throw wrong("outboard.reuse", text, "must be one of: " + names, null);
    }

    private static String nameOf(final ReusePolicy policy) {
        return policy.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static double shareOf(final String text) {
        try {
            final double share = Double.parseDouble(text);
            if (share > 0 && share <= 1) {
                return share;
            }
        } catch (final NumberFormatException e) {
            throw wrong("outboard.share", text, "must be a number > 0 and <= 1", e);
        }
        throw wrong("outboard.share", text, "must be a number > 0 and <= 1", null);
    }

    private static Duration keepOf(final String text) {
        try {
            final double seconds = Double.parseDouble(text);
            if (seconds == 0
                    || (seconds >= OutboardOptions.LEAST_KEEP.toMillis() / 1000.0
                            && seconds <= OutboardOptions.MOST_KEEP.toSeconds())) {
                return Duration.ofMillis(Math.round(seconds * 1000));
            }
        } catch (final NumberFormatException e) {
            throw wrong("outboard.keep", text, "must be a number of seconds", e);
        }
        throw wrong("outboard.keep", text, "must be 0, or >= 0.001 and <= 86400000 seconds", null);
    }

    private static @Nullable Long slackOf(final @Nullable String text) {
        return text == null ? null : Long.valueOf(ByteSize.parse("outboard.slack", text));
    }

    /** Null where the property isn't set. */
    private static @Nullable Path pathOf(final String property, final String rule, final Predicate<Path> fits) {
        final String text = System.getProperty(property);
        if (text == null) {
            return null;
        }
        try {
            final Path path = Path.of(text);
            if (!text.isEmpty() && fits.test(path)) {
                return path;
            }
        } catch (final InvalidPathException e) {
            throw wrong(property, text, rule, e);
        }
        throw wrong(property, text, rule, null);
    }

    private static @Nullable String serviceNameOf(final @Nullable String text) {
        if (text == null || OutboardOptions.SERVICE_NAME.matcher(text).matches()) {
            return text;
        }
        throw wrong("outboard.serviceName", text, OutboardOptions.SERVICE_NAME_RULE, null);
    }

    private static IllegalArgumentException wrong(
            final String property, final String value, final String rule, final @Nullable Throwable cause) {
        return new IllegalArgumentException(property + "=" + value + " " + rule, cause);
    }
}
