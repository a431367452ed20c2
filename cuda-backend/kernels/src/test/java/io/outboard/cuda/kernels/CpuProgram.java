package io.outboard.cuda.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import io.outboard.core.Effort;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** A program runs the in-kernel allocators on the CPU; it is compiled from a C++ source in {@code src/test/cuda}. */
final class CpuProgram {

    /**
     * The compiler's optimisation. When only some seeds run, a higher level costs the compiler more time than it saves
     * the program.
     */
    static final String OPTIMISATION = Effort.isLong() ? "-O2" : "-Og";

    private static final Path SOURCES = Path.of("src/test/cuda");
    private static final long COMPILE_SECONDS = 120;
    /**
     * The compiler makes one program after another, so that the tests of the first run while the others are compiled.
     */
    private static final Executor COMPILER = Executors.newSingleThreadExecutor(task -> {
        final Thread thread = new Thread(task, "compiler");
        thread.setDaemon(true);
        return thread;
    });

    private final Path program;
    /** The reason why there is no program; empty if there is one. */
    private final CompletableFuture<String> obstacle;

    /** Starts the compiler; {@code options} are for g++. */
    CpuProgram(final String source, final Path program, final String... options) {
        this.program = program.toAbsolutePath();
        obstacle = CompletableFuture.supplyAsync(() -> compile(SOURCES.resolve(source), options), COMPILER);
    }

    /**
     * Tries seeds of a scenario, all of 1 to {@code seeds} or a part of them ({@link Effort}). A failure names its
     * seed, and how to try it again.
     */
    void trySeeds(final long limitSeconds, final String who, final String scenario, final long seeds) {
        final Effort.Seeds part = Effort.seeds(seeds);
        run(limitSeconds * Effort.times(), who, scenario, Long.toString(part.first()), Long.toString(part.last()));
    }

    /**
     * Runs the program, and fails with its output if it doesn't end well and in time. Skips the test where there can be
     * no such program: it needs Linux, g++ and the sanitizers of its options.
     */
    void run(final long limitSeconds, final String... arguments) {
        final String reason = obstacle.join();
        Assumptions.assumeTrue(reason.isEmpty(), reason);
        final Run run = Run.of(limitSeconds, program, arguments);
        Assumptions.assumeFalse(
                run.said.contains("unexpected memory mapping"),
                "skipped, the thread sanitizer doesn't work with this kernel's address space layout");
        run.requireSuccess();
    }

    private String compile(final Path source, final String... options) {
        if (!System.getProperty("os.name").equals("Linux")) {
            return "skipped, needs Linux";
        }
        // The compiler or a sanitizer's library may be missing, or not work here: compiling an empty program shows it.
        final Path empty = Path.of(program + "-empty");
        final Path emptySource = Path.of(empty + ".cpp");
        try {
            Files.createDirectories(program.getParent());
            Files.writeString(emptySource, "int main() {}\n");
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
        for (final Run probe : List.of(compiler(emptySource, empty, options), Run.of(COMPILE_SECONDS, empty))) {
            if (probe.status != 0) {
                return "skipped, g++ can't make programs with " + String.join(" ", options) + ": " + probe.said;
            }
        }
        compiler(source, program, options).requireSuccess();
        return "";
    }

    private static Run compiler(final Path source, final Path made, final String... options) {
        final List<String> arguments =
                new ArrayList<>(List.of("-std=c++17", "-pthread", "-Wall", "-Wextra", "-Werror"));
        arguments.addAll(List.of("-I", "src/main/cuda", "-I", SOURCES.toString()));
        arguments.addAll(List.of(options));
        arguments.addAll(List.of(source.toString(), "-o", made.toString()));
        return Run.of(COMPILE_SECONDS, Path.of("g++"), arguments.toArray(String[]::new));
    }

    /**
     * A run is a command with its exit status and its output. The status is -1 if the command didn't start, or didn't
     * end in time.
     */
    private record Run(String command, int status, String said) {

        static Run of(final long limitSeconds, final Path program, final String... arguments) {
            final List<String> command = new ArrayList<>(List.of(program.toString()));
            command.addAll(List.of(arguments));
            final String line = String.join(" ", command);
            try {
                final Path output = Files.createTempFile("outboard", ".txt");
                final ProcessBuilder builder =
                        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
                // Leaks of the scenarios themselves don't matter, and the search for leaks needs rights.
                builder.environment().put("ASAN_OPTIONS", "detect_leaks=0");
                final Process process = builder.start();
                try {
                    final boolean ended = process.waitFor(limitSeconds, TimeUnit.SECONDS);
                    final String said = Files.readString(output, StandardCharsets.UTF_8);
                    return ended
                            ? new Run(line, process.exitValue(), said)
                            : new Run(line, -1, said + "no end after " + limitSeconds + " s");
                } finally {
                    process.destroyForcibly();
                    Files.delete(output);
                }
            } catch (final IOException e) {
                return new Run(line, -1, e.toString());
            } catch (final InterruptedException e) {
                Thread.currentThread().interrupt();
                return fail("interrupted: " + line, e);
            }
        }

        void requireSuccess() {
            assertEquals(0, status, () -> "exit status " + status + " of " + command + "\n" + said);
        }
    }
}
