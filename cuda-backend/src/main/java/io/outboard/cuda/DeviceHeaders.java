package io.outboard.cuda;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * The in-kernel allocators as headers of CUDA C++, for those who compile their kernels with {@code nvcc}: {@code #include
 * "outboard/cfm_malloc.cuh"}. They need the CUDA toolkit and nothing else. Safe for any number of threads.
 */
public final class DeviceHeaders {

    /** Where sources are in the jar. */
    static final String FOLDER = "include/";

    private DeviceHeaders() {}

    /**
     * Writes all headers, into a folder {@code outboard} in the folder that is given; that one is what {@code nvcc -I} needs.
     *
     * @param folder where to; made unless it is there
     * @return the files, in order of their names; those that were there before are replaced
     * @throws IOException if the folder isn't writable; some files may have been written
     */
    public static List<Path> export(final Path folder) throws IOException {
        Objects.requireNonNull(folder, "folder");
        final List<Path> files = names().stream().map(folder::resolve).toList();
        for (final String name : names()) {
            final Path file = folder.resolve(name);
            Files.createDirectories(Objects.requireNonNull(file.getParent()));
            Files.writeString(file, DevicePtx.read(FOLDER + name));
        }
        return files;
    }

    /** The headers, relative to the folder to include from. */
    static List<String> names() {
        return DevicePtx.read(FOLDER + "headers.txt").lines().toList();
    }
}
