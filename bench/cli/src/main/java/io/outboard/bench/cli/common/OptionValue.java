package io.outboard.bench.cli.common;

import io.outboard.core.ByteSize;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** This class reads sizes and numbers as users type them. Safe for any number of threads. */
public final class OptionValue {

    private static final Pattern COUNT = Pattern.compile("[0-9]{1,18}(\\.[0-9]{1,18})?([eE][0-9]{1,2})?");

    private OptionValue() {}

    /**
     * Reads a size, such as {@code 65536}, {@code 64KiB}, {@code 512M} or {@code 1.5G}.
     *
     * @param option the name of the option in errors
     * @param text what the user typed
     * @return bytes, {@code 0 < bytes <= 2^62}
     * @throws WrongUseException if the text isn't a size; the message names option, text and rule
     */
    public static long bytes(final String option, final String text) {
        final long bytes;
        try {
            bytes = ByteSize.parse(option, text);
        } catch (final IllegalArgumentException e) {
            throw new WrongUseException(e);
        }
        if (bytes == 0) {
            throw new WrongUseException(option + "=" + text + " must be a size such as 64MiB, and not 0");
        }
        return bytes;
    }

    /**
     * Checks that a file can be written at a path.
     *
     * @param option the name of the option in errors
     * @param file what the user typed; a device or a pipe is accepted too
     * @throws WrongUseException if the path is a folder, or lies in a folder that doesn't exist
     */
    public static void checkFile(final String option, final Path file) {
        if (Files.isDirectory(file)) {
            throw new WrongUseException(option + "=" + file + " must be a file, not a folder");
        }
        final Path folder = file.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            throw new WrongUseException(option + "=" + file + " must be in a folder that exists");
        }
    }

    /** This converter reads {@code 100000000}, {@code 1e8} and {@code 2.5e6}, from 1 to 10^15. */
    public static final class WholeLong implements ITypeConverter<Long> {

        private static final long MOST = 1_000_000_000_000_000L;

        /** Picocli calls this constructor. */
        public WholeLong() {}

        @Override
        public Long convert(final String text) {
            return whole(text, MOST, "1e15");
        }
    }

    /** This converter reads the same forms as {@link WholeLong}, from 1 to 2^31 - 1. */
    public static final class WholeInt implements ITypeConverter<Integer> {

        /** Picocli calls this constructor. */
        public WholeInt() {}

        @Override
        public Integer convert(final String text) {
            return (int) whole(text, Integer.MAX_VALUE, "2147483647");
        }
    }

    private static long whole(final String text, final long most, final String mostText) {
        if (COUNT.matcher(text).matches()) {
            final BigDecimal count = new BigDecimal(text);
            if (count.signum() > 0
                    && count.compareTo(BigDecimal.valueOf(most)) <= 0
                    && count.stripTrailingZeros().scale() <= 0) {
                return count.longValueExact();
            }
        }
        throw new TypeConversionException(
                "'" + text + "' must be a whole number from 1 to " + mostText + ", such as 1000000 or 1e6");
    }
}
