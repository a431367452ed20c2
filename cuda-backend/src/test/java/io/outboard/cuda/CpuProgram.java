package io.outboard.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** The in-kernel allocators compiled for the CPU: a program made of a C++ source in {@code src/test/cuda}. */
final class CpuProgram {

    private static final Path SOURCES = Path.of("src/test/cuda");
    private static final long COMPILE_SECONDS = 120;
    private static final int NOT_STARTED = -1;
    private static final int NO_END = -2;

    private final Path program;

    private CpuProgram(final Path program) {
        this.program = program;
    }

    /** Skips the test where no such program can be made: g++ is needed, and Linux. */
    static void assumeCompiler(final Path folder) throws IOException, InterruptedException {
        Assumptions.assumeTrue(System.getProperty("os.name").equals("Linux"), "skipped, needs Linux");
        Files.createDirectories(folder);
        final int status = run(folder.resolve("version.txt"), COMPILE_SECONDS, List.of("g++", "--version"));
        Assumptions.assumeTrue(status == 0, "skipped, needs g++");
    }

    static CpuProgram compile(final String source, final Path program, final String... options)
            throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(List.of("g++", "-std=c++17", "-Wall", "-Wextra", "-Werror"));
        command.addAll(List.of("-I", "src/main/cuda", "-I", SOURCES.toString()));
        command.addAll(List.of(options));
        command.addAll(List.of(SOURCES.resolve(source).toString(), "-o", program.toString()));
        succeed(Path.of(program + "-compile.txt"), COMPILE_SECONDS, command);
        return new CpuProgram(program.toAbsolutePath());
    }

    /** Fails with what the program says if it doesn't end well and in time. */
    void run(final long limitSeconds, final String... arguments) throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments));
        succeed(Path.of(program + ".txt"), limitSeconds, command);
    }

    private static void succeed(final Path output, final long limitSeconds, final List<String> command)
            throws IOException, InterruptedException {
        final int status = run(output, limitSeconds, command);
        final String said = Files.exists(output) ? Files.readString(output, StandardCharsets.UTF_8) : "";
        final String what = status == NO_END ? "no end after " + limitSeconds + " s" : "exit status " + status;
        assertEquals(0, status, () -> what + " of " + String.join(" ", command) + "\n" + said);
    }

    private static int run(final Path output, final long limitSeconds, final List<String> command)
            throws InterruptedException {
        final Process process;
        try {
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
        } catch (final IOException e) {
            return NOT_STARTED;
        }
        try {
            return process.waitFor(limitSeconds, TimeUnit.SECONDS) ? process.exitValue() : NO_END;
        } finally {
            process.destroyForcibly();
        }
    }
}
