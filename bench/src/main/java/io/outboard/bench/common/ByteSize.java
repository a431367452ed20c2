package io.outboard.bench.common;

/** Sizes as users type them: {@code 68719476736}, {@code 64GiB}, {@code 64g}, {@code 1.5G}; powers of 1024. */
public final class ByteSize {

    private ByteSize() {}

    /**
     * Reads a size.
     *
     * @param argument the option, as errors name it
     * @param text what the user typed
     * @return bytes, {@code 0 < bytes <= 2^62}
     * @throws WrongUseException if the text isn't a size; it names {@code argument}
     */
    public static long parse(final String argument, final String text) {
        try {
            final long bytes = io.outboard.core.ByteSize.parse(argument, text);
            if (bytes == 0) {
                throw new WrongUseException(argument + "=" + text + " must be a size such as 1KiB, and not 0");
            }
            return bytes;
        } catch (final IllegalArgumentException e) {
            throw new WrongUseException(String.valueOf(e.getMessage()));
        }
    }
}
