package io.outboard.core;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * This class reads and writes sizes as people do, in powers of 1024: {@code 64MiB}. {@link #parse} reads what {@link
 * #text} and {@link #exact} write of a KiB or more, without what is in brackets.
 *
 * <p>Thread-safety: safe for any number of threads. Cost: some microseconds and garbage, so nothing for the path of an
 * allocation.
 */
public final class ByteSize {

    /** The largest size that {@link #parse} reads, in bytes. */
    public static final long MOST_BYTES = 1L << 62;

    private static final String UNITS = "KMGTPE";

    /**
     * The form of sizes. It isn't compiled, since messages of errors need this class, and may be made where a stack
     * ends: a class that has nothing to initialise can't be lost by that. So {@link #text} does without decimals, too.
     */
    private static final String FORM = "(?i)([0-9]{1,19}(?:\\.[0-9]{1,6})?)\\s*(?:([kmgtpe])(?:i?b)?|b)?";

    private ByteSize() {}

    /**
     * Reads a size: {@code 67108864}, {@code 64MiB}, {@code 64M}, {@code 64m}, {@code 64MB} or {@code 0.0625g}, say.
     * Every unit is a power of 1024, also without the {@code i}; a fraction of a byte is dropped.
     *
     * @param argument what the size is for, such as the name of an option; it begins the message of a failure
     * @param text the size
     * @return bytes, {@code 0 <= bytes <= 2^62}
     * @throws IllegalArgumentException if the text isn't a size, or a larger one
     */
    public static long parse(final String argument, final String text) {
        final Matcher form = Pattern.compile(FORM).matcher(text.strip());
        if (form.matches()) {
            final int unit =
                    form.group(2) == null ? 0 : UNITS.indexOf(form.group(2).toUpperCase(Locale.ROOT)) + 1;
            final BigDecimal bytes = new BigDecimal(form.group(1)).multiply(BigDecimal.valueOf(bytesOf(unit)));
            if (bytes.compareTo(BigDecimal.valueOf(MOST_BYTES)) <= 0) {
                return bytes.longValue();
            }
        }
        throw new IllegalArgumentException(
                argument + "=" + text + " must be a size such as 67108864, 64MiB, 64M or 1.5GiB, from 0 to 4EiB");
    }

    /**
     * Writes a size rounded to what a person takes in.
     *
     * @param bytes 0 or more
     * @return for example {@code 64MiB}, {@code 3.98MiB} or {@code 100 bytes}
     */
    public static String text(final long bytes) {
        if (bytes < 1024) {
            return bytes + (bytes == 1 ? " byte" : " bytes");
        }
        final int unit = unitOf(bytes);
        // The upper half of a product of 128 bits, which is twice the hundredths here, and then rounded half up.
        final long hundredths = (Math.multiplyHigh(bytes, 200L << (Long.SIZE - 10 * unit)) + 1) >>> 1;
        if (hundredths == 102_400) {
            // Rounding yields 1024, which is 1 of the next unit.
            return text(bytesOf(unit + 1));
        }
        final String digits = Long.toString(100 + hundredths % 100);
        final String fraction = digits.substring(1, hundredths % 10 == 0 ? 2 : 3);
        return hundredths / 100 + (hundredths % 100 == 0 ? "" : "." + fraction) + UNITS.charAt(unit - 1) + "iB";
    }

    /**
     * Writes a size to the byte.
     *
     * @param bytes 0 or more
     * @return as {@link #text}, and in brackets the bytes if that isn't all of it: {@code 3.98MiB (4174336 bytes)}
     */
    public static String exact(final long bytes) {
        // Hundredths of a unit are a whole number of bytes only if the hundredths make quarters of the unit.
        return bytes < 1024 || bytes % (bytesOf(unitOf(bytes)) / 4) == 0
                ? text(bytes)
                : text(bytes) + " (" + bytes + " bytes)";
    }

    private static int unitOf(final long bytes) {
        return (63 - Long.numberOfLeadingZeros(bytes)) / 10;
    }

    private static long bytesOf(final int unit) {
        return 1L << (10 * unit);
    }
}
