package io.outboard.cuda;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Device code in the jar, as PTX and as the source that {@code ptx.sh} made it from.
 *
 * @param name of the PTX, without its ending
 * @param source name of the CUDA C++ file
 * @param options of the compiler, beyond those that all have
 */
record DevicePtx(String name, String source, List<String> options) {

    /** Kernels that format and scan heaps, whichever the allocator. */
    static final DevicePtx HEAP = new DevicePtx("device_heap", "device_heap.cu", List.of());

    /** {@code outboardMalloc} and {@code outboardFree} for kernels that are linked with them. */
    static DevicePtx of(final DeviceAllocator allocator, final boolean coalesced) {
        final String type = "outboard::" + allocator.paperName();
        return new DevicePtx(
                allocator.paperName() + (coalesced ? "-coalesced" : ""),
                "allocator.cu",
                List.of(
                        "--relocatable-device-code=true",
                        "-DOUTBOARD_ALLOCATOR=" + (coalesced ? "outboard::Coalesced<" + type + ">" : type)));
    }

    String text() {
        return read("ptx/" + name + ".ptx");
    }

    String sourceText() {
        return read(DeviceHeaders.FOLDER + source);
    }

    /** A text file of this package in the jar. */
    static String read(final String resource) {
        try (InputStream stream = DevicePtx.class.getResourceAsStream(resource)) {
            if (stream == null) {
                throw new IllegalStateException("resource=" + resource + " must be in Outboard's jar");
            }
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (final IOException e) {
            throw new UncheckedIOException("resource=" + resource + " must be readable", e);
        }
    }
}
