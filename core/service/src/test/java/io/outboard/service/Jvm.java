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

/**
 * A process of its own that runs {@link Client}: it is told what to do a line at a time, and answers each with a line.
 */
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

    /** Tests that need leases are skipped where there can be none. */
    static void assumeLeases() {
        Assumptions.assumeTrue(
                Runtime.version().feature() >= 22
                        && System.getProperty("os.name").equals("Linux"),
                "skipped, needs Linux and JDK 22 or newer");
    }

    static Jvm client(final Path socket, final String name) throws IOException {
        return start(List.of(), Client.class.getName(), socket.toString(), name);
    }

    /** With words before the command, such as to change the user. */
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

    /** Tells it to do something; what it answers. */
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

    /** As {@code kill -9} does; the moment at which it was over, by {@link System#nanoTime}. */
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
