package io.outboard.bench.kernels;

import io.outboard.cuda.kernels.PreSplit;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The class reads pre-splittings of a heap as the command line names them: {@code default}, {@code none}, {@code
 * heap:BYTES} with the smallest chunk of the paper's binary heap, {@code uniform:BYTES}; the last three also with
 * {@code +end:BYTES}, a large chunk kept at the end.
 */
public final class PreSplits {

    /** The name for an in-kernel heap's own choice. */
    public static final String DEFAULT = "default";

    private static final Pattern FORM =
            Pattern.compile("default|(?:none|(heap|uniform):([0-9]{1,12}))(?:\\+end:([0-9]{1,12}))?");

    private PreSplits() {}

    /**
     * Returns whether a text names a pre-splitting.
     *
     * @param text what a user typed
     * @return false if {@link #parse} would throw
     */
    public static boolean isValid(final String text) {
        return FORM.matcher(text).matches();
    }

    /**
     * Returns the pre-splitting of a name.
     *
     * @return empty for {@link #DEFAULT}
     * @throws IllegalArgumentException if the text names none, or the heap doesn't know such chunks
     */
    static Optional<PreSplit> parse(final String text) {
        final Matcher form = FORM.matcher(text);
        if (!form.matches()) {
            throw new IllegalArgumentException(
                    "pre-split=" + text + " must be default, none, heap:BYTES or uniform:BYTES, and +end:BYTES");
        }
        if (text.equals(DEFAULT)) {
            return Optional.empty();
        }
        final String kind = form.group(1);
        final PreSplit split;
        if (kind == null) {
            split = PreSplit.none();
        } else {
            final long bytes = Long.parseLong(form.group(2));
            split = kind.equals("heap") ? PreSplit.binaryHeap(bytes) : PreSplit.uniform(bytes);
        }
        final String end = form.group(3);
        return Optional.of(end == null ? split : split.withLargeEnd(Long.parseLong(end)));
    }
}
