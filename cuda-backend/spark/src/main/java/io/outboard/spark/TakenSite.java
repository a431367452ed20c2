package io.outboard.spark;

import java.util.Arrays;
import java.util.Set;

/**
 * The place where a task took a buffer is a stack, which isn't decoded unless the task forgets to close the buffer.
 * Never thrown.
 */
final class TakenSite extends Throwable {

    private static final long serialVersionUID = 1L;

    /** The classes that may be on top of the program's call. */
    private static final Set<String> OWN =
            Set.of(OutboardSpark.class.getName(), ExecutorMemory.class.getName(), TaskBuffers.class.getName());

    TakenSite() {
        super("taken here");
    }

    /** Returns the program's call, as a stack trace shows it; the stack begins with the call from then on. */
    String caller() {
        final StackTraceElement[] stack = getStackTrace();
        int first = 0;
        while (first < stack.length && OWN.contains(stack[first].getClassName())) {
            first++;
        }
        if (first == stack.length) {
            return "an unknown place";
        }
        setStackTrace(Arrays.copyOfRange(stack, first, stack.length));
        return stack[first].toString();
    }
}
