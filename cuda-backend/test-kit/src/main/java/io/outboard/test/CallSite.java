package io.outboard.test;

import java.util.List;
import java.util.stream.Collectors;

/** A call site is the part of a stack that is the program's: without what this project and the test framework did. */
record CallSite(List<StackTraceElement> calls) {

    /** The most calls that a message shows. */
    private static final int MOST_CALLS = 8;

    private static final List<String> OWN = List.of("io.outboard.test.", "io.outboard.pool.", "io.outboard.core.");
    private static final List<String> OUTSIDE = List.of("org.junit.", "java.lang.reflect.", "jdk.internal.reflect.");

    /** {@return where the program is now} */
    static CallSite here() {
        return new CallSite(StackWalker.getInstance()
                .walk(frames -> frames.dropWhile(frame -> isOf(OWN, frame.getClassName()))
                        .takeWhile(frame -> !isOf(OWN, frame.getClassName()) && !isOf(OUTSIDE, frame.getClassName()))
                        .limit(MOST_CALLS)
                        .map(StackWalker.StackFrame::toStackTraceElement)
                        .collect(Collectors.toList())));
    }

    private static boolean isOf(final List<String> packages, final String name) {
        return packages.stream().anyMatch(name::startsWith);
    }

    /** {@return the lines of a message that say what was done here} */
    String lines(final String done) {
        return calls.isEmpty()
                ? ""
                : calls.stream()
                        .map(Object::toString)
                        .collect(Collectors.joining("\n        by ", "\n    " + done + " at ", ""));
    }
}
