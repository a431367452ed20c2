package io.outboard.service;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** A JVM is a process that runs {@link Client}. It takes commands of one line, and answers each with a line. */
final class Jvm implements AutoCloseable {

    private static final int END_SECONDS = 20;

    private final Process process;
    private final BufferedReader out;
    private final PrintWriter in;

    private Jvm(final Process process) {
        this.process = process;
        out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        in = new PrintWriter(process.getOutputStream(), true, StandardCharsets.UTF_8);
    }

    /** Skips a test that needs leases where there can be none. */
    static void assumeLeases() {
        Assumptions.assumeTrue(
                Runtime.version().feature() >= 22
                        && System.getProperty("os.name").equals("Linux"),
                "skipped, needs Linux and JDK 22 or newer");
    }

    static Jvm client(final Path socket, final String name) throws IOException {
        return start(List.of(), Client.class.getName(), socket.toString(), name);
    }

    /** Starts the process with words before its command, for example to change the user. */
    static Jvm start(final List<String> before, final String main, final String... arguments) throws IOException {
        final List<String> command = new ArrayList<>(before);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-ea",
                "-Xmx64m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                main));
        command.addAll(List.of(arguments));
        final ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().keySet().removeAll(List.of("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"));
        return new Jvm(builder.start());
    }

    int pid() {
        return (int) process.pid();
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

    /**
     * Kills the process as {@code kill -9} does. Returns the time at which it had ended, by {@link System#nanoTime}.
     */
    long kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor(END_SECONDS, TimeUnit.SECONDS);
        return System.nanoTime();
    }

    void signal(final String signal) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + signal, String.valueOf(pid())).start().waitFor();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }
}
