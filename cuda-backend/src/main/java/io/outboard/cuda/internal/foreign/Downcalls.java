package io.outboard.cuda.internal.foreign;

import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * This class makes the handles by which a program calls native functions. On JDK 17 to 21, which have no
 * {@code java.lang.foreign}, it makes none; on newer JDKs the class of the same name in the jar's
 * {@code META-INF/versions/22} takes its place.
 */
public final class Downcalls {

    private Downcalls() {}

    /**
     * Answers why no function can be replaced, as the end of a sentence.
     *
     * @param listener isn't called
     * @return the reason
     */
    public static Optional<String> begin(final Consumer<String> listener) {
        return Optional.of("on a JDK older than 22");
    }

    /** {@return nothing} */
    public static Set<String> replaced() {
        return Set.of();
    }
}
