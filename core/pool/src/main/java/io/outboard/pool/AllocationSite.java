package io.outboard.pool;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Where a buffer was allocated: a stack, taken without decoding it, which most are never asked for. Never thrown. */
final class AllocationSite extends Throwable {

    private static final long serialVersionUID = 1L;

    /** What begins the names of this project's packages, those of the agent and the facades among them. */
    private static final String OWN = "io.outboard.";

    AllocationSite() {
        super("allocated here");
    }

    /** Cuts what this project did off the top of the stack, so that it begins with the program's call. */
    AllocationSite ofCaller() {
        final StackTraceElement[] stack = getStackTrace();
        final int first = firstOf(stack);
        if (first > 0) {
            setStackTrace(Arrays.copyOfRange(stack, first, stack.length));
        }
        return this;
    }

    /** The program's call, as a stack trace shows it; null if there is none. */
    @Nullable
    String caller() {
        final StackTraceElement[] stack = getStackTrace();
        return stack.length == 0 ? null : stack[firstOf(stack)].toString();
    }

    /** Where the program's calls begin; 0 if there are none, since then all of the stack is of interest. */
    private static int firstOf(final StackTraceElement[] stack) {
        for (int i = 0; i < stack.length; i++) {
            if (!stack[i].getClassName().startsWith(OWN)) {
                return i;
            }
        }
        return 0;
    }
}
