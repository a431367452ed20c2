package io.outboard.cuda.internal.foreign;

import java.util.List;
import java.util.Set;

/**
 * This class replaces functions of a binding's own class by a facade. On JDK 17 to 21, which have no {@code java.lang.foreign}, it
 * knows no functions; on newer JDKs the class of the same name in the jar's {@code META-INF/versions/22} takes its
 * place.
 */
public final class Bindings {

    /** What the agent puts before the old name of a function. */
    public static final String PREFIX = "outboard$";

    private Bindings() {}

    /** {@return nothing} */
    public static Set<String> functions() {
        return Set.of();
    }

    /** {@return false} */
    public static boolean mayWrite() {
        return false;
    }

    /**
     * Answers which functions are left to a binding.
     *
     * @param binding a class whose functions have been renamed
     * @return nothing
     */
    public static List<String> misfits(final Class<?> binding) {
        return List.of();
    }
}
