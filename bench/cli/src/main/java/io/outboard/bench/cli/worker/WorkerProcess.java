package io.outboard.bench.cli.worker;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A worker process answers lines with lines of JSON, until it is killed. The last other line that it prints, on either
 * stream, is kept as its last words. Confined to one thread, except for an internal thread that reads.
 */
public final class WorkerProcess {

    /** The line that a worker prints once it can work. */
    public static final String READY = "ready";

    /**
     * The limit of a start; a context takes a second to make, and more while another, killed process is being cleaned
     * up.
     */
    private static final Duration START_LIMIT = Duration.ofSeconds(60);

    private static final long KILL_LIMIT_SECONDS = 60;

    /** The mark for the end of the output; no line holds a line break. */
    private static final String END = "\n";

    private final Process process;
    private final Writer input;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private String lastWords = "";

    /** An outcome says how a wait for an answer ended. */
    public enum Outcome {
        /** The worker gave an answer. */
        ANSWERED,
        /** The time was over. */
        TIMED_OUT,
        /** The process has ended. */
        ENDED
    }

    /**
     * An answer tells what a worker did with a line that it was given.
     *
     * @param outcome whether the worker answered
     * @param text the answer; if there is none, the worker's last words
     */
    public record Answer(Outcome outcome, String text) {}

    private WorkerProcess(final Process process) {
        this.process = process;
        this.input = process.outputWriter(StandardCharsets.UTF_8);
    }

    /**
     * Returns the command that starts a worker: the same virtual machine with the same options, except for agents,
     * which are meant for this process.
     *
     * @param program its main method calls {@link Worker}
     * @param arguments of the program
     * @return the command and its words
     */
    public static List<String> command(final Class<?> program, final String... arguments) {
        final List<String> command = new ArrayList<>();
        command.add(System.getProperty("java.home") + "/bin/java");
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(option -> !option.startsWith("-javaagent:") && !option.startsWith("-agentlib:"))
                .forEach(command::add);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    /**
     * Starts a worker and waits until it is ready.
     *
     * @param command the command to start
     * @return the worker; the caller kills it
     * @throws IllegalStateException if the worker doesn't get ready; the message has its last words
     * @throws IOException if the process can't be started
     * @throws InterruptedException if the thread is interrupted
     */
    public static WorkerProcess start(final List<String> command) throws IOException, InterruptedException {
        final WorkerProcess worker = new WorkerProcess(
                new ProcessBuilder(command).redirectErrorStream(true).start());
        final Thread reader = new Thread(worker::read, "results");
        reader.setDaemon(true);
        reader.start();
        final Answer answer = worker.await(START_LIMIT);
        if (answer.outcome() != Outcome.ANSWERED) {
            worker.kill();
            throw new IllegalStateException("the process that does the work doesn't start: " + answer.text());
        }
        return worker;
    }

    /**
     * Gives the worker a line and waits for the answer.
     *
     * @param line without a line break
     * @param limit how long to wait
     * @return the answer
     * @throws InterruptedException if the thread is interrupted
     */
    public Answer ask(final String line, final Duration limit) throws InterruptedException {
        try {
            input.write(line + "\n");
            input.flush();
        } catch (final IOException e) {
            // The process has ended; its output is read below.
            lastWords = String.valueOf(e.getMessage());
        }
        return await(limit);
    }

    private Answer await(final Duration limit) throws InterruptedException {
        final long deadline = System.nanoTime() + limit.toNanos();
        while (true) {
            final Optional<String> line =
                    Optional.ofNullable(lines.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS));
            if (line.isEmpty()) {
                return new Answer(Outcome.TIMED_OUT, lastWords);
            }
            final String text = line.get();
            if (text.equals(END)) {
                lines.add(END);
                return new Answer(Outcome.ENDED, lastWords);
            }
            if (text.equals(READY) || text.startsWith("{")) {
                return new Answer(Outcome.ANSWERED, text);
            }
            if (!text.isBlank()) {
                lastWords = text;
            }
        }
    }

    private void read() {
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
        } catch (final IOException e) {
            lines.add(String.valueOf(e.getMessage()));
        } finally {
            lines.add(END);
        }
    }

    /**
     * Kills the process and waits until the system has cleaned up, which the driver may delay.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor(KILL_LIMIT_SECONDS, TimeUnit.SECONDS);
    }
}
