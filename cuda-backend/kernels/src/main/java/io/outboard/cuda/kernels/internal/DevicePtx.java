package io.outboard.cuda.kernels.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * This record names device code in the jar, which is there as PTX and as the source from which {@code ptx.sh} made the
 * PTX.
 *
 * @param name of the PTX, without its ending
 * @param source name of the CUDA C++ file
 * @param options of the compiler, beyond the options of all sources
 */
public record DevicePtx(String name, String source, List<String> options) {

    /** The allocators that always join the requests of a warp, so their coalesced code is the same. */
    static final Set<String> JOINING = Set.of("AtomicMalloc", "AWMalloc", "BitMalloc", "XMalloc");

    private static final String FOLDER = "/io/outboard/cuda/kernels/";
    private static final String SOURCES = "include/";

    /** The kernels that format and scan heaps, for all allocators. */
    public static final DevicePtx HEAP = new DevicePtx("device_heap", "device_heap.cu", List.of());

    /** The kernels that format heaps of objects, and list and count objects. */
    public static final DevicePtx OBJECTS = new DevicePtx("object_heap", "object_heap.cu", List.of());

    /** The kernels that make and end heaps of XMalloc. */
    public static final DevicePtx XMALLOC = new DevicePtx("xmalloc_heap", "xmalloc_heap.cu", List.of());

    /**
     * Answers the code of {@code outboardMalloc} and {@code outboardFree} of the named allocator. Not every allocator
     * has a checked build, see {@code DeviceAllocator.hasCheckedBuild}.
     */
    public static DevicePtx of(final String allocator, final boolean coalesced, final boolean checked) {
        final boolean isApart = coalesced && !JOINING.contains(allocator);
        final String type = "outboard::" + allocator;
        final List<String> options = new ArrayList<>(List.of(
                "--relocatable-device-code=true",
                "-DOUTBOARD_ALLOCATOR=" + (isApart ? "outboard::Coalesced<" + type + ">" : type)));
        if (checked) {
            options.add("-DOUTBOARD_CHECKED");
        }
        return new DevicePtx(
                allocator + (isApart ? "-coalesced" : "") + (checked ? "-checked" : ""),
                "allocator.cu",
                List.copyOf(options));
    }

    public String text() {
        return read("ptx/" + name + ".ptx.gz");
    }

    String sourceText() {
        return read(SOURCES + source);
    }

    /** Lists the headers by their paths in the folder from which compilers include them. */
    static List<String> headers() {
        return read(SOURCES + "headers.txt").lines().toList();
    }

    /**
     * Writes all headers into a folder from which compilers can include them; returns the files in order of their
     * names.
     */
    public static List<Path> exportHeaders(final Path folder) throws IOException {
        final List<Path> files = new ArrayList<>();
        for (final String name : headers()) {
            final Path file = folder.resolve(name);
            Files.createDirectories(Objects.requireNonNull(file.getParent()));
            files.add(Files.writeString(file, read(SOURCES + name)));
        }
        return List.copyOf(files);
    }

    private static String read(final String resource) {
        return TextResource.read(DevicePtx.class, FOLDER + resource);
    }
}
