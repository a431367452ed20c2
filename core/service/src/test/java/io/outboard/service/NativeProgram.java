package io.outboard.service;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** A program of src/test/c, which starts in a thousandth of what a Java virtual machine takes. */
final class NativeProgram {

    private NativeProgram() {}

    /** What a process said, and how it ended. */
    record Run(int code, String output) {}

    /** Skips the test where there is no C compiler. */
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
