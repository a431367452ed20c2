package io.outboard.cuda.internal.memory;

import java.util.Optional;

/**
 * This class finds the calls of the driver that JCuda can't make. On JDK 17 to 21, which can't make them either, it
 * finds none; on newer JDKs the class of the same name in the jar's {@code META-INF/versions/22} takes its place.
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

    static CudaCalls calls() {
        return new JCudaCalls();
    }

    /** {@return the driver's name of a code; here it isn't known} */
    static String nameOf(final int code) {
        return "unknown";
    }
}
