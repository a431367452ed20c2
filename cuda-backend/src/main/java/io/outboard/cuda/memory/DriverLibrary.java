package io.outboard.cuda.memory;

import java.util.Optional;
import jcuda.driver.CUresult;

/**
 * Finds those calls of the driver that JCuda can't make. This class is for JDK 17 to 21, which have no way to make them, either; on a newer
 * one the class of the same name in the jar's {@code META-INF/versions/22} takes its place.
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

    static boolean recordsContexts() {
        return false;
    }

    static int recordContext(final long event, final long context) {
        return CUresult.CUDA_ERROR_NOT_SUPPORTED;
    }

    static int captureStatus(final int[] status, final long stream) {
        return CUresult.CUDA_ERROR_NOT_SUPPORTED;
    }
}
