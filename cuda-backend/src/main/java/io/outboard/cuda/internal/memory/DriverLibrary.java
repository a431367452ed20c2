package io.outboard.cuda.internal.memory;

import java.util.Optional;

/**
 * Finds those calls of the driver that JCuda can't make. This class is for JDK 17 to 21, which can't make them, either;
 * on newer JDKs the class of the same name in the jar's {@code META-INF/versions/22} takes its place.
 */
public final class DriverLibrary {

    private DriverLibrary() {}

    /** {@return nothing} */
    public static Optional<VirtualMemoryCalls> virtualMemory() {
        return Optional.empty();
    }

    /** {@return nothing} */
    public static Optional<SharedMemoryCalls> sharedMemory() {
        return Optional.empty();
    }

    static JCudaCalls calls() {
        return new JCudaCalls();
    }
}
