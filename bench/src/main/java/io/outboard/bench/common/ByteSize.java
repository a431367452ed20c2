package io.outboard.bench.common;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sizes as users type them: {@code 68719476736}, {@code 64GiB}, {@code 64g}, {@code 1.5G}; powers of 1024. */
public final class ByteSize {

    private static final Pattern FORM =
            Pattern.compile("([0-9]{1,19}(?:\\.[0-9]{1,6})?)\\s*(?:([kmgt])(?:i?b)?|b)?", Pattern.CASE_INSENSITIVE);
    private static final Map<String, Long> UNITS = Map.of("k", 1L << 10, "m", 1L << 20, "g", 1L << 30, "t", 1L << 40);

    private ByteSize() {}

    /**
     * Reads a size.
     *
     * @param argument the option, as errors name it
     * @param text what the user typed
     * @return bytes, {@code 0 < bytes < 2^62}
     * @throws WrongUseException if the text isn't a size; it names {@code argument}
     */
    public static long parse(final String argument, final String text) {
        final Matcher form = FORM.matcher(text.strip());
        if (form.matches()) {
            final String unit = form.group(2);
            final long factor = unit == null ? 1 : UNITS.getOrDefault(unit.toLowerCase(Locale.ROOT), 1L);
            final double bytes = Double.parseDouble(form.group(1)) * factor;
            if (bytes >= 1 && bytes < 1L << 62) {
                return form.group(1).contains(".") ? (long) bytes : Long.parseLong(form.group(1)) * factor;
            }
        }
        throw new WrongUseException(argument + "=" + text
                + " must be a size such as 65536, 512MiB or 64GiB, from 1 byte to less than 4 EiB");
    }
}
