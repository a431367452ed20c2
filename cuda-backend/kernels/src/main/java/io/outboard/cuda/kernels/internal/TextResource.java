package io.outboard.cuda.kernels.internal;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPInputStream;

/** This class reads UTF-8 text from jars, which is packed by gzip if the name ends in {@code .gz}. */
public final class TextResource {

    private static final String PACKED = ".gz";

    private TextResource() {}

    /**
     * Reads the text of a resource.
     *
     * @param beside a class of the jar that has it
     * @param name of the resource, relative to that class's package unless it starts with a slash
     * @return the whole text, unpacked
     * @throws IllegalStateException if there is no such resource
     * @throws UncheckedIOException if the resource isn't readable
     */
    public static String read(final Class<?> beside, final String name) {
        try (InputStream stream = beside.getResourceAsStream(name)) {
            if (stream == null) {
                throw new IllegalStateException("resource=" + name + " must be on the class path, beside " + beside);
            }
            return read(stream, name);
        } catch (final IOException e) {
            throw new UncheckedIOException("resource=" + name + " must be readable", e);
        }
    }

    /** Reads the rest of a stream, which the caller closes; the name says whether the text is packed. */
    static String read(final InputStream stream, final String name) throws IOException {
        final InputStream text = name.endsWith(PACKED) ? new GZIPInputStream(stream) : stream;
        return new String(text.readAllBytes(), StandardCharsets.UTF_8);
    }
}
