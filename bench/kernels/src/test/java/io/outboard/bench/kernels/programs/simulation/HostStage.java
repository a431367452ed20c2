package io.outboard.bench.kernels.programs.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.outboard.bench.kernels.programs.ObjectType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The class makes stages on the CPU: {@code stage.cpp} runs one thread after the other, in another order at each launch. */
final class HostStage {

    private static final Path TESTS = Path.of("src/test/cuda");
    private static final Path PROGRAMS = Path.of("src/main/cuda/programs");
    private static final Path KERNELS = Path.of("../../cuda-backend/kernels/src");
    private static final int LIMIT_SECONDS = 60;

    private HostStage() {}

    /**
     * Compiles a program for a store, and starts it. Skips the test where there are no sources or no compiler.
     *
     * @param folder for the program
     * @param source name of the source without its ending
     * @param store the name that the source gives its store
     * @param options what the store is
     */
    static ProcessStage start(
            final Path folder,
            final String source,
            final String store,
            final List<String> options,
            final List<ObjectType> types,
            final long heapBytes)
            throws InterruptedException {
        assumeTrue(Files.exists(TESTS) && Files.exists(KERNELS), "skipped, needs the sources");
        final Path program = folder.resolve("stage");
        final List<String> command =
                new ArrayList<>(List.of("g++", "-std=c++17", "-ffp-contract=off", "-pthread", "-rdynamic"));
        command.addAll(List.of("-Wall", "-Wextra", "-Werror", "-Wno-psabi"));
        command.addAll(List.of("-I", KERNELS.resolve("main/cuda").toString()));
        command.addAll(List.of("-I", KERNELS.resolve("test/cuda").toString()));
        command.add("-DPROGRAM=\"" + PROGRAMS.resolve(source + ".cu").toAbsolutePath() + "\"");
        command.add("-DSTORE=" + store);
        command.addAll(options);
        command.addAll(List.of(TESTS.resolve("stage.cpp").toString(), "-o", program.toString(), "-ldl"));
        try {
            final Process compiler = new ProcessBuilder(command).inheritIO().start();
            assertTrue(compiler.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS), "g++ must end");
            assertEquals(0, compiler.exitValue(), String.join(" ", command));
        } catch (final IOException e) {
            assumeTrue(false, "skipped, needs g++: " + e.getMessage());
        }
        try {
            final Process stage = new ProcessBuilder(program.toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            return new ProcessStage(stage, types, heapBytes, LIMIT_SECONDS);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
