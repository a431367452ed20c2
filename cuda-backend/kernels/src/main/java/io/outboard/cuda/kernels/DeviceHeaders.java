package io.outboard.cuda.kernels;

import io.outboard.cuda.kernels.internal.DevicePtx;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * The in-kernel allocators as headers of CUDA C++, for those who compile their kernels with {@code nvcc}: {@code
 * #include "outboard/bit_malloc.cuh"}. They need the CUDA toolkit and nothing else. Safe for any number of threads.
 */
public final class DeviceHeaders {

    private DeviceHeaders() {}

    /**
     * Writes all headers, into a folder {@code outboard} in the folder that is given; that one is what {@code nvcc -I}
     * needs.
     *
     * @param folder where to; made unless it is there
     * @return the files, in order of their names; those that were there before are replaced
     * @throws IOException if the folder isn't writable; some files may have been written
     */
    public static List<Path> export(final Path folder) throws IOException {
        return DevicePtx.exportHeaders(Objects.requireNonNull(folder, "folder"));
    }
}
