package io.outboard.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * A child is a process of its own, started as this one was: it reads commands a line at a time, and answers each with a
 * line.
 */
final class ChildJvm implements AutoCloseable {

    private static final int END_SECONDS = 60;

    private static final String JAVA =
            Path.of(System.getProperty("java.home"), "bin", "java").toString();

    private static final String CLASS_PATH =
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));

    private final Process process;
    private final BufferedReader out;
    private final PrintWriter in;

    private ChildJvm(final Process process) {
        this.process = process;
        out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        in = new PrintWriter(process.getOutputStream(), true, StandardCharsets.UTF_8);
    }

    /** Starts a class with this process's Java runtime and class path. */
    static ChildJvm start(final Class<?> main, final Object... arguments) throws IOException {
        final List<String> command = new ArrayList<>(List.of(
                JAVA,
                "-ea",
                "-Xmx256m",
                "-XX:-UsePerfData",
                "--enable-native-access=ALL-UNNAMED",
                "-Djava.library.path=" + System.getProperty("java.library.path", ""),
                "-cp",
                CLASS_PATH,
                main.getName()));
        for (final Object argument : arguments) {
            command.add(argument.toString());
        }
        final ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"));
        return new ChildJvm(builder.start());
    }

    /**
     * Runs a class on the part of this class path that {@code keep} accepts, and returns the lines that it prints.
     * Libraries are looked for in a folder first, which is that of temporary files, too.
     */
    static List<String> run(
            final Path folder,
            final Predicate<String> keep,
            final String flag,
            final Class<?> main,
            final String... arguments)
            throws IOException, InterruptedException {
        final Path output = folder.resolve("output.txt");
        final List<String> command = new ArrayList<>(List.of(
                JAVA,
                flag,
                "-Djava.io.tmpdir=" + folder,
                "-cp",
                Arrays.stream(CLASS_PATH.split(File.pathSeparator, -1))
                        .filter(entry -> keep.test(Path.of(entry).getFileName().toString()))
                        .collect(Collectors.joining(File.pathSeparator)),
                main.getName()));
        command.addAll(List.of(arguments));
        final ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().merge("LD_LIBRARY_PATH", folder.toString(), (old, added) -> added + ":" + old);
        final int exitCode = builder.start().waitFor();
        final List<String> lines = Files.readAllLines(output, StandardCharsets.UTF_8);
        assertEquals(0, exitCode, () -> String.join("\n", lines));
        return lines;
    }

    /** Sends a command, and returns the answer. */
    String ask(final String command) throws IOException {
        tell(command);
        return answer();
    }

    void tell(final String command) {
        in.println(command);
    }

    String answer() throws IOException {
        final String line = out.readLine();
        if (line == null) {
            throw new IOException("the process has ended: " + process);
        }
        return line;
    }

    long pid() {
        return process.pid();
    }

    /** Kills the process as {@code kill -9} does, without waiting. */
    void kill() {
        process.destroyForcibly();
    }

    void awaitEnd() throws InterruptedException {
        if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException(process + " must end within " + END_SECONDS + " s");
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }
}
