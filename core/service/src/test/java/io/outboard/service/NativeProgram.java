package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** A native program is made from src/test/c. It starts in a thousandth of the time that a JVM takes. */
final class NativeProgram {

    private NativeProgram() {}

    /** A run is what a process printed, and the code that it ended with. */
    record Run(int code, String output) {}

    /** Compiles a program, or skips the test where there is no C compiler. */
    static Path compile(final String name, final Path folder) throws IOException, InterruptedException {
        Assumptions.assumeTrue(
                Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
                        .anyMatch(each -> Files.isExecutable(Path.of(each, "cc"))),
                "skipped, needs a C compiler, cc");
        final Path program = folder.resolve(name);
        final Run compiled =
                run("cc", "-Wall", "-Wextra", "-Werror", "-O2", "-o", program.toString(), "src/test/c/" + name + ".c");
        assertEquals(0, compiled.code(), compiled.output());
        return program;
    }

    static Run run(final String... command) throws IOException, InterruptedException {
        final Process process =
                new ProcessBuilder(command).redirectErrorStream(true).start();
        final String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Run(process.waitFor(), output);
    }
}
