package io.outboard.bench.cli.service;

import io.outboard.bench.cli.common.OptionValue;
import io.outboard.bench.cli.common.WrongUseException;
import java.util.regex.Pattern;

/** This class reads a part of a device's memory or a size, such as {@code 0.9} or {@code 64GiB}. */
final class Share {

    private static final Pattern PART = Pattern.compile("[01]?\\.[0-9]{1,9}|[01]");

    private Share() {}

    /**
     * Returns how many bytes of a device a text stands for.
     *
     * @param option the name of the option in errors
     * @param text what the user typed
     * @param totalBytes all memory of the device, {@code 0 < totalBytes}
     * @return bytes, {@code 0 < bytes}; rounded down
     * @throws WrongUseException if the text is neither a size nor a part
     */
    static long bytes(final String option, final String text, final long totalBytes) {
        return isPart(text) ? (long) (part(option, text) * totalBytes) : OptionValue.bytes(option, text);
    }

    static boolean isPart(final String text) {
        return PART.matcher(text).matches();
    }

    /** Reads a text for which {@link #isPart} holds; the part must be more than 0 and at most 1. */
    static double part(final String option, final String text) {
        final double part = Double.parseDouble(text);
        if (!(part > 0 && part <= 1)) {
            throw new WrongUseException(option + "=" + text + " must be > 0 and <= 1, or a size such as 64GiB");
        }
        return part;
    }
}
