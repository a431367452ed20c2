package io.outboard.bench.kernels.worker;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * The class starts the programs that {@code bench/peers.sh} compiled, which are resources. Safe for any number of
 * threads.
 */
public final class PeerPrograms {

    private PeerPrograms() {}

    /**
     * Starts a program, whose errors are printed where ours are.
     *
     * @param resource its absolute name; there must be such a resource
     * @param arguments of the program
     * @return the process
     * @throws UncheckedIOException if there is no room for the program, or it can't be started
     */
    public static Process start(final String resource, final List<String> arguments) {
        try (InputStream from = PeerPrograms.class.getResourceAsStream(resource)) {
            final Path copy = Files.createTempFile("outboard", resource.replaceFirst(".*/", ""));
            try {
                Files.copy(Objects.requireNonNull(from, resource), copy, StandardCopyOption.REPLACE_EXISTING);
                if (!copy.toFile().setExecutable(true)) {
                    throw new IOException(copy + " can't be made executable");
                }
                final List<String> command = Stream.concat(Stream.of(copy.toString()), arguments.stream())
                        .toList();
                return new ProcessBuilder(command)
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
            } finally {
                // A program runs on without its file.
                Files.delete(copy);
            }
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
