package io.outboard.cuda;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A child is a process of its own, started as this one was: it reads commands a line at a time, and answers each with a
 * line.
 */
final class ChildJvm implements AutoCloseable {

    private static final int END_SECONDS = 60;

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
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-ea",
                "-Xmx256m",
                "-XX:-UsePerfData",
                "--enable-native-access=ALL-UNNAMED",
                "-Djava.library.path=" + System.getProperty("java.library.path", ""),
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                main.getName()));
        for (final Object argument : arguments) {
            command.add(argument.toString());
        }
        final ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"));
        return new ChildJvm(builder.start());
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
