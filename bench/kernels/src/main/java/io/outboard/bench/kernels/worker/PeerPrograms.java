package io.outboard.bench.kernels.worker;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The class makes files, which can be run, of the programs that {@code bench/peers.sh} compiled, which are resources.
 * Safe for any number of threads.
 */
public final class PeerPrograms {

    private static final Map<String, Path> FILES = new ConcurrentHashMap<>();

    private PeerPrograms() {}

    /**
     * Returns a file with a program, which is deleted when the JVM ends.
     *
     * @param resource its absolute name; there must be such a resource
     * @return the file
     */
    public static Path file(final String resource) {
        return FILES.computeIfAbsent(resource, PeerPrograms::extracted);
    }

    private static Path extracted(final String resource) {
        try (InputStream from = PeerPrograms.class.getResourceAsStream(resource)) {
            final Path copy = Files.createTempFile("outboard", resource.replaceFirst(".*/", ""));
            copy.toFile().deleteOnExit();
            Files.copy(Objects.requireNonNull(from, resource), copy, StandardCopyOption.REPLACE_EXISTING);
            if (!copy.toFile().setExecutable(true)) {
                throw new IOException(copy + " can't be made executable");
            }
            return copy;
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
