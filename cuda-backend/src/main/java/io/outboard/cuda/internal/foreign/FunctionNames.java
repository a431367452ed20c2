package io.outboard.cuda.internal.foreign;

import java.util.regex.Pattern;

/**
 * The names that a function of CUDA has in bindings, such as {@code cuMemFree}, {@code cuMemFree_v2}, {@code
 * cuMemFreeAsync_ptsz}, or {@code ncuMemFree}, which an outer function of a binding calls.
 */
public final class FunctionNames {

    /** The end of the name of a function for which stream 0 is the thread's own default stream. */
    static final String OF_THREADS = "_ptsz";

    private static final Pattern DECORATION = Pattern.compile("^n(?=cu)|(_v\\d)?(" + OF_THREADS + ")?$");

    private FunctionNames() {}

    /** {@return the name that all versions of a function have} */
    public static String baseOf(final String name) {
        return DECORATION.matcher(name).replaceAll("");
    }

    /** Answers whether stream 0 is the thread's own default stream for a function, and not the one of all threads. */
    static boolean isOfThreads(final String name) {
        return name.endsWith(OF_THREADS);
    }
}
