package io.outboard.cuda.memory;

import java.util.Optional;

/**
 * Finds the driver's virtual memory calls. This class is for JDK 17 to 21, which have no way to make them; on a newer one
 * the class of the same name in the jar's {@code META-INF/versions/22} takes its place.
 *
 * <p>Not for applications.
 */
public final class VirtualMemory {

    private VirtualMemory() {}

    /**
     * Finds the calls.
     *
     * @return nothing
     */
    public static Optional<VirtualMemoryCalls> find() {
        return Optional.empty();
    }
}
