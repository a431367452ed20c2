package io.outboard.core.spi;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Sizes as people type them, in options, properties and on the command line: {@code 65536}, {@code 64KiB}, {@code 512M}, {@code 1.5g};
 * units are powers of 1024, whatever they are called. Safe for any number of threads.
 */
public final class ByteSize {

    private static final Pattern FORM =
            Pattern.compile("([0-9]{1,19}(?:\\.[0-9]{1,6})?)\\s*(?:([kmgt])(?:i?b)?|b)?", Pattern.CASE_INSENSITIVE);
    private static final Map<String, Long> UNITS = Map.of("k", 1L << 10, "m", 1L << 20, "g", 1L << 30, "t", 1L << 40);
    private static final BigDecimal MOST = BigDecimal.valueOf(1L << 62);

    private ByteSize() {}

    /**
     * Reads a size.
     *
     * @param argument the option, as the error names it
     * @param text what was typed
     * @param leastBytes the least that it may be, in bytes, >= 0
     * @return bytes, {@code leastBytes <= bytes <= 2^62}; what is left of a byte doesn't count
     * @throws IllegalArgumentException if the text isn't such a size; it names {@code argument}, the text and the rule
     */
    public static long parse(final String argument, final String text, final long leastBytes) {
        final Matcher form = FORM.matcher(text.strip());
        if (form.matches()) {
            final String unit = form.group(2);
            final long factor = unit == null ? 1 : UNITS.getOrDefault(unit.toLowerCase(Locale.ROOT), 1L);
            final BigDecimal bytes = new BigDecimal(form.group(1)).multiply(BigDecimal.valueOf(factor));
            if (bytes.compareTo(MOST) <= 0 && bytes.longValue() >= leastBytes) {
                return bytes.longValue();
            }
        }
        throw new IllegalArgumentException(argument + "=" + text + " must be a size such as 65536, 512MiB or 1.5G, >= "
                + leastBytes + " and <= 2^62 bytes");
    }
}
