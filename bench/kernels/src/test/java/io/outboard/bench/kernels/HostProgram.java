package io.outboard.bench.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** This class compiles device code for the CPU and runs it; a test is skipped where there is no g++. */
public final class HostProgram {

    private static final Path SOURCES = Path.of("src/test/cuda");
    private static final Path LIBRARY = Path.of("../../cuda-backend/kernels/src");

    private final Path program;

    /**
     * Compiles a source of {@code src/test/cuda} to a program in a folder; it may include the headers of the library
     * and what stands in for a GPU in the library's tests.
     */
    public HostProgram(final String source, final Path folder, final String... options)
            throws IOException, InterruptedException {
        assumeTrue(Files.exists(SOURCES), "skipped, needs the sources");
        program = folder.resolve("program");
        final List<String> command = new ArrayList<>(List.of("g++", "-std=c++17", "-pthread"));
        command.addAll(List.of(options));
        for (final String included : new String[] {"main/cuda", "test/cuda"}) {
            command.addAll(List.of("-I", LIBRARY.resolve(included).toString()));
        }
        command.addAll(List.of(SOURCES.resolve(source).toString(), "-o", program.toString()));
        try {
            output(command);
        } catch (final IOException e) {
            assumeTrue(false, "skipped, needs g++: " + e.getMessage());
        }
    }

    /** Runs the program to its end, which must be a good one, and returns what it printed. */
    public String run(final String... arguments) throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments));
        return output(command);
    }

    private static String output(final List<String> command) throws IOException, InterruptedException {
        final Process process =
                new ProcessBuilder(command).redirectErrorStream(true).start();
        final String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), text);
        return text;
    }
}
