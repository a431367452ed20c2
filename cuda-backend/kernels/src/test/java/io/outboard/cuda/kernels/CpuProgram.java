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

/** The in-kernel allocators compiled for the CPU: a program made of a C++ source in {@code src/test/cuda}. */
final class CpuProgram {

    /** For the compiler: of a part of the seeds, more of it costs more time there than it saves. */
    static final String OPTIMISATION = Effort.isLong() ? "-O2" : "-Og";

    private static final Path SOURCES = Path.of("src/test/cuda");
    private static final long COMPILE_SECONDS = 120;
    /** One program after another, so that the tests of the first run while the others are made. */
    private static final Executor COMPILER = Executors.newSingleThreadExecutor(task -> {
        final Thread thread = new Thread(task, "compiler");
        thread.setDaemon(true);
        return thread;
    });

    private final Path program;
    /** Why there is no program; empty if there is one. */
    private final CompletableFuture<String> obstacle;

    /** Starts the compiler; {@code options} are for g++. */
    CpuProgram(final String source, final Path program, final String... options) {
        this.program = program.toAbsolutePath();
        obstacle = CompletableFuture.supplyAsync(() -> compile(SOURCES.resolve(source), options), COMPILER);
    }

    /**
     * Tries seeds of a scenario, all of 1 to {@code seeds} or a part of them ({@link Effort}); what fails says which
     * seed it was, and how to try it again.
     */
    void trySeeds(final long limitSeconds, final String who, final String scenario, final long seeds) {
        final Effort.Seeds part = Effort.seeds(seeds);
        run(limitSeconds * Effort.times(), who, scenario, Long.toString(part.first()), Long.toString(part.last()));
    }

    /**
     * Fails with what the program says if it doesn't end well and in time. Skips the test where there can be no such
     * program: it needs Linux, g++ and the sanitizers of its options.
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
        // The compiler may be missing, or a sanitizer's library, or not work here: an empty program shows it.
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

    /** A command that was run, and what it said. Status -1: it didn't start, or didn't end in time. */
    private record Run(String command, int status, String said) {

        static Run of(final long limitSeconds, final Path program, final String... arguments) {
            final List<String> command = new ArrayList<>(List.of(program.toString()));
            command.addAll(List.of(arguments));
            final String line = String.join(" ", command);
            try {
                final Path output = Files.createTempFile("outboard", ".txt");
                final ProcessBuilder builder =
                        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
                // What the scenarios themselves leave behind is of no interest, and the search needs rights.
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
