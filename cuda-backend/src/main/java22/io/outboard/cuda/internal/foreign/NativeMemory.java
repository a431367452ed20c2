package io.outboard.cuda.internal.foreign;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/** The memory of the process outside of the Java heap, by its addresses; a wrong one ends the process, as in C. */
final class NativeMemory {

    @SuppressWarnings("restricted")
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private NativeMemory() {}

    /** Throws a {@link LinkageError} if native access is forbidden. */
    static void initialize() {
        // The call of any static method runs the class's initialiser, which asks for all memory.
    }

    static long get(final long address) {
        return ALL.get(JAVA_LONG_UNALIGNED, address);
    }

    static void set(final long address, final long value) {
        ALL.set(JAVA_LONG_UNALIGNED, address, value);
    }
}
