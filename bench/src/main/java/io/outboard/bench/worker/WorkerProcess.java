package io.outboard.bench.worker;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A process that answers lines by lines of JSON, until it is killed. What it prints besides, on either stream, is kept as
 * its last words. Confined to one thread, but for one of its own that reads.
 */
final class WorkerProcess {

    /** What a worker prints once it can work. */
    static final String READY = "ready";

    /** A context takes a second to make; more, if another process that was killed is still being cleaned up. */
    private static final Duration START_LIMIT = Duration.ofSeconds(60);

    private static final long KILL_LIMIT_SECONDS = 60;

    /** Stands for the end of the output; no line holds a line break. */
    private static final String END = "\n";

    private final Process process;
    private final Writer input;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    private String lastWords = "";

    /** How a wait came out. */
    enum Outcome {
        ANSWERED,
        TIMED_OUT,
        ENDED
    }

    /**
     * What a worker said.
     *
     * @param outcome whether it answered
     * @param text the answer; if there is none, its last words
     */
    record Answer(Outcome outcome, String text) {}

    private WorkerProcess(final Process process) {
        this.process = process;
        this.input = process.outputWriter(StandardCharsets.UTF_8);
    }

    /**
     * Starts a worker and waits until it is ready.
     *
     * @throws IllegalStateException if it doesn't get ready; the message has its last words
     * @throws IOException if it can't be started
     * @throws InterruptedException if the thread is interrupted
     */
    static WorkerProcess start(final List<String> command) throws IOException, InterruptedException {
        final WorkerProcess worker = new WorkerProcess(
                new ProcessBuilder(command).redirectErrorStream(true).start());
        final Thread reader = new Thread(worker::read, "results");
        reader.setDaemon(true);
        reader.start();
        final Answer answer = worker.await(START_LIMIT);
        if (answer.outcome() != Outcome.ANSWERED) {
            worker.kill();
            throw new IllegalStateException("the process that runs kernels doesn't start: " + answer.text());
        }
        return worker;
    }

    /**
     * Gives it a line and waits for the answer.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    Answer ask(final String line, final Duration limit) throws InterruptedException {
        try {
            input.write(line + "\n");
            input.flush();
        } catch (final IOException e) {
            // It has ended; what it said is read below.
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

    /** Kills it and waits until the system has cleaned up, which the driver may delay. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor(KILL_LIMIT_SECONDS, TimeUnit.SECONDS);
    }
}
