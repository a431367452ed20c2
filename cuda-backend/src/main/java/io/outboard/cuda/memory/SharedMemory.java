package io.outboard.cuda.memory;

import java.util.Optional;

/**
 * Finds the driver's calls for memory that others map. This class is for JDK 17 to 21, which have no way to make them; on a newer one
 * the class of the same name in the jar's {@code META-INF/versions/22} takes its place.
 *
 * <p>Not for applications.
 */
public final class SharedMemory {

    private SharedMemory() {}

    /**
     * Finds the calls.
     *
     * @return nothing
     */
    public static Optional<SharedMemoryCalls> find() {
        return Optional.empty();
    }
}
