package io.outboard.cuda.kernels;

import io.outboard.cuda.kernels.internal.DevicePtx;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * This class has the in-kernel allocators as headers of CUDA C++, for programs whose kernels are compiled with
 * {@code nvcc}: {@code #include "outboard/bit_malloc.cuh"}. The headers need the CUDA toolkit and nothing else. Safe
 * for any number of threads.
 */
public final class DeviceHeaders {

    private DeviceHeaders() {}

    /**
     * Writes all headers into a folder {@code outboard} in the given folder. The given folder is the one for {@code
     * nvcc -I}.
     *
     * @param folder the folder to write to; made if it doesn't exist
     * @return the files, in order of their names; files that existed before are replaced
     * @throws IOException if the folder isn't writable; some files may have been written
     */
    public static List<Path> export(final Path folder) throws IOException {
        return DevicePtx.exportHeaders(Objects.requireNonNull(folder, "folder"));
    }
}
